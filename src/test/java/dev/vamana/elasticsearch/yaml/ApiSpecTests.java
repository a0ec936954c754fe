package dev.vamana.elasticsearch.yaml;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.io.IOException;
import java.util.Map;
import java.util.Set;
import org.junit.Test;

/** Descriptions of APIs. */
public class ApiSpecTests {
  private static final String SPEC =
      """
      {"a.b": {
        "documentation": {"url": "u", "description": "d"}, "stability": "stable",
        "visibility": "public", "headers": {"accept": ["application/json"]},
        "url": {"paths": [
          {"path": "/_b", "methods": ["GET", "POST"]},
          {"path": "/{x}/_b", "methods": ["PUT"],
           "parts": {"x": {"type": "string", "description": "d"}}},
          {"path": "/{x}/{y}/_old", "methods": ["GET"], "deprecated": {"version": "1"},
           "parts": {"x": {"type": "string", "description": "d"},
                     "y": {"type": "string", "description": "d"}}},
          {"path": "/{x}/{y}/_b", "methods": ["GET"],
           "parts": {"x": {"type": "string", "description": "d"},
                     "y": {"type": "string", "description": "d"}}}]},
        "params": {"p": {"type": "int", "description": "d", "required": true}},
        "body": {"description": "d"}}}
      """;

  private static String target(Map<String, String> values, boolean body) throws IOException {
    ApiSpec.Target target = ApiSpec.parse(SPEC).target(values, body, Set.of("common"));
    return target.method() + " " + target.path();
  }

  private static void isRefused(String from, String to) {
    String changed = SPEC.replace(from, to);
    assertThrows(changed, IllegalArgumentException.class, () -> ApiSpec.parse(changed));
  }

  @Test
  public void testThePathOfTheMostPartsIsTaken() throws IOException {
    assertEquals("GET /_b?p=1", target(Map.of("p", "1"), false));
    assertEquals("POST /_b?p=1", target(Map.of("p", "1"), true));
    assertEquals("PUT /i/_b?p=1", target(Map.of("p", "1", "x", "i"), true));
    assertEquals("GET /i/j%25/_b?p=1", target(Map.of("p", "1", "x", "i", "y", "j%"), false));
  }

  @Test
  public void testWhatDoesNotBelong() {
    for (Map<String, String> values :
        Set.of(
            Map.of("x", "i"),
            Map.of("p", "1", "q", "2"),
            Map.of("p", "1", "y", "j"),
            Map.of("p", "1", "x", ""))) {
      assertThrows(IllegalArgumentException.class, () -> target(values, false));
    }
  }

  @Test
  public void testDescriptionsThatAreMalformed() throws IOException {
    ApiSpec.parse(SPEC);
    isRefused("\"stability\": \"stable\",", "");
    isRefused("\"params\"", "\"parameters\"");
    isRefused("\"PUT\"", "\"PATCH\"");
    isRefused("\"parts\": {\"x\"", "\"parts\": {\"z\"");
    isRefused("\"type\": \"int\",", "");
    isRefused("\"type\": \"int\", \"description\": \"d\"", "\"type\": \"int\"");
    isRefused("\"required\": true", "\"needed\": true");
    isRefused("\"body\": {\"description\": \"d\"}", "\"body\": {\"schema\": \"d\"}");
  }

  @Test
  public void testEveryDescriptionOfElasticsearchThatTestsUse() throws IOException {
    ApiSpecs specs = new ApiSpecs();
    for (String name : Set.of("search", "bulk", "msearch", "indices.create", "cat.shards")) {
      assertEquals(name, specs.get(name).name());
    }
    assertEquals(Set.of("pretty", "human", "error_trace", "source", "filter_path"), specs.common());
    assertThrows(IllegalArgumentException.class, () -> specs.get("no.such"));
  }
}
