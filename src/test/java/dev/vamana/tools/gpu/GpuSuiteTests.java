package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.driver.RegisteredPages;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.tools.figures.Figures;
import dev.vamana.tools.figures.Page;
import dev.vamana.tools.figures.Sheet;
import dev.vamana.work.Workers;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The suite's stages, on the simulated device or with the CPU in the GPU's place. */
public class GpuSuiteTests extends LuceneTestCase {

  private static final int LARGE = 6_000;

  private static final VamanaParameters SMALL =
      VamanaParameters.DEFAULT.withGraph(16, 32, 1.2f).withThresholds(0, 0);

  private final RegisteredPages pages = new RegisteredPages();

  /** Opens simulated devices, which may be closed with everything in them. */
  private IntFunction<Supplier<CudaDriver>> devices() {
    return ordinal ->
        () -> {
          SimulatedDriver device =
              new SimulatedDriver(SimtKernels.load(), 1L << 30, true).in(pages, ordinal);
          return new ForwardingDriver(device) {
            @Override
            public void close() {
              device.lose("closed");
              super.close();
            }
          };
        };
  }

  private String run(Path home, Stage stage, VamanaParameters parameters, String... more)
      throws Exception {
    List<String> arguments =
        new ArrayList<>(List.of("--home=" + home, "--stage=tested", "--seconds=0.001"));
    arguments.addAll(List.of(more));
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    stage.run(
        new Stage.Context(
            SuiteOptions.parse(arguments.toArray(new String[0])),
            new Figures(home.resolve("report"), "c0ffee", "simulated"),
            Workers.callingThread(),
            devices(),
            parameters,
            new PrintStream(out, true, StandardCharsets.UTF_8)));
    return out.toString(StandardCharsets.UTF_8);
  }

  private static List<Map<String, String>> rows(Path home, Sheet sheet) throws Exception {
    return Figures.read(home.resolve("report"), sheet);
  }

  private static List<String> methods(List<Map<String, String>> rows) {
    return rows.stream().map(row -> row.get("method")).distinct().toList();
  }

  private static void assertRecall(double least, List<Map<String, String>> rows) {
    assertFalse(rows.isEmpty());
    for (Map<String, String> row : rows) {
      assertTrue(row.toString(), Double.parseDouble(row.get("recall")) >= least);
      assertTrue(row.toString(), Double.parseDouble(row.get("qps")) > 0);
    }
  }

  public void testSearchesBecomeAPage() throws Exception {
    Path home = createTempDir();
    String[] cpu = {"--device=-1", "--batches=1,10", "--limit=1000"};
    Stage bench = new BenchStage("clustered", BenchStage.Kind.GRAPH);
    run(home, bench, VamanaParameters.DEFAULT, cpu);
    int rows = rows(home, Sheet.GPU).size();
    // a scan finds all neighbours with every beam, so there is a row for each batch
    assertEquals(2, rows);
    // again: the index is found, rows take the place of the former
    run(home, bench, VamanaParameters.DEFAULT, cpu);
    assertEquals(rows, rows(home, Sheet.GPU).size());
    run(home, new BenchStage("clustered", BenchStage.Kind.LISTS), VamanaParameters.DEFAULT, cpu);
    run(home, new LuceneStage("clustered"), VamanaParameters.DEFAULT, cpu);
    run(home, new FilterStage("clustered"), VamanaParameters.DEFAULT, cpu);
    List<Map<String, String>> all = rows(home, Sheet.GPU);
    assertRecall(0.95, all);
    assertEquals(List.of("vamana-gpu", "vamana-ivf", "lucene-m16-b100"), methods(all));
    // five shares, three kinds of filters
    assertEquals(5 * 3, rows(home, Sheet.FILTERS).size());
    assertRecall(0.9, rows(home, Sheet.FILTERS));
    String page = Page.make(home.resolve("report")).get(Page.FILE);
    assertTrue(page, page.contains("| clustered2m-96 | lucene-m16-b100 cpu |"));
    assertTrue(page, page.contains("## Filters"));
  }

  public void testListsOnSeveralDevices() throws Exception {
    Path home = createTempDir();
    run(
        home,
        new DevicesStage("clustered", BenchStage.Kind.LISTS),
        VamanaParameters.DEFAULT,
        "--devices=2",
        "--batches=8",
        "--seconds=0.05",
        "--limit=1000");
    List<Map<String, String>> rows = rows(home, Sheet.DEVICES);
    assertEquals(
        List.of("8 on 1", "8 on 2", "1 on 1", "1 on 2"),
        rows.stream().map(row -> row.get("segments") + " on " + row.get("devices")).toList());
    assertRecall(0.9, rows);
  }

