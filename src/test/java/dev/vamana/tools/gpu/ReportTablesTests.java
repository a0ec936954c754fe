package dev.vamana.tools.gpu;

import dev.vamana.cuda.memory.Placement;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;

/** What a reader sees of a report. */
public class ReportTablesTests extends LuceneTestCase {

  private static Map<String, Object> row(Object... pairs) {
    Map<String, Object> row = new LinkedHashMap<>();
    for (int i = 0; i < pairs.length; i += 2) {
      row.put(pairs[i].toString(), pairs[i + 1]);
    }
    return row;
  }

  private static String tables(String section, List<Map<String, Object>> rows) throws Exception {
    return pages(section, rows, List.of()).get("gpu.md");
  }

  private static Map<String, String> pages(
      String section, List<Map<String, Object>> rows, List<Map<String, Object>> cells)
      throws Exception {
    Map<String, Object> report = row("device", "none", "driver", "none", "date", "today");
    report.put(
        "correctness", Map.of("passed", List.of(), "failed", List.of(), "skipped", List.of()));
    report.put(section, rows);
    Path file = createTempDir().resolve("report.json");
    Files.writeString(file, Json.write(report));
    Files.writeString(
        file.resolveSibling(ReportStage.CELLS_FILE), Json.write(row(CellsStage.SECTION, cells)));
    return ReportTables.make(file);
  }

  private static Map<String, Object> measured(int n, String method, double qps) {
    return row(
        "set",
        "some-96",
        "n",
        n,
        "dims",
        96,
        "method",
        method,
        "placement",
        "cpu",
        "batch",
        1,
        "callers",
        1,
        "beam",
        10,
        "recall_at_10",
        0.93,
        "qps",
        qps,
        "p50_us",
        5.0);
  }

  public void testOtherNumbersOfVectorsAreOtherTables() throws Exception {
    String text =
        tables(
            "benchmarks", List.of(measured(2000, "large", 100.0), measured(1000, "small", 200.0)));
    int large = text.indexOf("## some-96\n\n2,000 vectors of dimension 96.");
    int small = text.indexOf("## some-96-1000\n\n1,000 vectors of dimension 96.");
    assertTrue(text, large > 0 && small > large);
    String first = text.substring(large, small);
    assertTrue(first, first.contains("| large | 100 (5 us) [10] |"));
    assertFalse(first, first.contains("| small |"));
    assertTrue(text, text.substring(small).contains("| small | 200 (5 us) [10] |"));
  }

  public void testRowsOfOtherColumnsAreOtherTables() throws Exception {
    String text =
        tables(
            "builds",
            List.of(
                row("method", "one", "degree", 64, "sources", "0123456789"),
                row("method", "two", "seconds", 1.5, "parts", Map.of("sort", 1, "none", Map.of())),
                row("method", "three", "degree", 32)));
    assertTrue(
        text,
        text.contains(
            "| method | degree | sources |\n| --- | ---: | --- |\n"
                + "| one | 64 | `01234567` |\n| three | 32 |  |\n"));
    assertTrue(text, text.contains("| two | 1.500 | sort 1 |\n"));
  }

  public void testDevicesAreMarked() throws Exception {
    Map<String, Object> own = measured(2000, "vamana-gpu", 100.0);
    Map<String, Object> other = new LinkedHashMap<>(own);
    other.put("qps", 300.0);
    Map<String, Object> old = new LinkedHashMap<>(own);
    old.put("qps", 400.0);
    Map<String, Object> report =
        ReportStage.merge(
            List.of(fragment("bench-a", "H2", "now", own), fragment("bench-b", "H1", "now", other)),
            List.of(fragment("bench-a", "H2", "then", old), fragment("bench-a", "H0", "then", old)),
            "now");
    assertEquals("H2", report.get("device"));
    List<Map<String, Object>> rows = Fragment.rows(report, "benchmarks");
    assertEquals(
        "rows of other devices stay, an earlier one of the same device does not",
        List.of("100.0 null null", "300.0 H1 null", "400.0 H0 then"),
        rows.stream()
            .map(row -> row.get("qps") + " " + row.get("device") + " " + row.get("sources"))
            .toList());
  }

  private static Map<String, Object> fragment(
      String stage, String device, String sources, Map<String, Object> benchmark) {
    return row(
        "stage",
        stage,
        "device",
        device,
        "sources_sha256",
        sources,
        "benchmarks",
        List.of(benchmark));
  }

