package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.HostKernels;
import dev.vamana.tools.plot.LinePlot;
import dev.vamana.work.Workers;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The stage of large segments, with a few thousand vectors. */
public class LargeStageTests extends LuceneTestCase {

  private static final int SIZE = 5_000;

  private static final VamanaParameters SMALL =
      VamanaParameters.DEFAULT.withGraph(16, 32, 1.2f).withThresholds(0, 0);

  static List<Map<String, Object>> run(Path home, Stage stage, String... more) throws Exception {
    return run(home, stage, 20, more);
  }

  static List<Map<String, Object>> run(Path home, Stage stage, int batch, String... more)
      throws Exception {
    List<String> arguments =
        new ArrayList<>(
            List.of("--home=" + home, "--stage=large", "--seconds=0.001", "--batches=" + batch));
    arguments.addAll(List.of(more));
    SuiteOptions options = SuiteOptions.parse(arguments.toArray(new String[0]));
    Path reports = Files.createDirectories(home.resolve("report"));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    stage.run(
        new Stage.Context(
            options,
            Fragment.open(reports, options.stage(), "0123"),
            Workers.callingThread(),
            new PrintStream(out, true, StandardCharsets.UTF_8)));
    return Fragment.rows(Fragment.read(reports.resolve("large.json")), LargeStage.SECTION);
  }

  static CudaDriver device() {
    SimulatedDriver device = new SimulatedDriver(HostKernels.load(), 1L << 30, true);
    return new ForwardingDriver(device) {
      @Override
      public void close() {
        device.lose("closed");
        super.close();
      }
    };
  }

  public void testDeviceBuildsAndSearches() throws Exception {
    Path home = createTempDir();
    run(home, new LargeStage(SIZE, LargeStageTests::device, SMALL, LargeStage.Part.BUILD));
    List<Map<String, Object>> rows =
        run(home, new LargeStage(SIZE, LargeStageTests::device, SMALL, LargeStage.Part.SEARCH));
    // the build, and walks with one and with four parents: exact, re-ranking all and half of the
    // beam
    assertEquals(7, rows.size());
    assertEquals("build", rows.get(0).get("what"));
    assertEquals(0L, ((Number) rows.get(0).get("in_host_memory")).longValue());
    for (Map<String, Object> row : rows.subList(1, rows.size())) {
      assertEquals(SIZE, row.get("n"));
      assertTrue(row.toString(), ReportTables.real(row, "recall_at_10") >= 0.95);
    }
    assertTrue("one size is no line", LargeTables.plots(rows).isEmpty());
    String tables = LargeTables.of(rows);
    assertTrue(
        tables,
        tables.contains("| 5,000 | 16 | 24 | mapped-graph | re-ranks 1/2 of the beam | 4 |"));
    assertEquals("exact", rows.get(1).get("what"));
    assertEquals("mapped-graph", rows.get(4).get("what"));
  }

  public void testCpuTakesItsPlace() throws Exception {
    Path home = createTempDir();
    Stage stage = new LargeStage(SIZE, LargeStageTests::device, SMALL, LargeStage.Part.values());
    List<Map<String, Object>> rows = run(home, stage, "--device=-1", "--limit=3000");
    assertEquals(2, rows.size());
    assertEquals(3_000, rows.get(1).get("n"));
    assertTrue(rows.toString(), ReportTables.real(rows.get(1), "recall_at_10") >= 0.95);
    // a larger set begins with the same vectors, and adds to their file
    run(home, stage, "--device=-1");
    rows = Fragment.rows(Fragment.read(home.resolve("report/large.json")), LargeStage.SECTION);
    assertEquals(4, rows.size());
    Map<String, LinePlot> plots = LargeTables.plots(rows);
    assertTrue(plots.get("gpu-large.svg").toSvg().contains("build, seconds"));
    assertTrue(plots.get("gpu-large-memory.svg").toSvg().contains("build: heap"));
    String tables = LargeTables.of(rows);
    assertTrue(tables, tables.contains("| 3,000 | 16 |"));
    assertTrue(tables, tables.contains("| 5,000 | 16 | 24 | cpu |"));
    assertEquals("5000", Files.readString(home.resolve("large").resolve("vectors.rows")));
  }

  public void testVectorsDependOnTheirNumbersAlone() {
    LargeSet set = new LargeSet();
    byte[] together = new byte[2 * LargeSet.DIMENSION];
    set.vector(7, together, 0);
    set.vector(8, together, LargeSet.DIMENSION);
    byte[] alone = new byte[LargeSet.DIMENSION];
    new LargeSet().vector(8, alone, 0);
    for (int d = 0; d < LargeSet.DIMENSION; d++) {
      assertEquals(alone[d], together[LargeSet.DIMENSION + d]);
    }
  }
}
