package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/**
 * One segment of up to 100 million generated vectors of {@value LargeSet#DIMENSION} bytes: builds
 * it in one merge on the device, and searches it. What a process has finished is kept under {@code
 * large} in the home folder, and the next one goes on from there: the vectors, which sets of all
 * sizes share, the index, and the exact neighbours.
 *
 * <p>With {@code --device=-1} the CPU builds and searches. With {@code --methods=delete} the file
 * of generated vectors is deleted when the index, which has them, too, is finished.
 */
final class LargeStage implements Stage {

  static final String SECTION = "large";

  /** What a stage does. */
  enum Part {
    /** Generates the vectors and builds the index. */
    BUILD,
    /** Finds exact neighbours and searches. */
    SEARCH
  }

  private static final double TARGET = 0.95;
  // recall of a quarter of the ordinals below which something is wrong with their offsets
  private static final double LEAST = 0.7;
  private static final int[] BEAMS = {
    10, 12, 14, 16, 18, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 128, 160, 192, 256
  };
  // queries whose exact neighbours are found
  private static final int JUDGED = 1_000;
  private static final int JUDGED_ON_CPU = 100;
  private static final int CALLERS = 3;
  private static final int SAMPLES = 25;
  private static final int SINGLE_SAMPLES = 200;
  private static final double WARM_UP_SECONDS = 2;
  // most of the device's memory for the segment; where the graph is mapped, what holds its codes in
  // rows of whole 16 bytes, and little else
  private static final double MOST_PERCENT = 90;
  private static final long BESIDE_CODES = 64L << 20;
  // walks by codes re-rank the whole beam, or half of it
  private static final int[] PARTS_RE_RANKED = {1, 2};
  private static final int[] NOTHING_RE_RANKED = {1};
  private static final List<Placement> PLACEMENTS =
      List.of(Placement.EXACT, Placement.MAPPED_GRAPH);

  private final int size;
  private final List<Part> parts;
  private final Supplier<CudaDriver> drivers;
  private final VamanaParameters parameters;

  /**
   * Makes a stage.
   *
   * @param subspaces length of a code in bytes, or {@link VamanaParameters#AUTO_SUBSPACES}
   */
  LargeStage(int millions, int subspaces, Part... parts) {
    this(
        millions * 1_000_000,
        Gpu::openDriver,
        VamanaParameters.DEFAULT.withSubspaces(subspaces),
        parts);
  }

  /** Makes a stage with other devices and parameters. */
  LargeStage(int size, Supplier<CudaDriver> drivers, VamanaParameters parameters, Part... parts) {
    this.size = size;
    this.drivers = drivers;
    this.parameters = parameters;
    this.parts = List.of(parts);
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    int n = Math.min(size, context.options().limit());
    Path folder = folder(context);
    Path index = index(folder, n, parameters);
    boolean device = context.options().device() >= 0;
    if (parts.contains(Part.BUILD)) {
      if (LargeIndex.isThere(index)) {
        context.say("%s is there", index);
      } else {
        build(context, folder, index, n, device);
      }
    }
    if (parts.contains(Part.SEARCH)) {
      search(context, folder, index, n, device);
    }
  }

  /** Returns the folder that all stages of large segments share. */
  static Path folder(Context context) {
    return context.options().home().resolve("large");
  }

  /** Returns the folder of the index with a graph over {@code n} vectors. */
  static Path index(Path folder, int n, VamanaParameters parameters) {
    int subspaces = parameters.subspaces();
    return folder.resolve(
        "index-"
            + n
            + "-r"
            + parameters.maxDegree()
            + (subspaces == VamanaParameters.AUTO_SUBSPACES ? "" : "-pq" + subspaces));
  }

  private void build(Context context, Path folder, Path index, int n, boolean device)
      throws IOException {
    Map<String, Object> row = row(n, LargeTables.BUILD);
    try (LargeVectors vectors = LargeVectors.open(context, folder, n)) {
      LargeIndex.Built built;
      if (device) {
        built = buildOnDevice(context, index, vectors, row);
      } else {
        built = LargeIndex.measured(context, index, vectors, parameters, row, () -> null);
      }
      row.put("seconds", Samples.round(built.seconds(), 2));
      row.put("graph_seconds", Samples.round(built.graph(), 2));
      row.put("codes_seconds", Samples.round(built.codes(), 2));
      row.put("vectors_per_second", Samples.round(n / built.seconds(), 0));
    }
    if (context.options().methods().contains("delete")) {
      LargeVectors.delete(folder);
    }
    try (LargeIndex opened = LargeIndex.open(index, n)) {
      Map<String, Long> bytes = opened.bytes();
      row.put("disk_bytes", bytes.values().stream().mapToLong(Long::longValue).sum());
      row.put("graph_bytes", bytes.get("vex"));
      row.put("code_bytes", bytes.get("veq"));
      row.put("mean_degree", Samples.round(opened.view().meanDegree(), 3));
    }
    context.fragment().add(SECTION, row);
    context.say("%s", row);
  }

