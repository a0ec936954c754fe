package dev.vamana.tools.plot;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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

  /** A recall of 1 stands at the tick of 1, apart from 0.9999 and within the frame. */
  public void testNothingMissing() throws Exception {
    Axis axis = Axis.of("recall", Scale.NEAR_ONE).fit(0.9, 1);
    assertTrue(axis.fraction(1) > axis.fraction(0.9999) + 0.05);
    assertTrue(axis.fraction(1) < 1);
    for (double share = 0.9; share < 1; share += 1e-4) {
      assertTrue(axis.fraction(share) < axis.fraction(share + 1e-5));
    }
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
