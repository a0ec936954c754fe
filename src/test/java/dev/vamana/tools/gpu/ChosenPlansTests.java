package dev.vamana.tools.gpu;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CodebookProvider;
import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.HostKernels;
import dev.vamana.ivf.CodeKind;
import dev.vamana.work.Workers;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Rows of the plans that a node chooses for lists, on a simulated device. */
public class ChosenPlansTests extends LuceneTestCase {

  public void testRows() throws Exception {
    Path home = createTempDir();
    SuiteOptions options =
        SuiteOptions.parse(
            "--home=" + home,
            "--stage=lists-clustered",
            "--batches=1,40",
            "--seconds=0.005",
            "--limit=2000");
    Path reports = Files.createDirectories(home.resolve("report"));
    Stage.Context context =
        new Stage.Context(
            options,
            Fragment.open(reports, options.stage(), "0123"),
            Workers.callingThread(),
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8));
    SuiteSet set = SuiteSet.load(options, "clustered");
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(
            VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, CodeKind.DEFAULT),
            Workers.callingThread(),
            CodebookProvider.NONE,
            new BuildStatistics());
    try (SetIndex index = SetIndex.open(home.resolve("lists"), set, format, 1, 1)) {
      QueryPool pool = QueryPool.of(set.vectors(), index.view(), 40);
      new ChosenPlans(
              context,
              () -> new SimulatedDriver(HostKernels.load(), 1L << 30, true),
              ListsStage.METHOD)
          .measure(set, index, pool);
    }
    List<Map<String, Object>> rows =
        Fragment.rows(Fragment.read(reports.resolve("lists-clustered.json")), "benchmarks");
    Set<String> calls = new TreeSet<>();
    for (Map<String, Object> row : rows) {
      assertEquals("vamana-ivf-auto", row.get("method"));
      calls.add(row.get("batch") + " x " + row.get("callers"));
      String plan = row.get("plan").toString();
      assertFalse(row.toString(), plan.isEmpty());
      double least = plan.contains("lists") ? 0.9 : 0.999;
      assertTrue(row.toString(), ReportTables.real(row, "recall_at_10") >= least);
    }
    assertEquals(Set.of("1 x 1", "1 x 3", "40 x 1", "40 x 3"), calls);
  }
}
