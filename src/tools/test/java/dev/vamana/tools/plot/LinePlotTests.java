package dev.vamana.tools.plot;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

public class LinePlotTests extends LuceneTestCase {

  public void testWellFormedWithLegendMarkersAndNotes() throws Exception {
    LinePlot plot =
        new LinePlot(
                "a < b & c",
                Axis.of("recall@10", Scale.NEAR_ONE),
                Axis.of("queries a CPU second", Scale.LOG))
            .add(
                new Series(
                    "one <1>",
                    new double[] {0.5, 0.95, 1},
                    new double[] {900, 400, 30},
                    new String[] {"width 10", "width 20", "width 40"}))
            .add(Series.of("two", new double[] {0.7}, new double[] {100}));
    Path file = createTempDir().resolve("plot.svg");
    plot.write(file);
    Document svg = parse(Files.readString(file));
    assertEquals("svg", svg.getDocumentElement().getTagName());
    List<String> texts = texts(svg, "text");
    assertTrue(texts.toString(), texts.containsAll(List.of("a < b & c", "one <1>", "two")));
    assertTrue(texts.toString(), texts.containsAll(List.of("0.9", "0.99", "0.999", "50", "500")));
    List<String> notes = texts(svg, "title");
    assertEquals(
        List.of(
            "one <1>: 0.5, 900, width 10",
            "one <1>: 0.95, 400, width 20",
            "one <1>: 1, 30, width 40",
            "two: 0.7, 100"),
        notes);
    assertEquals(4, svg.getElementsByTagName("circle").getLength());
  }

  public void testPointsOutsideABoundedAxisAreLeftOut() throws Exception {
    LinePlot plot =
        new LinePlot("t", new Axis("x", Scale.LINEAR, 0, 10), Axis.of("y", Scale.LINEAR))
            .add(Series.of("s", new double[] {-5, 5, 6, 15}, new double[] {1, 2, 3, 4}));
    assertEquals(List.of("s: 5, 2", "s: 6, 3"), texts(parse(plot.toSvg()), "title"));
  }

  public void testRandomDataStaysWellFormed() throws Exception {
    for (Scale scale : Scale.values()) {
      LinePlot plot = new LinePlot("t", Axis.of("x", scale), Axis.of("y", scale));
      int lines = 1 + random().nextInt(12);
      for (int i = 0; i < lines; i++) {
        double[] values = new double[1 + random().nextInt(5)];
        for (int j = 0; j < values.length; j++) {
          double value = Math.pow(random().nextDouble(), 1 + random().nextInt(8)) + 1e-12;
          values[j] = scale == Scale.NEAR_ONE ? Math.min(1, value) : 1e5 * value;
        }
        plot.add(Series.of("s" + i, values, values));
      }
      String svg = plot.toSvg();
      assertFalse(svg, svg.contains("NaN") || svg.contains("Infinity"));
      parse(svg);
    }
  }

  public void testOneValue() throws Exception {
    for (Scale scale : Scale.values()) {
      for (double value : scale == Scale.LINEAR ? new double[] {0, -3} : new double[] {0.5, 1}) {
        String svg =
            new LinePlot("t", Axis.of("x", scale), Axis.of("y", scale))
                .add(Series.of("s", new double[] {value}, new double[] {value}))
                .toSvg();
        assertFalse(svg, svg.contains("NaN") || svg.contains("Infinity"));
        assertEquals(1, texts(parse(svg), "title").size());
      }
    }
  }

  public void testTicks() {
    assertEquals(List.of(0.0, 20.0, 40.0, 60.0, 80.0, 100.0), Scale.LINEAR.ticks(0, 100));
    assertEquals(List.of(10.0, 20.0, 50.0, 100.0), Scale.LOG.ticks(6, 150));
    List<Double> recall = Scale.NEAR_ONE.ticks(0.85, 1);
    assertEquals(0.9, recall.get(0), 1e-12);
    assertEquals(0.9999, recall.get(recall.size() - 2), 1e-12);
    assertEquals(1, recall.get(recall.size() - 1), 0);
    assertEquals(List.of(1.0, 1.5, 2.0), Scale.LOG.ticks(0.9, 2.4));
    assertEquals("0.995", Axis.format(0.995));
    assertEquals("12000", Axis.format(12000));
    assertEquals("0", Axis.format(0));
  }

