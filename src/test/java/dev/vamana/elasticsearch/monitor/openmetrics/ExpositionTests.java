package dev.vamana.elasticsearch.monitor.openmetrics;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

/** What is written, and that the parser of the tests is strict. */
public class ExpositionTests extends LuceneTestCase {
  private static final Family COUNTER =
      Family.of(Family.Type.COUNTER, "things", "Things that happened.");
  private static final Family GAUGE =
      new Family("room_bytes", Family.Type.GAUGE, "bytes", "A \"room\",\nand a \\.");

  private static SortedMap<BigDecimal, Long> counts(String... pairs) {
    SortedMap<BigDecimal, Long> counts = new TreeMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      counts.put(new BigDecimal(pairs[i]), Long.valueOf(pairs[i + 1]));
    }
    return counts;
  }

  public void testNothing() {
    assertEquals("# EOF\n", new Exposition().text());
    assertEquals(List.of(), MetricsText.parse("# EOF\n").samples());
  }

  public void testFamiliesAreContiguous() {
    Exposition exposition = new Exposition();
    for (String node : List.of("a", "b")) {
      Labels labels = Labels.NONE.and("node", node);
      exposition.add(COUNTER, labels, 7);
      exposition.add(GAUGE, labels, new BigDecimal("1200.50"));
    }
    assertEquals(
        """
        # TYPE things counter
        # HELP things Things that happened.
        things_total{node="a"} 7
        things_total{node="b"} 7
        # TYPE room_bytes gauge
        # UNIT room_bytes bytes
        # HELP room_bytes A \\"room\\",\\nand a \\\\.
        room_bytes{node="a"} 1200.5
        room_bytes{node="b"} 1200.5
        # EOF
        """,
        exposition.text());
    MetricsText parsed = MetricsText.parse(exposition.text());
    assertEquals(
        "A \"room\",\nand a \\.", parsed.families().get("room_bytes").metadata().get("HELP"));
    assertEquals(List.of(new BigDecimal("7")), parsed.values("things_total", Map.of("node", "b")));
  }

  public void testTextsComeBack() {
    List<String> texts =
        List.of("", "a\\nb", "\\", "\"", "\n", "}", ",x=\"", " ", "é\u4e00\ud83d\ude00", "# EOF\n");
    Exposition exposition = new Exposition();
    Labels none = Labels.NONE;
    for (String text : texts) {
      exposition.add(COUNTER, none.and("text", text).and("other", "o"), 1);
    }
    List<String> read =
        MetricsText.parse(exposition.text()).samples().stream()
            .map(sample -> sample.labels().get("text"))
            .toList();
    assertEquals(texts, read);
    for (int i = 0; i < 200; i++) {
      String text = TestUtil.randomUnicodeString(random()).replace("\r", "");
      Exposition one = new Exposition();
      one.add(COUNTER, none.and("text", text), i);
      MetricsText.Sample sample = MetricsText.parse(one.text()).samples().get(0);
      assertEquals(Map.of("text", text), sample.labels());
      assertEquals(i, sample.value().intValueExact());
    }
  }

  public void testNumbers() {
    Exposition exposition = new Exposition();
    List<String> numbers =
        List.of("0", "-3", "0.000001", "9223372036854775807", "0.10", "100", "1E+3", "12.000");
    for (String number : numbers) {
      exposition.add(GAUGE, Labels.NONE.and("of", number), new BigDecimal(number));
    }
    List<String> written =
        exposition
            .text()
            .lines()
            .filter(line -> line.startsWith("room"))
            .map(line -> line.substring(line.indexOf("} ") + 2))
            .toList();
    assertEquals(
        List.of("0", "-3", "0.000001", "9223372036854775807", "0.1", "100", "1000", "12"), written);
    MetricsText.parse(exposition.text());
  }

  public void testHistograms() {
    Family family = new Family("wait_seconds", Family.Type.HISTOGRAM, "seconds", "Waits.");
    Exposition exposition = new Exposition();
    Labels labels = Labels.NONE.and("node", "n");
    exposition.addHistogram(
        family, labels, counts("0", "1", "0.000063", "2", "0.5", "0", "3", "4"), 5, null);
    exposition.addHistogram(
        family, Labels.NONE.and("node", "m"), counts("100", "1"), 0, new BigDecimal("7.50"));
    assertEquals(
        """
        # TYPE wait_seconds histogram
        # UNIT wait_seconds seconds
        # HELP wait_seconds Waits.
        wait_seconds_bucket{node="n",le="0.0"} 1
        wait_seconds_bucket{node="n",le="6.3e-05"} 3
        wait_seconds_bucket{node="n",le="0.5"} 3
        wait_seconds_bucket{node="n",le="3.0"} 7
        wait_seconds_bucket{node="n",le="+Inf"} 12
        wait_seconds_bucket{node="m",le="100.0"} 1
        wait_seconds_bucket{node="m",le="+Inf"} 1
        wait_seconds_count{node="m"} 1
        wait_seconds_sum{node="m"} 7.5
        # EOF
        """,
        exposition.text());
    MetricsText.parse(exposition.text());
  }

  /** The examples of the specification. */
  public void testBoundsHaveOneNotation() {
    Family family = Family.of(Family.Type.HISTOGRAM, "sizes", "Sizes.");
    String[] bounds = {
      "0.0",
      "1e-10",
      "1e-09",
      "1e-05",
      "0.0001",
      "0.001",
      "0.002",
      "0.01",
      "0.1",
      "0.9",
      "0.95",
      "0.99",
      "0.999",
      "1.0",
      "1.7",
      "10.0",
      "65535.0",
      "100000.0",
      "1e+06",
      "1.5e+06",
      "1e+10"
    };
    SortedMap<BigDecimal, Long> counts = new TreeMap<>();
    for (String bound : bounds) {
      counts.put(new BigDecimal(bound), 1L);
    }
    Exposition exposition = new Exposition();
    exposition.addHistogram(family, Labels.NONE, counts, 0, null);
    List<String> written =
        MetricsText.parse(exposition.text()).samples().stream()
            .map(sample -> sample.labels().get("le"))
            .toList();
    assertEquals(List.of(bounds), written.subList(0, bounds.length));
    assertEquals("+Inf", written.get(bounds.length));
  }

  public void testStatesAndTexts() {
    Family state = Family.of(Family.Type.STATESET, "door", "The door.");
    Family info = Family.of(Family.Type.INFO, "house", "The house.");
    Exposition exposition = new Exposition();
    exposition.addState(state, Labels.NONE.and("node", "n"), List.of("open", "shut"), "shut");
    exposition.addInfo(info, Labels.NONE.and("colour", "red"));
    assertEquals(
        """
        # TYPE door stateset
        # HELP door The door.
        door{node="n",door="open"} 0
        door{node="n",door="shut"} 1
        # TYPE house info
        # HELP house The house.
        house_info{colour="red"} 1
        # EOF
        """,
        exposition.text());
    MetricsText.parse(exposition.text());
  }

  public void testMistakesAreRefused() {
    Labels labels = Labels.NONE.and("node", "n");
    assertRefused("[node] is there twice", () -> labels.and("node", "m"));
    assertRefused("[__node]", () -> labels.and("__node", "m"));
    assertRefused("[a-b]", () -> Family.of(Family.Type.GAUGE, "a-b", ""));
    assertRefused("suffix", () -> Family.of(Family.Type.COUNTER, "things_total", ""));
    assertRefused("[_bytes]", () -> new Family("room", Family.Type.GAUGE, "bytes", ""));
    Exposition exposition = new Exposition();
    exposition.add(COUNTER, labels, 1);
    assertRefused("twice", () -> exposition.add(COUNTER, labels, 2));
    Family other = Family.of(Family.Type.COUNTER, "things", "Others.");
    assertRefused("[things]", () -> exposition.add(other, labels, 2));
    assertRefused("COUNTER", () -> exposition.addInfo(COUNTER, labels));
  }

  private static void assertRefused(String named, ThrowingRunnable what) {
    String message = expectThrows(IllegalArgumentException.class, what).getMessage();
    assertTrue(message, message.contains(named));
  }

  public void testTheParserIsStrict() {
    String counter = "# TYPE a counter\n# HELP a x\n";
    String histogram = "# TYPE h histogram\n# HELP h x\n";
    MetricsText.parse(counter + "a_total 1\n# EOF\n");
    MetricsText.parse(histogram + "h_bucket{le=\"+Inf\"} 1\n# EOF\n");
    List<String> bad =
        List.of(
            "",
            "# EOF",
            "# EOF\n\n",
            counter + "a_total 1\n",
            counter + "a_total 1 # EOF\n",
            counter + "a_total 1\n\n# EOF\n",
            counter + "a_total 1\r\n# EOF\n",
            counter + "a 1\n# EOF\n",
            counter + "a_total  1\n# EOF\n",
            counter + "a_total -1\n# EOF\n",
            counter + "a_total{} x\n# EOF\n",
            counter + "a_total{b=\"\\q\"} 1\n# EOF\n",
            counter + "a_total{b=\"1\",} 1\n# EOF\n",
            counter + "a_total{b=\"1\",b=\"1\"} 1\n# EOF\n",
            counter + "a_total{__b=\"1\"} 1\n# EOF\n",
            counter + "a_total 1\na_total 1\n# EOF\n",
            counter + "a_total{b=\"1\",c=\"1\"} 1\na_total{c=\"1\",b=\"1\"} 1\n# EOF\n",
            counter + "b_total 1\n# EOF\n",
            counter + "a_total 1\n# TYPE b gauge\n# HELP b x\nb 1\n" + counter + "# EOF\n",
            counter
                + "a_total 1\n# TYPE a_total gauge\n# HELP a_total x\na_total{b=\"1\"} 1\n"
                + "# EOF\n",
            "# HELP a x\n# TYPE a counter\na_total 1\n# EOF\n",
            "# TYPE a counter\na_total 1\n# EOF\n",
            "# TYPE a counter\n# UNIT a bytes\n# HELP a x\na_total 1\n# EOF\n",
            "# TYPE a counters\n# HELP a x\na_total 1\n# EOF\n",
            "# a comment\n# EOF\n",
            "a_total 1\n# EOF\n",
            "# TYPE i info\n# HELP i x\ni_info 2\n# EOF\n",
            "# TYPE s stateset\n# HELP s x\ns{t=\"on\"} 1\n# EOF\n",
            "# TYPE s stateset\n# HELP s x\ns{s=\"on\"} 2\n# EOF\n",
            histogram + "h_bucket{le=\"1.0\"} 1\n# EOF\n",
            histogram + "h_bucket{le=\"1\"} 1\nh_bucket{le=\"+Inf\"} 1\n# EOF\n",
            histogram + "h_bucket{le=\"1.0\"} 2\nh_bucket{le=\"+Inf\"} 1\n# EOF\n",
            histogram + "h_bucket{le=\"+Inf\"} 1\nh_bucket{le=\"1.0\"} 1\n# EOF\n",
            histogram + "h_bucket{le=\"+Inf\"} 1\nh_count 1\n# EOF\n",
            histogram + "h_bucket{le=\"+Inf\"} 1\nh_count 2\nh_sum 1\n# EOF\n",
            histogram
                + "h_bucket{n=\"1\",le=\"+Inf\"} 1\nh_bucket{n=\"2\",le=\"+Inf\"} 1\n"
                + "h_count{n=\"1\"} 1\nh_sum{n=\"1\"} 1\n# EOF\n");
    for (String text : bad) {
      expectThrows(
          IllegalArgumentException.class, "accepted: " + text, () -> MetricsText.parse(text));
    }
  }
}
