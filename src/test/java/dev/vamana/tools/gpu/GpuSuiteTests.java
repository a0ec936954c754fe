package dev.vamana.tools.gpu;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.driver.RegisteredPages;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.HostKernels;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.ivf.CodeKind;
import dev.vamana.work.Workers;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The suite itself, with the CPU in the GPU's place. */
public class GpuSuiteTests extends LuceneTestCase {

  private static final String SOURCES = "0123";

  private static SuiteOptions options(Path home, String stage, String... more) {
    String[] all = new String[more.length + 2];
    all[0] = "--home=" + home;
    all[1] = "--stage=" + stage;
    System.arraycopy(more, 0, all, 2, more.length);
    return SuiteOptions.parse(all);
  }

  private static String run(Path home, Stage stage, SuiteOptions options) throws Exception {
    Path reports = Files.createDirectories(home.resolve("report"));
    Fragment fragment = Fragment.open(reports, options.stage(), SOURCES);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    stage.run(
        new Stage.Context(
            options,
            fragment,
            Workers.callingThread(),
            new PrintStream(out, true, StandardCharsets.UTF_8)));
    return out.toString(StandardCharsets.UTF_8);
  }

  public void testBenchmarkBecomesReport() throws Exception {
    int size = TEST_NIGHTLY ? 5_000 : 1_500;
    String limit = "--limit=" + size;
    Path home = createTempDir();
    SuiteOptions bench =
        options(
            home,
            "bench-clustered",
            "--placements=cpu",
            "--batches=1,10",
            "--seconds=0.005",
            limit);
    String shown = run(home, new BenchStage("clustered"), bench);
    assertTrue(shown, shown.contains("recall"));
    // again: the index is found, rows take the place of the former
    run(home, new BenchStage("clustered"), bench);
    run(
        home,
        new LuceneStage("clustered"),
        options(home, "lucene-clustered", "--seconds=0.005", limit));
    run(
        home,
        new ConcurrentStage("clustered"),
        options(
            home,
            "concurrent-clustered",
            "--placements=cpu",
            "--segment-counts=1,4",
            "--clients=1,8",
            "--seconds=0.005",
            limit));
    shown = run(home, new ReportStage(), options(home, "report"));
    assertTrue(shown, shown.contains("benchmark rows"));
    Path file = home.resolve("report").resolve(ReportStage.FILE);
    Map<String, Object> report = Fragment.read(file);
    assertEquals(SOURCES, report.get(Fragment.OF_SOURCES));
    Map<String, Object> cells = Fragment.read(file.resolveSibling(ReportStage.CELLS_FILE));
    assertEquals(SOURCES, cells.get(Fragment.OF_SOURCES));
    for (String section : ReportStage.CELLS) {
      assertEquals(List.of(), cells.get(section));
      assertFalse(section, report.containsKey(section));
    }
    List<Map<String, Object>> rows = Fragment.rows(report, "benchmarks");
    assertTrue(rows.size() >= 8);
    for (Map<String, Object> row : rows) {
      assertEquals(size, row.get("n"));
      assertEquals(96, row.get("dims"));
      assertTrue(ReportTables.real(row, "recall_at_10") >= 0.9);
    }
    assertEquals(3, Fragment.rows(report, "builds").size());
    List<Map<String, Object>> topDocs = Fragment.rows(report, "top_docs");
    assertEquals(List.of(1, 10), topDocs.stream().map(row -> row.get("batch")).toList());
    for (Map<String, Object> row : topDocs) {
      assertTrue(row.toString(), ReportTables.real(row, "p50_us_to_top_docs") > 0);
    }
    List<Map<String, Object>> concurrent = Fragment.rows(report, "concurrent");
    // two ways in one segment, three in four, each by one caller and eight
    assertEquals(concurrent.toString(), 2 * 2 + 3 * 2, concurrent.size());
    for (Map<String, Object> row : concurrent) {
      assertTrue(row.toString(), ReportTables.real(row, "recall_at_10") >= 0.98);
    }
    Map<String, String> tables = ReportTables.make(file);
    assertTrue(tables.toString(), tables.get("gpu.md").contains("| lucene-m16-b100, 1 thread |"));
  }

  public void testFiltersBecomeATable() throws Exception {
    Path home = createTempDir();
    run(
        home,
        new FilterStage("clustered"),
        options(home, "filters-clustered", "--placements=cpu", "--seconds=0.001", "--limit=1200"));
    run(home, new ReportStage(), options(home, "report"));
    Path file = home.resolve("report").resolve(ReportStage.FILE);
    List<Map<String, Object>> rows =
        Fragment.rows(Fragment.read(file), FilterStage.SECTION).stream()
            .filter(row -> row.get("placement").equals("cpu"))
            .toList();
    // five shares, three kinds of filters, one caller and many
    assertEquals(5 * 3 * 2, rows.size());
    for (Map<String, Object> row : rows) {
      assertTrue(row.toString(), ReportTables.real(row, "recall_at_10") >= 0.9);
    }
    assertTrue(ReportTables.make(file).get("gpu.md").contains("## Filters"));
  }