  public void testBesideCagra() throws Exception {
    Map<String, Object> slow = measured(2000, "vamana-gpu", 100.0);
    slow.put("placement", "exact");
    Map<String, Object> fast = new LinkedHashMap<>(slow);
    fast.put("placement", "exact-int8");
    fast.put("qps", 300.0);
    Map<String, Object> elsewhere = new LinkedHashMap<>(fast);
    elsewhere.put("device", "NVIDIA H100 80GB HBM3");
    elsewhere.put("qps", 700.0);
    Map<String, Object> report = row("device", "NVIDIA H200", "driver", "none", "date", "today");
    report.put(
        "correctness", Map.of("passed", List.of(), "failed", List.of(), "skipped", List.of()));
    Map<String, Object> narrow = new LinkedHashMap<>(slow);
    narrow.put("callers", 3);
    narrow.put("recall_at_10", 0.90);
    narrow.put("qps", 400.0);
    Map<String, Object> wide = new LinkedHashMap<>(narrow);
    wide.put("recall_at_10", 0.94);
    wide.put("qps", 100.0);
    Map<String, Object> otherParents = new LinkedHashMap<>(narrow);
    otherParents.put("parents", 4);
    otherParents.put("qps", 9_000.0);
    report.put("benchmarks", List.of(slow, fast, elsewhere, wide, narrow, otherParents));
    Path file = createTempDir().resolve("report.json");
    Files.writeString(file, Json.write(report));
    assertNull(ReportTables.make(file).get("gpu-cagra.md"));
    Files.writeString(
        file.resolveSibling("gpu-cagra.csv"),
        """
        # of somebody, on one H200, driver 580
        set,recall,batch,callers,float32,float16,bytes
        some-96,0.93,1,1,150,200,
        some-96,0.95,1,1,100,,
        some-96,0.93,10,1,100,,
        some-96,0.92,1,3,100,,
        """);
    String page = ReportTables.make(file).get("gpu-cagra.md");
    assertTrue(
        page,
        page.contains(
            "| some-96 | 0.93 | 1 × 1 | 200 (float16) | 100 | 0.50 | 100 (exact) | 0.50 | 300 |"));
    // half way between the beams of one parent; the other number of parents does not reach the
    // recall
    assertTrue(
        page,
        page.contains(
            "| some-96 | 0.92 | 1 × 3 | 100 (float32) | 200 | 2.00 | 200 (exact) | 2.00 | 200 |"));
    // no row reaches the recall, and none has the batch
    assertTrue(page, page.contains("| exact | 1.00 | 0.50 | 1 of 2 |"));
    assertTrue(page, page.contains("| default | 1.00 | 0.50 | 1 of 2 |"));
    for (Map<String, Object> row : List.of(slow, fast, elsewhere, wide, narrow, otherParents)) {
      row.put("dims", Placement.WIDE);
    }
    report.put("benchmarks", List.of(slow, fast, elsewhere));
    Files.writeString(file, Json.write(report));
    page = ReportTables.make(file).get("gpu-cagra.md");
    assertTrue(page, page.contains("## On NVIDIA H100 80GB HBM3\n"));
    assertTrue(page, page.contains("| some-96 | 0.93 | 1 × 1 | 200 | 700 (exact-int8) | 3.50 |\n"));
    report.put("benchmarks", List.of(slow, fast));
    Files.writeString(file, Json.write(report));
    page = ReportTables.make(file).get("gpu-cagra.md");
    assertFalse(page, page.contains("## On "));
    assertTrue(
        page,
        page.contains(
            "| some-96 | 0.93 | 1 × 1 | 200 (float16) | 100 | 0.50 | 300 (exact-int8) | 1.50 | 300"
                + " |"));
    assertTrue(page, page.contains("| exact | 0.50 | 0.50 | 1 of 1 |"));
    assertTrue(page, page.contains("| default | 1.50 | 1.50 | 0 of 1 |"));
    slow.put("dims", Placement.WIDE - 1);
    fast.put("dims", Placement.WIDE - 1);
    Files.writeString(file, Json.write(report));
    assertTrue(ReportTables.make(file).get("gpu-cagra.md").contains("| default | 0.50 |"));
    fast.put("whole_copies", true);
    Files.writeString(file, Json.write(report));
    assertTrue(ReportTables.make(file).get("gpu-cagra.md").contains("| default | 1.50 |"));
  }

