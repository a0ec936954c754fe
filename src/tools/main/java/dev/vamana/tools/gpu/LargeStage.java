package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Place;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Precision;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.figures.Figures.Subject;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * One segment of up to 100 million generated vectors of {@value LargeSet#DIMENSION} bytes, with a
 * graph or inverted lists: builds it in one merge on the device, and searches it. What a process
 * has finished is kept under {@code large} in the home folder, and the next one goes on from there:
 * the vectors, which sets of all sizes share, the index, and the exact neighbours.
 *
 * <p>With {@code --device=-1} the CPU builds and searches. With {@code --methods=delete} the file
 * of generated vectors is deleted when the index, which has them, too, is finished.
 */
final class LargeStage implements Stage {

  /** Task of a stage. */
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
    10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 80, 96, 128, 160, 192, 256, 384, 512
  };

  // queries whose exact neighbours are found
  private static final int JUDGED = 1_000;
  private static final int JUDGED_ON_CPU = 100;
  private static final int CALLERS = 3;
  private static final double WARM_UP_SECONDS = 2;
  private static final int PARENTS = 4;

  // beside the codes, in rows of whole 16 bytes, where the graph is mapped
  private static final long BESIDE_CODES = 64L << 20;

  private final int size;
  private final boolean lists;
  private final List<Part> parts;

  LargeStage(int size, boolean lists, Part... parts) {
    this.size = size;
    this.lists = lists;
    this.parts = List.of(parts);
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    int n = Math.min(size, context.options().limit());
    Path folder = context.options().home().resolve("large");
    Path path = folder.resolve("index-" + n + "-" + method());
    if (parts.contains(Part.BUILD)) {
      if (LargeIndex.isThere(path)) {
        context.say("%s is there", path);
      } else {
        build(context, folder, path, n);
      }
    }
    if (parts.contains(Part.SEARCH)) {
      search(context, folder, path, n);
    }
  }

  private String method() {
    return lists ? "vamana-ivf" : "vamana";
  }

  private static Subject subject(int n) {
    return new Subject(LargeSet.NAME, n, LargeSet.DIMENSION);
  }

  private void build(Context context, Path folder, Path path, int n) throws IOException {
    VamanaParameters parameters =
        lists ? BuildStage.listParameters(context.parameters()) : context.parameters();
    LargeIndex.Built built;
    try (LargeVectors vectors = LargeVectors.open(context, folder, n)) {
      built =
          context.onDevice()
              ? buildOnDevice(context, path, vectors, parameters)
              : LargeIndex.build(context, path, vectors, parameters);
    }
    int threads = context.workers().threads();
    context.built(subject(n), method() + " index", threads, built.seconds());
    context.built(subject(n), method(), threads, built.graph() + built.lists());
    if (context.options().methods().contains("delete")) {
      LargeVectors.delete(folder);
    }
    try (LargeIndex opened = LargeIndex.open(path, n)) {
      context.say("bytes of files: %s, codes in %.1f s", opened.bytes(), built.codes());
    }
  }

  private LargeIndex.Built buildOnDevice(
      Context context, Path path, LargeVectors vectors, VamanaParameters parameters)
      throws IOException {
    try (Gpu gpu = Gpu.open(context.driver(), Placement.EXACT, Tuning.DEFAULT);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor)) {
      if (installation.executor() != gpu.executor()) {
        throw new IllegalStateException("another executor is installed");
      }
      LargeIndex.Built built = LargeIndex.build(context, path, vectors, parameters);
      var counters = gpu.executor().statistics().counters();
      context.say("graphs: %s, training: %s", counters.get("graphs"), counters.get("training"));
      if (lists
          ? counters.get("training").get("vectors_assigned") < vectors.size()
          : counters.get("graphs").get("graphs") != 1) {
        throw new IllegalStateException("the CPU has built");
      }
      return built;
    }
  }

  private void search(Context context, Path folder, Path path, int n)
      throws IOException, InterruptedException {
    try (LargeIndex index = LargeIndex.open(path, n)) {
      LargeTruth truth = truth(context, folder, index, n);
      QueryVector[] queries =
          Arrays.stream(new LargeSet().queries(context.options().largestBatch()))
              .map(QueryVector::of)
              .toArray(QueryVector[]::new);
      if (context.onDevice() == false) {
        measure(
            context,
            index,
            truth,
            queries,
            new Lane(method(), Lane.CPU, false, new CpuExecutor(context.workers()), null));
        return;
      }
      List<Placement> usual =
          lists ? List.of(Placement.EXACT) : List.of(Placement.EXACT, Placement.MAPPED_GRAPH);
      for (Placement placement : context.options().placementsOr(usual)) {
        onDevice(context, index, truth, queries, placement);
      }
    }
  }

  /** Returns exact neighbours of the first queries, which are kept in the folder. */
  private static LargeTruth truth(Context context, Path folder, LargeIndex index, int n)
      throws IOException {
    boolean device = context.onDevice();
    int most = Math.min(context.options().largestBatch(), device ? JUDGED : JUDGED_ON_CPU);
    byte[][] queries = new LargeSet().queries(most);
    Path file = folder.resolve("neighbours-" + n + "-" + queries.length);
    MemorySegment rows = index.view().vectorsRegion().segment();
    if (device == false) {
      return LargeTruth.of(context, file, rows, index::values, queries, null);
    }
    try (CudaDriver driver = context.driver().get()) {
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
        placement.place() == Place.DEVICE
            ? Gpu.MOST_MEMORY
            : MemoryLimit.bytes(view.codesRegion().length() * 2 + BESIDE_CODES);
    try (Gpu gpu = Gpu.open(context.driver(), placement, BatchOptions.DEFAULT, limit)) {
      gpu.executor().opened(view);
      gpu.await(List.of(view));
      context.say(
          "%s: placed in %.1f s, %s",
          placement.settingName(), (System.nanoTime() - start) * 1e-9, gpu.counts());
      Lane lane =
          new Lane(
              method(),
              placement.settingName(),
              placement.precision() == Precision.PQ,
              gpu.executor(),
              gpu);
      measure(context, index, truth, queries, lane);
      lane.check();
    }
  }

  /** Returns a walk, which re-ranks its whole beam where it compares codes. */
  private static WalkParameters walk(Lane lane, int beam) {
    return lane.quantized()
        ? new WalkParameters(beam, WalkParameters.Distances.QUANTIZED, PARENTS, beam)
        : new WalkParameters(beam, WalkParameters.Distances.EXACT, PARENTS, 0);
  }

  /** Finds the narrowest beam that reaches the recall, and times it. */
  private static void measure(
      Context context, LargeIndex index, LargeTruth truth, QueryVector[] queries, Lane lane)
      throws IOException, InterruptedException {
    QueryVector[] judged = Arrays.copyOf(queries, truth.queries().length);
    BatchRun sample = new BatchRun(lane.executor(), index.view(), judged, LargeTruth.K);
    WalkParameters walk = null;
    double recall = 0;
    double least = 0;
    for (int i = 0; i < BEAMS.length && recall < TARGET; i++) {
      walk = walk(lane, BEAMS[i]);
      int[][] hits = sample.hits(walk);
      recall = truth.recall(hits, index.values());
      least = truth.leastRecallOfQuarter(hits, index.view().size());
      context.say("beam %d: recall@10 %.4f", BEAMS[i], recall);
    }
    if (least < LEAST) {
      throw new IllegalStateException("of a quarter of the ordinals " + least + " is found");
    }
    double seconds = context.options().seconds();
    BatchRun run = new BatchRun(lane.executor(), index.view(), queries, LargeTruth.K);
    int batch = lane.gpu() != null ? queries.length : judged.length;
    int callers = lane.gpu() != null ? CALLERS : 1;
    run.time(walk, batch, callers, Math.min(WARM_UP_SECONDS, 5 * seconds));
    Subject of = subject(index.view().size());
    context.searched(
        of,
        lane.method(),
        lane.name(),
        batch,
        callers,
        recall,
        run.time(walk, batch, callers, seconds));
    context.searched(of, lane.method(), lane.name(), 1, 1, recall, run.time(walk, 1, 1, seconds));
  }
}