  /** A device that may be closed with everything in it, as one that the stage takes away is. */
  private static CudaDriver abandonable(SimulatedDriver device) {
    return new ForwardingDriver(device) {
      @Override
      public void close() {
        device.lose("closed");
        super.close();
      }
    };
  }

  /** Compares two simulated devices with one, over few vectors. */
  private List<Map<String, Object>> compareDevices(VamanaParameters parameters) throws Exception {
    Path home = createTempDir();
    RegisteredPages pages = new RegisteredPages();
    IntFunction<Supplier<CudaDriver>> drivers =
        ordinal ->
            () ->
                abandonable(
                    new SimulatedDriver(HostKernels.load(), 1L << 30, true).in(pages, ordinal));
    run(
        home,
        new DevicesStage("clustered", drivers, parameters),
        options(
            home,
            "devices-clustered",
            "--devices=2",
            "--batches=8",
            "--seconds=0.001",
            "--limit=2000"));
    List<Map<String, Object>> rows =
        Fragment.rows(
            Fragment.read(home.resolve("report").resolve("devices-clustered.json")),
            DevicesStage.SECTION);
    for (Map<String, Object> row : rows) {
      if (row.containsKey("qps")) {
        assertTrue(row.toString(), ReportTables.real(row, "recall_at_10") >= 0.9);
        double balance = ReportTables.real(row, "balance");
        int devices = ((List<?>) row.get("items_by_device")).size();
        assertTrue(row.toString(), balance >= 1 && balance <= devices);
        assertTrue(row.toString(), balance < Math.max(1.01, devices));
      }
    }
    return rows;
  }

  private static List<String> names(List<Map<String, Object>> rows) {
    return rows.stream()
        .map(row -> row.get("what") + " " + row.get("devices") + " " + row.get("placement"))
        .toList();
  }