  public void testBuilds() throws Exception {
    Path home = createTempDir();
    VamanaParameters graph =
        VamanaParameters.DEFAULT.withGraph(8, 16, 1.2f).withThresholds(0, Integer.MAX_VALUE);
    String shown = run(home, new BuildStage("clustered"), graph, "--limit=4200");
    assertTrue(shown, shown.contains("vamana-gpu: width 40 finds recall 0."));
    assertEquals(
        List.of("vamana-gpu", "vamana-ivf-gpu", "vamana", "vamana-ivf", "lucene-m16-b100 index"),
        methods(rows(home, Sheet.BUILDS)));
  }

  public void testExactSearch() throws Exception {
    Path home = createTempDir();
    run(
        home,
        new ExactStage("clustered"),
        VamanaParameters.DEFAULT,
        "--batches=100",
        "--limit=200");
    assertEquals(1, rows(home, Sheet.GPU).size());
    assertRecall(1, rows(home, Sheet.GPU));
  }

  public void testLargeSegmentOnTheDevice() throws Exception {
    Path home = createTempDir();
    int size = 4_200;
    Stage stage = new LargeStage(size, false);
    assertTrue(run(home, stage, SMALL, "--batches=10").contains(" built by "));
    assertFalse(run(home, stage, SMALL, "--batches=10").contains(" built by "));
    List<Map<String, String>> rows = rows(home, Sheet.GPU);
    assertEquals(
        List.of("exact", "exact", "mapped-graph", "mapped-graph"),
        rows.stream().map(row -> row.get("placement")).toList());
    assertRecall(0.95, rows);
  }

  public void testLargeListsOnTheDevice() throws Exception {
    Path home = createTempDir();
    run(home, new LargeStage(LARGE, true), SMALL, "--batches=20");
    assertEquals(List.of("vamana-ivf"), methods(rows(home, Sheet.GPU)));
    assertRecall(0.95, rows(home, Sheet.GPU));
  }

  public void testCpuTakesThePlaceOfALargeDevice() throws Exception {
    Path home = createTempDir();
    Stage stage = new LargeStage(LARGE, false);
    run(home, stage, SMALL, "--batches=20", "--device=-1", "--limit=3000");
    run(home, stage, SMALL, "--batches=20", "--device=-1");
    assertRecall(0.95, rows(home, Sheet.GPU));
    Map<String, String> made = Page.make(home.resolve("report"));
    assertTrue(made.get("gpu-scale.svg").contains("vamana: build, seconds"));
    assertTrue(made.get(Page.FILE), made.get(Page.FILE).contains("| 3,000 | vamana |"));
  }

  public void testVectorsDependOnTheirNumbersAlone() {
    ClusteredSet.Points points = ClusteredSet.LARGE.new Points();
    assertArrayEquals(points.bytes(8), ClusteredSet.LARGE.new Points().bytes(8));
    assertFalse(Arrays.equals(points.bytes(7), points.bytes(8)));
    SuiteSet small = ClusteredSet.NARROW.generate(300);
    SuiteSet larger = ClusteredSet.NARROW.generate(400);
    assertArrayEquals(small.vectors().base().rows()[299], larger.vectors().base().rows()[299], 0);
    assertArrayEquals(
        small.vectors().queries().rows()[999], larger.vectors().queries().rows()[999], 0);
  }

  public void testThreeCallersThatWaitForTheirAnswers() {
    // each gets 100 answers every 200 microseconds
    assertEquals(1.5e6, BatchRun.qps(100, 3, new double[] {100, 300}), 1e-6);
  }

  public void testUnknownOptions() {
    for (String[] wrong :
        new String[][] {
          {"--home=x", "--stage=s", "--batch=3", "--batch=3"},
          {"--home=x", "--stage=s", "--seconds=0", "seconds is 0"},
          {"--home=x", "--segments=1", "--segments=1", "--stage"}
        }) {
      IllegalArgumentException failure =
          expectThrows(
              IllegalArgumentException.class,
              () -> SuiteOptions.parse(wrong[0], wrong[1], wrong[2]));
      assertTrue(failure.getMessage(), failure.getMessage().contains(wrong[3]));
    }
  }
}
