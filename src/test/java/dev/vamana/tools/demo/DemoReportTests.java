package dev.vamana.tools.demo;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.datasets.VectorTable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.Test;

/** What the demo computes and prints, without a node. */
public class DemoReportTests {

  private static Latencies latencies(int count) {
    Latencies latencies = new Latencies();
    for (int millis = count; millis >= 1; millis--) {
      latencies.add(millis * 1_000_000L);
    }
    return latencies;
  }

  private static Figures figures(String name, int[][] hits) {
    List<Sweep.Point> points = new ArrayList<>();
    for (int numCandidates : Sweep.CANDIDATES) {
      points.add(new Sweep.Point(numCandidates, 1 - 1.0 / numCandidates, 1.25, 7.5, hits));
    }
    return new Figures(
        new KnnIndex(null, name, name + " <label>"),
        new Load.Result(latencies(200), 2),
        new Load.Result(latencies(2000), 4),
        points,
        12.34,
        5_600_000,
        1);
  }

  @Test
  public void testQuantiles() {
    Latencies latencies = latencies(200);
    assertEquals(200, latencies.size());
    assertEquals(100, latencies.quantileMillis(0.5), 0);
    assertEquals(198, latencies.quantileMillis(0.99), 0);
    assertEquals(200, latencies.quantileMillis(1), 0);
    assertEquals(1, latencies.quantileMillis(1e-9), 0);
    latencies.addAll(latencies(2000));
    assertEquals(2200, latencies.size());
    assertTrue(Double.isNaN(new Latencies().quantileMillis(0.5)));
  }

  @Test
  public void testTable() {
    List<String> lines = ResultTable.of(List.of(figures("a", null), figures("bb", null))).lines();
    assertEquals(3, lines.size());
    assertEquals(
        List.of("a", "<label>", "0.9900", "100.00", "198.00", "100", "500", "12.3", "5.6", "1"),
        List.of(lines.get(1).split(" +")));
    assertEquals(lines.get(0).length(), lines.get(2).length());
    String notes = String.join("\n", ResultTable.notes(Metric.L2, 2));
    assertTrue(notes, notes.contains("no libvec") && notes.contains("handicaps"));
  }

  @Test
  public void testPageIsSelfContained() {
    GlyphImages images = new GlyphImages(Glyphs.ofStrokes(), 10, 3);
    VectorTable base = images.draw(40);
    VectorTable queries = images.draw(5);
    VectorSet vectors = VectorSet.of("tiny", Metric.L2, base, queries);
    int[][] hits = vectors.groundTruth().ordinals().clone();
    int[] farthest = hits[0].clone();
    int wrong = farthest[39];
    farthest[0] = wrong;
    hits[0] = Arrays.copyOf(farthest, Sweep.K);
    for (int q = 1; q < hits.length; q++) {
      hits[q] = Arrays.copyOf(hits[q], Sweep.K);
    }
    DemoSet set = new DemoSet(vectors, 10, "40 generated images");
    String page =
        new Report(set, List.of(figures("ours", hits), figures("stock", hits)), "Some machine.")
            .html(2);
    assertFalse(page, page.matches("(?s).*(src|href)=\"(?!data:).*"));
    assertTrue(page.contains("<svg") && page.contains("ours &lt;label&gt;"));
    assertEquals(1, page.split("class=\"wrong\"", -1).length - 1);
    assertEquals(5 * (1 + 2 * Sweep.K), page.split("<img", -1).length - 1);
    DemoSet noImages = new DemoSet(vectors, 0, "40 vectors");
    String plain =
        new Report(noImages, List.of(figures("ours", hits), figures("stock", hits)), "M.").html(2);
    assertFalse(plain.contains("<img"));
  }

  @Test
  public void testRequestBodies() {
    float[] vector = {0, 255, -1.5f, 1e-5f};
    String expected = "[0,255,-1.5,1.0E-5]";
    assertTrue(KnnIndex.query(vector, 10, 50).contains("\"query_vector\": " + expected));
    StringBuilder lines = new StringBuilder();
    KnnIndex.appendDocument(lines, 3, vector);
    assertEquals("{\"index\":{\"_id\":\"3\"}}\n{\"vector\":" + expected + "}\n", lines.toString());
  }

  @Test
  public void testOptions() {
    DemoOptions standard = DemoOptions.parse("--plugin=p.zip", "--set=", "--keep=", "--heap=");
    assertEquals(null, standard.set());
    assertEquals(0, standard.port());
    assertEquals("1g", standard.heap());
    assertEquals(1000, standard.queries());
    DemoOptions kept =
        DemoOptions.parse("--plugin=p.zip", "--keep=true", "--metric=cosine", "--limit=5");
    assertEquals(DemoOptions.KEEP_PORT, kept.port());
    assertEquals(Metric.COSINE, kept.metric());
    assertEquals(5, kept.limit());
    for (String bad :
        List.of("--keep=yes", "--port=65536", "--limit=0", "--side=x", "--metric=l1", "--no=1")) {
      IllegalArgumentException failure =
          assertThrows(
              IllegalArgumentException.class, () -> DemoOptions.parse("--plugin=p.zip", bad));
      assertTrue(failure.getMessage(), failure.getMessage().contains("allowed"));
    }
    assertThrows(IllegalArgumentException.class, () -> DemoOptions.parse("--keep=true"));
  }
}