  public void testListsOnSeveralDevicesAreCompared() throws Exception {
    VamanaParameters lists =
        VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, CodeKind.DEFAULT);
    assertEquals(
        List.of(
            "batch, 8 segments of lists 1 exact",
            "batch, 8 segments of lists 2 exact",
            "batch, 8 segments of lists 1 in-memory",
            "batch, 8 segments of lists 2 in-memory"),
        names(compareDevices(lists)));
  }

  public void testGraphsAreBuiltAndCompared() throws Exception {
    Path home = createTempDir();
    Supplier<CudaDriver> drivers = () -> new SimulatedDriver(HostKernels.load(), 1L << 30, false);
    VamanaParameters small =
        VamanaParameters.DEFAULT.withGraph(8, 16, 1.2f).withThresholds(0, Integer.MAX_VALUE);
    String shown =
        run(
            home,
            new BuildStage("clustered", drivers, small, 1),
            options(home, "build-clustered", "--limit=4200"));
    assertTrue(shown, shown.contains("distances at recall 0.95: GPU's graph"));
    assertTrue(shown, shown.contains("build_choose"));
    Map<String, Object> report =
        Fragment.read(home.resolve("report").resolve("build-clustered.json"));
    List<Map<String, Object>> rows = Fragment.rows(report, "builds");
    List<Object> methods = new ArrayList<>(rows.stream().map(row -> row.get("method")).toList());
    methods.remove("lucene-m16-b100");
    assertEquals(List.of("vamana-gpu", "vamana", "lucene-hnsw"), methods);
    for (Map<String, Object> row : rows) {
      assertEquals(4_200, row.get("n"));
      assertTrue(row.toString(), ReportTables.real(row, "seconds") > 0);
    }
  }

  public void testPlansAreFitted() throws Exception {
    Path home = createTempDir();
    Supplier<CudaDriver> drivers = () -> new SimulatedDriver(HostKernels.load(), 1L << 30, false);
    String shown =
        run(
            home,
            new PlanFitStage(drivers, List.of("clustered")),
            options(home, "plan-fit", "--limit=5000", "--batches=1,16", "--seconds=0.005"));
    Properties costs = new Properties();
    try (Reader in = Files.newBufferedReader(home.resolve("report").resolve(PlanFitStage.FILE))) {
      costs.load(in);
    }
    assertEquals(
        new TreeSet<>(CostModel.shipped().toProperties().keySet()), new TreeSet<>(costs.keySet()));
    Map<String, Object> found = Fragment.read(home.resolve("report").resolve("plan-fit.json"));
    Set<Object> forms =
        Fragment.rows(found, "plans").stream()
            .map(row -> row.get("what"))
            .collect(Collectors.toSet());
    assertTrue(
        forms + shown,
        forms.containsAll(List.of("cpu_scan", "cpu_walk", "scan", "gather", "walk")));
  }

  public void testDateIsThatOfTheLastStageOnTheDevice() throws Exception {
    Path folder = createTempDir();
    List<Map<String, Object>> fragments = new ArrayList<>();
    for (String[] stage :
        new String[][] {
          {"builds", "2026-01-02T03:04:05Z"},
          {"filters", "2026-01-02T03:05:00Z"},
          {ReportStage.NAME, "2026-01-02T09:00:00Z"}
        }) {
      Fragment.open(folder, stage[0], SOURCES).set("date", stage[1]);
      fragments.add(Fragment.read(folder.resolve(stage[0] + ".json")));
    }
    assertEquals(
        "2026-01-02T03:05:00Z", ReportStage.merge(fragments, List.of(), SOURCES).get("date"));
  }

  public void testEarlierRowsAreMarkedUnlessTheirStageRanAgain() throws Exception {
    Path home = createTempDir();
    Path report = Files.createDirectories(home.resolve("report"));
    Path earlier = Files.createDirectories(report.resolve(ReportStage.EARLIER));
    String oldHash = "0123456789abcdef";
    Fragment again = Fragment.open(earlier, "builds", oldHash);
    again.add("builds", Map.of("what", "copy", "value", 1));
    Fragment kept = Fragment.open(earlier, "filters", oldHash);
    kept.add("filters", Map.of("what", "k-means", "gpu_ms", 2.5));
    kept.add("tests", Map.of("id", "old#test", "status", "passed"));
    run(
        home,
        context -> context.fragment().add("builds", Map.of("what", "gather", "value", 3)),
        options(home, "builds"));
    run(home, new ReportStage(), options(home, "report"));
    Path file = report.resolve(ReportStage.FILE);
    Map<String, Object> merged = Fragment.read(file);
    assertEquals(List.of(Map.of("what", "gather", "value", 3)), Fragment.rows(merged, "builds"));
    assertEquals(
        List.of(Map.of("what", "k-means", "gpu_ms", 2.5, "sources", oldHash)),
        Fragment.rows(merged, "filters"));
    assertEquals(List.of(), ((Map<?, ?>) merged.get("correctness")).get("passed"));
    String tables = ReportTables.make(file).get("gpu.md");
    assertTrue(tables, tables.contains("Rows that name `01234567` were measured"));
    assertTrue(tables, tables.contains(" | `01234567` |\n"));
  }

  public void testSummaries() {
    assertEquals(2, Samples.median(new double[] {9, 1, 2}), 0);
    assertEquals(1.5, Samples.median(new double[] {2, 1}), 0);
    // three threads that each get 100 answers every 200 microseconds
    assertEquals(1.5e6, Samples.qps(100, 3, new double[] {100, 300}), 1e-6);
  }

  public void testHashFollowsContentsAndNames() throws Exception {
    Path checkout = createTempDir();
    for (String folder : SourcesHash.FOLDERS) {
      Files.createDirectories(checkout.resolve(folder));
    }
    Path file = checkout.resolve(SourcesHash.FOLDERS.get(0)).resolve("a.cu");
    Files.writeString(file, "one");
    String one = SourcesHash.manifest(checkout);
    assertEquals(64, SourcesHash.of(one).length());
    assertEquals(one, SourcesHash.manifest(checkout));
    Files.writeString(file, "two");
    String two = SourcesHash.manifest(checkout);
    assertNotEquals(SourcesHash.of(one), SourcesHash.of(two));
    Files.move(file, file.resolveSibling("b.cu"));
    String moved = SourcesHash.manifest(checkout);
    assertNotEquals(SourcesHash.of(two), SourcesHash.of(moved));
  }

  public void testGeneratedSetIsTheSameAlways() {
    SuiteSet small = ClusteredSet.NARROW.generate(300);
    SuiteSet larger = ClusteredSet.NARROW.generate(400);
    assertArrayEquals(small.vectors().base().rows()[299], larger.vectors().base().rows()[299], 0);
    assertArrayEquals(
        small.vectors().queries().rows()[999], larger.vectors().queries().rows()[999], 0);
    assertEquals(small.sha256(), ClusteredSet.NARROW.generate(300).sha256());
    assertNotEquals(small.sha256(), larger.sha256());
  }

  public void testUnknownOptions() {
    IllegalArgumentException failure =
        expectThrows(
            IllegalArgumentException.class,
            () -> options(Path.of("x"), "bench-sift5k", "--batch=3"));
    assertTrue(failure.getMessage(), failure.getMessage().contains("--batch=3"));
    failure =
        expectThrows(
            IllegalArgumentException.class,
            () -> options(Path.of("x"), "bench-sift5k", "--seconds=0"));
    assertTrue(failure.getMessage(), failure.getMessage().contains("seconds is 0"));
    failure = expectThrows(IllegalArgumentException.class, () -> SuiteOptions.parse("--home=x"));
    assertTrue(failure.getMessage(), failure.getMessage().contains("--stage"));
  }
}
