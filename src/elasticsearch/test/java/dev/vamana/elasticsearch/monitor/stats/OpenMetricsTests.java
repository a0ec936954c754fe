package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.ServerClasses;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.junit.BeforeClass;

/** Tests the text that is written, and that the parser of the tests is strict. */
public class OpenMetricsTests extends LuceneTestCase {
  private static final Figures FIGURES =
      new Figures(
          "v",
          """
          things.<of>.count | counter | | Things that happened.
          room_in_bytes     | gauge   | | A "room", and a \\.
          """);

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static String text(Map<String, String> labels, Map<String, Object> tree) {
    OpenMetrics text = new OpenMetrics();
    FIGURES.addTo(text, labels, tree);
    return text.text();
  }

  public void testMetricsAreContiguous() {
    OpenMetrics text = new OpenMetrics();
    for (String node : List.of("a", "b")) {
      FIGURES.addTo(
          text,
          Map.of("node", node),
          Map.of(
              "room_in_bytes",
              new BigDecimal("1200.50"),
              "things",
              Map.of("x", Map.of("count", 7))));
    }
    assertEquals(
        """
        # TYPE v_things counter
        # HELP v_things Things that happened.
        v_things_total{node="a",of="x"} 7
        v_things_total{node="b",of="x"} 7
        # TYPE v_room_bytes gauge
        # UNIT v_room_bytes bytes
        # HELP v_room_bytes A \\"room\\", and a \\\\.
        v_room_bytes{node="a"} 1200.5
        v_room_bytes{node="b"} 1200.5
        # EOF
        """,
        text.text());
    MetricsText parsed = MetricsText.parse(text.text());
    assertEquals(
        "A \"room\", and a \\.", parsed.families().get("v_room_bytes").metadata().get("HELP"));
    assertEquals(
        List.of(new BigDecimal("7")), parsed.values("v_things_total", Map.of("node", "b")));
  }

  public void testTextsComeBack() {
    for (String label :
        List.of(
            "", "a\\nb", "\\", "\"", "\n", "}", ",x=\"", " ", "\u4e00\ud83d\ude00", "# EOF\n")) {
      assertComesBack(label);
    }
    for (int i = 0; i < 200; i++) {
      assertComesBack(TestUtil.randomUnicodeString(random()).replace("\r", ""));
    }
  }

  private static void assertComesBack(String label) {
    MetricsText.Sample sample =
        MetricsText.parse(text(Map.of("text", label), Map.of("room_in_bytes", 3))).samples().get(0);
    assertEquals(Map.of("text", label), sample.labels());
    assertEquals(3, sample.value().intValueExact());
  }

  public void testNumbers() {
    Map<String, String> written =
        Map.of(
            "0",
            "0",
            "-3",
            "-3",
            "0.000001",
            "0.000001",
            "9223372036854775807",
            "9223372036854775807",
            "0.10",
            "0.1",
            "100",
            "100",
            "1E+3",
            "1000",
            "12.000",
            "12");
    written.forEach(
        (number, expected) -> {
          String text = text(Map.of(), Map.of("room_in_bytes", new BigDecimal(number)));
          assertTrue(text, text.contains("\nv_room_bytes " + expected + "\n"));
          MetricsText.parse(text);
        });
  }
}
