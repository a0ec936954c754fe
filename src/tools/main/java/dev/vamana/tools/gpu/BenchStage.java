package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.memory.Placement;
import java.io.IOException;
import java.util.List;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;

/**
 * Measures recall and queries per second of every placement and batch size, on one set: walks of
 * the graph, of the graph that Lucene's HNSW format has stored, or searches of inverted lists.
 */
final class BenchStage implements Stage {

  static final int K = 10;

  static final String LISTS = "vamana-ivf";

  /** The kind of index that is searched. */
  enum Kind {
    /** Our graph. */
    GRAPH("vamana-gpu"),
    /** Inverted lists. */
    LISTS(BenchStage.LISTS),
    /** Level 0 of Lucene's graph. */
    STOCK("stock-hnsw-gpu");

    private final String method;

    Kind(String method) {
      this.method = method;
    }

    /** Returns the name of the method in figures. */
    String method() {
      return method;
    }

    /** Returns the format of the index. */
    KnnVectorsFormat format(Context context) {
      return switch (this) {
        case GRAPH -> new VamanaVectorsFormat(context.parameters(), context.workers());
        case LISTS -> BuildStage.lists(context);
        case STOCK -> new Lucene99HnswVectorsFormat();
      };
    }
  }

  // on an H200 machine a call became faster for two seconds; in multiples of a measurement:
  // whoever measures milliseconds does not care for compiled code
  private static final double WARM_UP_SECONDS = 4;
  private static final double WARM_UP_SHARE = 40;
  private static final int LARGE = 10_000;

  /** Callers of large batches, so that one batch is prepared while another runs. */
  private static final int CALLERS = 3;

  private static final List<Placement> GRAPH_PLACEMENTS =
      List.of(
          Placement.EXACT,
          Placement.EXACT_FLOAT16,
          Placement.EXACT_INT8,
          Placement.IN_MEMORY,
          Placement.MAPPED_GRAPH);

  private final String setName;
  private final Kind kind;

  BenchStage(String setName, Kind kind) {
    this.setName = setName;
    this.kind = kind;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = opened(context, set)) {
      float[][] pool = QueryPool.of(set.vectors(), index.view(), context.options().largestBatch());
      List<Placement> usual =
          switch (kind) {
            case GRAPH -> GRAPH_PLACEMENTS;
            case LISTS -> List.of(Placement.EXACT);
            case STOCK -> List.of(Placement.EXACT, Placement.EXACT_INT8);
          };
      for (Placement placement : Lane.placements(context.options(), usual)) {
        try (Lane lane = Lane.open(context, kind.method, placement, List.of(index.view()))) {
          measure(context, set, index, pool, lane);
        } catch (IllegalStateException e) {
          // the other placements are measured regardless
          context.say("%s: %s", placement, e);
        }
      }
    }
  }

  /** Opens an index with a graph, and records its build. */
  static SetIndex index(Context context, SuiteSet set) throws IOException {
    return opened(context, set, "vamana", Kind.GRAPH.format(context));
  }

  private SetIndex opened(Context context, SuiteSet set) throws IOException {
    return kind == Kind.GRAPH
        ? index(context, set)
        : opened(context, set, kind.method, kind.format(context));
  }

  private static SetIndex opened(
      Context context, SuiteSet set, String method, KnnVectorsFormat format) throws IOException {
    SetIndex index = SetIndex.open(context.index(set.index(method)), set, format, 1, 1);
    int threads = format instanceof VamanaVectorsFormat ? context.workers().threads() : 1;
    context.built(set.subject(), method + " index", threads, index.buildSeconds());
    return index;
  }

  private static void measure(
      Context context, SuiteSet set, SetIndex index, float[][] pool, Lane lane)
      throws IOException, InterruptedException {
    BatchRun run = new BatchRun(lane.executor(), index.view(), set.vectors().queries().rows(), K);
    BatchRun pooled = new BatchRun(lane.executor(), index.view(), pool, K);
    double seconds = context.options().seconds();
    run.time(lane.walk(32), 1_000, 1, Math.min(WARM_UP_SECONDS, WARM_UP_SHARE * seconds));
    lane.check();
    BeamSweep sweep = BeamSweep.run(run, set.vectors(), lane);
    context.say(
        "%s %s %s: recalls by beam %s",
        set.subject().set(), lane.method(), lane.name(), sweep.recalls());
    for (int beam : sweep.beams()) {
      double recall = sweep.recalls().get(beam);
      for (int batch : context.options().batches()) {
        for (int callers : batch < LARGE ? new int[] {1} : new int[] {1, CALLERS}) {
          // the JVM takes compiled code back at the first larger batch
          pooled.time(lane.walk(beam), batch, callers, seconds / 2);
          context.searched(
              set.subject(),
              lane.method(),
              lane.name(),
              batch,
              callers,
              recall,
              pooled.time(lane.walk(beam), batch, callers, seconds));
        }
      }
    }
    lane.check();
  }
}
