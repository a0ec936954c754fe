package dev.vamana.tools.demo;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.callers.Callers.Times;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.datasets.VectorTable;
import dev.vamana.tools.text.Passage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.Test;

/** Computations and output of the demo, without a node. */
public class DemoReportTests {

  private static final Glyphs STARS = new Glyphs(Glyphs.stars(), "stars");

  /** Requests that took 1 to so many milliseconds. */
  private static Times times(int count, double seconds) {
    return new Times(
        IntStream.rangeClosed(1, count).mapToDouble(millis -> millis * 1e3).toArray(), seconds);
  }

  private static Figures figures(String name, int[][] hits) {
    List<Figures.Point> points = new ArrayList<>();
    for (int numCandidates : Measurement.CANDIDATES) {
      points.add(new Figures.Point(numCandidates, 1 - 1.0 / numCandidates, 1.25, 7.5, hits));
    }
    return new Figures(
        name + " <label>", "CPU", times(200, 2), times(2000, 4), points, 12.34, 5_600_000, 1);
  }

  @Test
  public void testPageIsSelfContained() {
    GlyphImages images = new GlyphImages(STARS, 3);
    VectorTable base = images.draw(40);
    VectorTable queries = images.draw(5);
    VectorSet vectors = VectorSet.of("tiny", Metric.L2, base, queries);
    int[][] hits = vectors.groundTruth().ordinals().clone();
    int[] farthest = hits[0].clone();
    int wrong = farthest[39];
    farthest[0] = wrong;
    hits[0] = Arrays.copyOf(farthest, Measurement.K);
    for (int q = 1; q < hits.length; q++) {
      hits[q] = Arrays.copyOf(hits[q], Measurement.K);
    }
    DemoSet set = new DemoSet(vectors, true, "40 generated images", null);
    String page =
        new Report(
                set,
                List.of(figures("ours", hits), figures("stock", hits)),
                "Some machine.",
                List.of("A note."))
            .html();
    assertFalse(page, page.matches("(?s).*(src|href)=\"(?!data:).*"));
    assertTrue(page.contains("<svg") && page.contains("ours &lt;label&gt;"));
    assertTrue(page, page.contains("Some machine.</figcaption>"));
    assertTrue(page, page.contains(">400</text>"));
    assertEquals(1, page.split("class=\"wrong\"", -1).length - 1);
    assertEquals(5 * (1 + 2 * Measurement.K), page.split("<img", -1).length - 1);
    DemoSet noImages = new DemoSet(vectors, false, "40 vectors", null);
    String plain =
        new Report(
                noImages, List.of(figures("ours", hits), figures("stock", hits)), "M.", List.of())
            .html();
    assertFalse(plain.contains("<img"));
  }

  @Test
  public void testRequestBodies() throws IOException {
    float[] vector = {0, 255, -1.5f, 1e-5f};
    String expected = "[0,255,-1.5,1.0E-5]";
    assertTrue(KnnIndex.query(vector, 10, 50).contains("\"query_vector\": " + expected));
    StringBuilder lines = new StringBuilder();
    KnnIndex.appendDocument(lines, 3, vector);
    assertEquals("{\"index\":{\"_id\":\"3\"}}\n{\"vector\":" + expected + "}\n", lines.toString());
    lines.setLength(0);
    KnnIndex.appendDocument(lines, 4, vector, new Passage("s", "p", "", "t", "say \"a\"\n"));
    assertTrue(
        lines.toString(),
        lines.toString().endsWith("\"text\":\"say \\\"a\\\"\\n\"},\"vector\":" + expected + "}\n"));
  }

  @Test
  public void testOptions() {
    DemoOptions standard = DemoOptions.parse("--plugin=p.zip", "--set=", "--keep=", "--heap=");
    assertEquals(null, standard.set());
    assertEquals(0, standard.port());
    assertEquals("1g", standard.heap());
    assertEquals(500, standard.queries());
    assertFalse(standard.keep());
    DemoOptions text = DemoOptions.parse("--plugin=p.zip", "--set=text");
    assertTrue(text.text() && text.keep());
    assertEquals(null, text.set());
    assertFalse(DemoOptions.parse("--plugin=p.zip", "--set=text", "--keep=false").keep());
    DemoOptions kept =
        DemoOptions.parse("--plugin=p.zip", "--keep=true", "--metric=cosine", "--limit=5");
    assertEquals(DemoOptions.KEEP_PORT, kept.port());
    assertEquals(Metric.COSINE, kept.metric());
    assertEquals(5, kept.limit());
    for (String bad : List.of("--keep=yes", "--port=65536", "--limit=0", "--metric=l1", "--no=1")) {
      IllegalArgumentException failure =
          assertThrows(
              IllegalArgumentException.class, () -> DemoOptions.parse("--plugin=p.zip", bad));
      assertTrue(failure.getMessage(), failure.getMessage().contains("allowed"));
    }
    assertThrows(IllegalArgumentException.class, () -> DemoOptions.parse("--keep=true"));
  }
}