  private LargeIndex.Built buildOnDevice(
      Context context, Path index, LargeVectors vectors, Map<String, Object> row)
      throws IOException {
    try (Gpu gpu = Gpu.open(drivers, Placement.EXACT, Tuning.DEFAULT);
        ExecutorRegistry.Installation installation =
            ExecutorRegistry.install(() -> new DeviceOnly(gpu.executor()))) {
      if (installation.executor() instanceof DeviceOnly == false) {
        throw new IllegalStateException("another executor is installed");
      }
      context.fragment().set("device", gpu.device());
      context.fragment().set("driver", gpu.driver());
      LargeIndex.Built built =
          LargeIndex.measured(context, index, vectors, parameters, row, gpu::currentDriver);
      Map<String, Object> phases = new TreeMap<>();
      gpu.graphs()
          .forEach(
              (name, value) -> {
                if (name.endsWith("_nanos")) {
                  phases.put(name.replace("_nanos", "_seconds"), Samples.round(value * 1e-9, 2));
                }
              });
      row.put("phases", phases);
      row.put("in_host_memory", gpu.graphs().get("in_host_memory"));
      return built;
    }
  }

  private Map<String, Object> row(int n, String what) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", LargeSet.NAME + "-" + n);
    row.put("n", n);
    row.put("what", what);
    row.put("max_degree", parameters.maxDegree());
    if (parameters.subspaces() != VamanaParameters.AUTO_SUBSPACES) {
      row.put("subspaces", parameters.subspaces());
    }
    return row;
  }

  private void search(Context context, Path folder, Path path, int n, boolean device)
      throws IOException, InterruptedException {
    long start = System.nanoTime();
    try (LargeIndex index = LargeIndex.open(path, n)) {
      context.say("opened in %.2f s", (System.nanoTime() - start) * 1e-9);
      LargeTruth truth = truth(context, folder, index, n, device ? drivers : null);
      QueryVector[] queries =
          Arrays.stream(new LargeSet().queries(batch(context)))
              .map(QueryVector::of)
              .toArray(QueryVector[]::new);
      if (device == false) {
        SearchExecutor cpu = new CpuExecutor(context.workers());
        measure(context, index, truth, queries, cpu, row(n, "cpu"), WalkParameters::exact);
        return;
      }
      for (Placement placement : PLACEMENTS) {
        List<String> chosen = context.options().placements();
        if (chosen.isEmpty() || chosen.contains(placement.settingName())) {
          onDevice(context, index, truth, queries, placement);
        }
      }
    }
  }

  /** Returns the largest batch size of the options, which is the number of queries, too. */
  static int batch(Context context) {
    return context.options().batches().stream().mapToInt(Integer::intValue).max().orElseThrow();
  }

  /**
   * Returns exact neighbours of the first queries, which are kept in the folder.
   *
   * @param drivers gives a device, or null to ask the CPU about fewer queries
   */
  static LargeTruth truth(
      Context context, Path folder, LargeIndex index, int n, Supplier<CudaDriver> drivers)
      throws IOException {
    int most = Math.min(batch(context), drivers != null ? JUDGED : JUDGED_ON_CPU);
    byte[][] queries = new LargeSet().queries(most);
    Path file = folder.resolve("neighbours-" + n + "-" + queries.length);
    MemorySegment rows = index.view().vectorsRegion().segment();
    if (drivers == null) {
      return LargeTruth.of(context, file, rows, index::values, queries, null);
    }
    try (CudaDriver driver = drivers.get()) {
      driver.bind();
      return LargeTruth.of(context, file, rows, index::values, queries, driver);
    }
  }

  private void onDevice(
      Context context,
      LargeIndex index,
      LargeTruth truth,
      QueryVector[] queries,
      Placement placement)
      throws IOException, InterruptedException {
    SegmentView view = index.view();
    long start = System.nanoTime();
    MemoryLimit limit =
        placement == Placement.EXACT
            ? MemoryLimit.percent(MOST_PERCENT)
            : MemoryLimit.bytes(view.codesRegion().length() * 2 + BESIDE_CODES);
    try (Gpu gpu = OpenGpu.open(drivers, placement, BatchOptions.DEFAULT, Gpu.WALKS, limit)) {
      context.fragment().set("device", gpu.device());
      context.fragment().set("driver", gpu.driver());
      gpu.executor().opened(view);
      gpu.await(List.of(view));
      double placed = (System.nanoTime() - start) * 1e-9;
      Gpu.Counts counts = gpu.counts();
      context.say(
          "%s: placed in %.1f s, %,d bytes on the device, %,d registered",
          placement.settingName(), placed, counts.deviceBytes(), counts.pinnedBytes());
      for (int parents : new int[] {1, 4}) {
        for (int part : placement == Placement.EXACT ? NOTHING_RE_RANKED : PARTS_RE_RANKED) {
          Map<String, Object> row = row(view.size(), placement.settingName());
          row.put("parents", parents);
          if (part > 1) {
            row.put("variant", "re-ranks 1/" + part + " of the beam");
          }
          row.put("placed_seconds", Samples.round(placed, 2));
          row.put("device_limit", limit.toString());
          row.put("device_bytes", counts.deviceBytes());
          row.put("pinned_bytes", counts.pinnedBytes());
          measure(
              context, index, truth, queries, gpu.executor(), row, walk(placement, parents, part));
          if (gpu.counts().fallbacks() > 0) {
            throw new IllegalStateException("the CPU answered: " + gpu.fallbacks());
          }
        }
      }
    }
  }

  /** Returns walks by beam, which re-rank a part of it where they compare codes. */
  private static IntFunction<WalkParameters> walk(Placement placement, int parents, int part) {
    if (placement == Placement.EXACT) {
      return beam -> new WalkParameters(beam, WalkParameters.Distances.EXACT, parents, 0);
    }
    return beam ->
        new WalkParameters(
            beam,
            WalkParameters.Distances.QUANTIZED,
            parents,
            Math.min(beam, Math.max(2 * LargeTruth.K, beam / part)));
  }

  /** Finds the narrowest beam that reaches the recall, and times it. */
  private static void measure(
      Context context,
      LargeIndex index,
      LargeTruth truth,
      QueryVector[] queries,
      SearchExecutor executor,
      Map<String, Object> row,
      IntFunction<WalkParameters> walk)
      throws IOException, InterruptedException {
    QueryVector[] judged = Arrays.copyOf(queries, truth.queries().length);
    BatchRun sample = new BatchRun(executor, index.view(), judged, LargeTruth.K);
    List<Map<String, Object>> curve = new ArrayList<>();
    int beam = 0;
    double recall = 0;
    double least = 0;
    for (int i = 0; i < BEAMS.length && recall < TARGET; i++) {
      beam = BEAMS[i];
      int[][] hits = sample.hits(walk.apply(beam));
      recall = truth.recall(hits, index.values());
      least = truth.leastRecallOfQuarter(hits, index.view().size());
      curve.add(Map.of("beam", beam, "recall_at_10", Samples.round(recall, 5)));
      context.say("beam %d: recall@10 %.4f", beam, recall);
    }
    row.put("beam", beam);
    row.put("recall_at_10", Samples.round(recall, 5));
    row.put("least_of_a_quarter", Samples.round(least, 5));
    if (least < LEAST) {
      throw new IllegalStateException("of a quarter of the ordinals " + least + " is found");
    }
    boolean device = executor instanceof CpuExecutor == false;
    double seconds = context.options().seconds();
    BatchRun run = new BatchRun(executor, index.view(), queries, LargeTruth.K);
    int batch = device ? queries.length : judged.length;
    int callers = device ? CALLERS : 1;
    run.time(walk.apply(beam), batch, callers, Math.min(WARM_UP_SECONDS, 5 * seconds), 1);
    double[] batches = run.time(walk.apply(beam), batch, callers, seconds, SAMPLES);
    double[] alone = run.time(walk.apply(beam), 1, 1, seconds, SINGLE_SAMPLES);
    row.put("batch", batch);
    row.put("callers", callers);
    row.put("qps", Samples.round(Samples.qps(batch, callers, batches), 0));
    row.put("p50_us_of_one", Samples.round(Samples.median(alone), 1));
    row.put("curve", curve);
    context.fragment().add(SECTION, row);
    context.say("%s", row);
  }
}