  private static Map<String, Object> ofCell(int segments, Object... more) {
    Map<String, Object> row =
        row("set", "some-96", "n", 5000, "dims", 96, "segments", segments, "callers", 8);
    row.putAll(row(more));
    return row;
  }

  private static Map<String, Object> compared(
      int segments, String method, String variant, double target, double recall, double ratio) {
    return ofCell(
        segments,
        "target",
        target,
        "method",
        method,
        "variant",
        variant,
        "recall",
        recall,
        "requests_per_second",
        1234.0,
        "others_per_second",
        1000.0,
        "ratio",
        ratio);
  }

  public void testCells() throws Exception {
    String gpu = "es-vamana-gpu";
    String stock = "over es-hnsw";
    List<Map<String, Object>> rows =
        List.of(
            compared(40, gpu, stock, 0.95, 0.997, 2.0),
            compared(40, gpu, stock, 0.99, 0.997, 2.0),
            compared(8, gpu, stock, 0.95, 0.95, 0.5),
            compared(8, "es-vamana-cpu", stock, 0.95, 0.95, 1.5));
    Map<String, String> pages = pages("builds", List.of(), rows);
    String page = pages.get(CellsPage.PAGE);
    // a ratio that was raised to the same recall twice counts once
    assertTrue(page, page.contains("GPU / hnsw 1.00 (1 of 2 below 0.95), CPU / hnsw 1.50 (0 of 1"));
    assertTrue(page, page.contains("## some-96, 5,000 vectors of 96 dimensions"));
    String eight = "| 8 | 8 | 0.95 | 1,234 | **0.50** | - | - | 1.50 | - | - |";
    String forty = "| 40 | 8 | 0.95 | 1,234 | 2.00 (at 0.997) | - | - | - | - | - |";
    assertTrue(page, page.indexOf(eight) > 0 && page.indexOf(eight) < page.indexOf(forty));
    assertFalse(pages.get("gpu.md").contains("0.997"));
  }

  public void testStartsOfACell() {
    Map<String, Object> low = compared(8, "es-vamana-gpu", "over es-vamana-cpu", 0.95, 0.95, 0.94);
    low.put(CellsStage.BY_START, List.of(0.972, 0.91));
    Map<String, Object> high = compared(8, "es-vamana-gpu", "over es-vamana-cpu", 0.99, 0.99, 1.0);
    high.put(CellsStage.BY_START, List.of(0.94, 1.06));
    String page = CellsPage.of(List.of(low, high), List.of());
    assertTrue(page, page.contains("| - | - | **0.94** [0.97, 0.91] | - | - |"));
    assertTrue(page, page.contains("| - | - | 1.00 | - | - |"));
  }

  public void testStockOfBothNodes() {
    List<Map<String, Object>> rows = new ArrayList<>();
    List<Map<String, Object>> points = new ArrayList<>();
    for (int segments : new int[] {1, 8, 40}) {
      rows.add(compared(segments, "es-vamana-gpu", "over es-vamana-cpu", 0.95, 0.95, 1.0));
      for (int width : new int[] {10, 20}) {
        // 2 * 0.5 for one segment, 2 * 2 for eight, and one node alone for 40
        points.add(stock(segments, "auto", width, segments == 1 && width == 10 ? 250 : 1000));
        if (segments < 40) {
          points.add(stock(segments, "off", width, 500));
        }
      }
    }
    Map<String, Object> ours = stock(1, "auto", 30, 7000);
    ours.put("method", "es-vamana-gpu");
    points.add(ours);
    String page = CellsPage.of(rows, points);
    assertTrue(page, page.contains("| 1 | 8 | 0.95 | - | - | - | 1.00 | - | - | 1.00 |"));
    assertTrue(page, page.contains("| 8 | 8 | 0.95 | - | - | - | 1.00 | - | - | 2.00 |"));
    assertTrue(page, page.contains("| 40 | 8 | 0.95 | - | - | - | 1.00 | - | - | - |"));
    // the geometric mean of 1 and 2, and the deviation of their logarithms
    assertTrue(page, page.contains("1.41 in the mean of 2 cells, which scatter by 49 %"));
  }

  private static Map<String, Object> stock(
      int segments, String placement, int width, double perSecond) {
    return ofCell(
        segments,
        "method",
        "es-hnsw",
        "placement",
        placement,
        "beam",
        width,
        "requests_per_second",
        perSecond);
  }

  public void testNoCells() {
    assertTrue(CellsPage.of(List.of(), List.of()).contains("Not measured yet"));
  }
}