  /** A recall of 1 stands at the tick of 1, apart from 0.9999 and within the frame. */
  public void testNothingMissing() throws Exception {
    Axis axis = Axis.of("recall", Scale.NEAR_ONE).fit(0.9, 1);
    assertTrue(axis.fraction(1) > axis.fraction(0.9999) + 0.05);
    assertTrue(axis.fraction(1) < 1);
    for (double share = 0.9; share < 1; share += 1e-4) {
      assertTrue(axis.fraction(share) < axis.fraction(share + 1e-5));
    }
  }

  public void testLabelsOfTwoLinesThatMeet() throws Exception {
    double[] values = {1, 2, 3};
    String[] labels = {"10", "20<", "50"};
    LinePlot plot = new LinePlot("t", Axis.of("x", Scale.LINEAR), Axis.of("y", Scale.LINEAR));
    plot.add(new Series("a", values, values, null, labels));
    plot.add(new Series("b", values, values, null, labels));
    Document svg = parse(plot.toSvg());
    assertEquals(2, texts(svg, "text").stream().filter("20<"::equals).count());
    assertEquals(
        "one line shows in the gaps of the other",
        2,
        IntStream.range(0, svg.getElementsByTagName("path").getLength())
            .mapToObj(i -> (Element) svg.getElementsByTagName("path").item(i))
            .filter(path -> path.hasAttribute("stroke-dasharray"))
            .count());
  }

  public void testLabelsDoNotMeet() throws Exception {
    // points upon one another, as recalls of 1 are
    double[] x = {1, 1, 1, 1, 2};
    double[] y = {1, 1.05, 1.1, 1.02, 2};
    String[] labels = {"100", "200", "400", "800", "50"};
    String svg =
        new LinePlot("t", Axis.of("x", Scale.LINEAR), Axis.of("y", Scale.LINEAR))
            .add(new Series("a", x, y, null, labels))
            .toSvg();
    List<double[]> places = new ArrayList<>();
    NodeList texts = parse(svg).getElementsByTagName("text");
    for (int i = 0; i < texts.getLength(); i++) {
      Element text = (Element) texts.item(i);
      if (List.of(labels).contains(text.getTextContent())
          && text.hasAttribute("text-anchor") == false) {
        places.add(
            new double[] {
              Double.parseDouble(text.getAttribute("x")), Double.parseDouble(text.getAttribute("y"))
            });
      }
    }
    assertEquals(labels.length, places.size());
    for (int i = 0; i < places.size(); i++) {
      for (int j = 0; j < i; j++) {
        boolean beside = Math.abs(places.get(i)[0] - places.get(j)[0]) > 18;
        boolean over = Math.abs(places.get(i)[1] - places.get(j)[1]) > 10;
        assertTrue(labels[i] + " and " + labels[j] + " meet", beside || over);
      }
    }
  }

  public void testRejections() {
    LinePlot plot = new LinePlot("t", Axis.of("x", Scale.LOG), Axis.of("y", Scale.NEAR_ONE));
    double[] good = {0.5};
    assertTrue(expectThrows(IllegalStateException.class, plot::toSvg).getMessage().contains("'t'"));
    assertRejected("above 0", () -> plot.add(Series.of("s", new double[1], good)));
    assertRejected("[0, 1]", () -> plot.add(Series.of("s", good, new double[] {1.5})));
    assertRejected("finite", () -> Series.of("s", new double[] {Double.NaN}, good));
    assertRejected("the same", () -> Series.of("s", new double[2], good));
    assertRejected("below high", () -> new Axis("x", Scale.LINEAR, 2, 1));
  }

  private static void assertRejected(String part, ThrowingRunnable action) {
    String message = expectThrows(IllegalArgumentException.class, action).getMessage();
    assertTrue(message, message.contains(part));
  }

  private static Document parse(String svg) throws Exception {
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(svg.getBytes(StandardCharsets.UTF_8)));
  }

  private static List<String> texts(Document svg, String tag) {
    NodeList nodes = svg.getElementsByTagName(tag);
    return IntStream.range(0, nodes.getLength())
        .mapToObj(i -> ((Element) nodes.item(i)).getTextContent())
        .toList();
  }
}
