package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.tools.plot.LinePlot;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The stage of lists over large segments, with a few thousand vectors. */
public class LargeListsStageTests extends LuceneTestCase {

  // enough components that the device does not decline to assign them
  private static final int SIZE = 6_000;

  private static final VamanaParameters SMALL =
      VamanaParameters.DEFAULT.withGraph(16, 32, 1.2f).withThresholds(0, 0);

  private static Stage lists(LargeStage.Part... parts) {
    return new LargeListsStage(SIZE, LargeStageTests::device, SMALL, parts);
  }

  private static List<Map<String, Object>> graphs(Path home) throws Exception {
    return Fragment.rows(
        Fragment.read(home.resolve("report/large.json")), LargeListsStage.GRAPH_SECTION);
  }

  public void testDeviceBuildsAndSearchesBesideTheGraph() throws Exception {
    Path home = createTempDir();
    LargeStageTests.run(
        home, new LargeStage(SIZE, LargeStageTests::device, SMALL, LargeStage.Part.BUILD));
    LargeStageTests.run(home, lists(LargeStage.Part.BUILD));
    List<Map<String, Object>> rows = LargeStageTests.run(home, lists(LargeStage.Part.SEARCH));
    List<Map<String, Object>> graphs = graphs(home);
    // the build; two targets and a curve for each placement
    rows = rows.stream().filter(LargeTables::isOfLists).toList();
    assertEquals(7, rows.size());
    assertEquals(SIZE, ((Number) rows.get(0).get("n")).intValue());
    assertTrue(((Number) rows.get(0).get("vectors_assigned")).longValue() >= SIZE);
    for (int i : new int[] {1, 2, 4, 5}) {
      Map<String, Object> row = rows.get(i);
      assertEquals(i < 3 ? "exact" : "in-memory", row.get("what"));
      double target = ReportTables.real(row, "target");
      assertTrue(row.toString(), ReportTables.real(row, "recall_at_10") >= target);
      assertTrue(row.toString(), ReportTables.real(row, "lists_searched") >= 1);
    }
    double lists = ReportTables.real(rows.get(0), "list_bytes");
    assertTrue(ReportTables.real(rows.get(1), "device_bytes") > lists + SIZE * LargeSet.DIMENSION);
    assertEquals(3, graphs.size());
    Map<String, LinePlot> plots = LargeListsTables.plots(rows, graphs);
    String svg = plots.get("gpu-large-lists.svg").toSvg();
    assertTrue(svg, svg.contains("vamana-ivf, in-memory"));
    assertTrue(svg, svg.contains("vamana-gpu, exact"));
    String tables = LargeListsTables.of(rows, graphs);
    assertTrue(tables, tables.contains("| 6,000 | 116 |"));
    assertTrue(tables, tables.contains("| 6,000 | vamana-ivf | exact |"));
    assertTrue(tables, tables.contains("| 6,000 | vamana-gpu | exact |"));
    assertEquals("graphs alone", "", LargeTables.of(rows));
    assertTrue(LargeTables.plots(rows).isEmpty());
  }

  /**
   * Numbers that the kernels leave in device memory fit together, so they are read where they are.
   */
  @SuppressWarnings("unchecked")
  public void testStepsOfSearchesTogether() throws Exception {
    Path home = createTempDir();
    LargeStageTests.run(home, lists(LargeStage.Part.BUILD));
    List<Map<String, Object>> others =
        LargeStageTests.run(
            home,
            lists(LargeStage.Part.SEARCH),
            10,
            "--placements=exact",
            "--sharing=1",
            "--steps=7,10");
    assertEquals("only the build", 1, others.size());
    List<Map<String, Object>> rows =
        Fragment.rows(Fragment.read(home.resolve("report/large.json")), ListSteps.SECTION);
    assertEquals(4, rows.size());
    for (int i = 0; i < rows.size(); i += 2) {
      int most = i == 0 ? 7 : 10;
      assertTrue(rows.get(i).toString(), ReportTables.real(rows.get(i), "parts_together") > 0);
      List<Number> parts = (List<Number>) rows.get(i + 1).get("items_of_parts");
      assertTrue(parts.toString(), parts.get(2).intValue() <= most);
      Map<String, Map<String, Object>> steps = new LinkedHashMap<>();
      for (Map<String, Object> step : (List<Map<String, Object>>) rows.get(i + 1).get("steps")) {
        steps.put(step.get("kernel").toString(), step);
        assertTrue(step.toString(), ReportTables.real(step, "ms") > 0);
      }
      assertTrue(
          steps.toString(),
          steps
              .keySet()
              .containsAll(
                  List.of(
                      "prepare_byte", "measure", "keep", "first_byte", "place @ 1", "rest_byte")));
      double all = ReportTables.real(steps.get("prepare_byte"), "items");
      double items = ReportTables.real(steps.get("estimate @ 1"), "items");
      double pairs = ReportTables.real(steps.get("scan @ 1"), "pairs");
      double units = ReportTables.real(steps.get("scan @ 1"), "units");
      double candidates = ReportTables.real(steps.get("estimate @ 1"), "candidates");
      assertTrue(items + " of " + all, items > 0 && items <= all);
      assertEquals("each searches four lists", 4 * items, pairs, 0);
      assertTrue(units + " of " + pairs, units > 0 && units <= pairs);
      assertTrue(candidates + " of " + items, candidates >= 0 && candidates < SIZE * items);
    }
  }

  public void testCpuTakesItsPlace() throws Exception {
    Path home = createTempDir();
    List<Map<String, Object>> rows =
        LargeStageTests.run(
            home,
            lists(LargeStage.Part.values()),
            "--device=-1",
            "--limit=3000",
            "--methods=delete");
    assertEquals(4, rows.size());
    assertEquals("build", rows.get(0).get("what"));
    assertEquals("cpu", rows.get(1).get("what"));
    assertTrue(graphs(home).isEmpty());
    assertFalse(Files.exists(home.resolve("large").resolve("vectors.bin")));
    assertTrue(LargeListsTables.of(List.of(), List.of()).isEmpty());
    assertTrue(LargeListsTables.plots(rows.subList(0, 1), List.of()).isEmpty());
  }
}
