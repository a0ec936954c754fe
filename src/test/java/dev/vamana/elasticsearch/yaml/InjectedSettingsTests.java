package dev.vamana.elasticsearch.yaml;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.After;
import org.junit.Before;
import org.junit.Test;

/** Settings that the runner adds to what tests create. */
public class InjectedSettingsTests {
  private static final String SETTING = "index.vamana.enabled";

  private CannedNode node;

  @Before
  public void start() throws IOException {
    node = new CannedNode();
  }

  @After
  public void stop() {
    node.close();
  }

  private Map<String, Object> sent(String step) throws IOException {
    node.run(node.execution(InjectedSettings.of(SETTING + "=true, index.a=2")), step);
    return Content.object(Content.json(node.last().body()).get(0), "the body");
  }

  private static Map<String, Object> both() {
    return Map.of(SETTING, "true", "index.a", "2");
  }

  @Test
  public void testBodies() throws IOException {
    assertEquals(Map.of("settings", both()), sent("[ do: { indices.create: { index: i } } ]"));
    assertEquals(
        Map.of("settings", both(), "mappings", Map.of()),
        sent("[ do: { indices.create: { index: i, body: { mappings: {} } } } ]"));
    assertEquals(
        Map.of("settings", both()),
        sent("[ do: { indices.create: { index: i, body: '{\"settings\": null}' } } ]"));
    assertEquals(
        Map.of("settings", both(), "index_patterns", List.of("x")),
        sent("[ do: { indices.put_template: { name: t, body: { index_patterns: [ x ] } } } ]"));
    assertEquals(
        Map.of("template", Map.of("settings", both()), "priority", 1),
        sent("[ do: { indices.put_index_template: { name: t, body: { priority: 1 } } } ]"));
  }

  @Test
  public void testWhatTheTestSaysStays() throws IOException {
    for (String own :
        new String[] {
          "{ index.vamana.enabled: false }",
          "{ vamana.enabled: false }",
          "{ index: { vamana.enabled: false } }",
          "{ index: { vamana: { enabled: false } } }",
          "{ vamana: { enabled: false } }"
        }) {
      Map<String, Object> body =
          sent("[ do: { indices.create: { index: i, body: { settings: " + own + " } } } ]");
      Map<String, Object> settings = Content.object(body.get("settings"), "settings");
      assertFalse(own + " " + settings, "true".equals(settings.get(SETTING)));
      assertEquals(own, "2", settings.get("index.a"));
    }
  }

  @Test
  public void testOtherBodiesStay() throws IOException {
    assertEquals(Map.of("a", 1), sent("[ do: { index: { index: i, body: { a: 1 } } } ]"));
    Execution execution = node.execution(InjectedSettings.of(SETTING + "=true"));
    node.run(execution, "[ do: { indices.create: { index: i, body: 'no json' } } ]");
    assertEquals("no json", node.last().body());
    node.run(node.execution(InjectedSettings.of("")), "[ do: { indices.create: { index: i } } ]");
    assertEquals("", node.last().body());
  }

  @Test
  public void testTemplate() throws IOException {
    InjectedSettings.of("").install(node.client());
    assertEquals(0, node.requests());
    InjectedSettings.of(SETTING + "=true").install(node.client());
    Map<String, Object> body = Content.object(Content.json(node.last().body()).get(0), "");
    assertEquals(Map.of(SETTING, "true"), body.get("settings"));
    assertEquals(List.of("*"), body.get("index_patterns"));
  }

  @Test
  public void testListsThatAreNone() {
    for (String list : new String[] {"index.a", "a=1", "index.a=1,b"}) {
      assertThrows(IllegalArgumentException.class, () -> InjectedSettings.of(list));
    }
  }
}
