package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.TopDocs;

/**
 * Measures single queries of many threads over an index of one or several segments, as a search
 * server sends them: with Lucene's own query, with one task a segment, and with the batched API.
 */
final class ConcurrentStage implements Stage {

  private static final int K = BenchStage.K;
  private static final double TARGET = 0.99;

  /** So many threads search segments that no segment of a query waits for one, in most cases. */
  private static final int TASK_THREADS = 192;

  private final String setName;

  ConcurrentStage(String setName) {
    this.setName = setName;
  }

  /** Answers one query. */
  private interface Asker {
    TopDocs ask(float[] query) throws IOException;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    for (int segments : context.options().segments()) {
      try (SetIndex index = open(context, set, segments)) {
        for (Placement placement :
            Lane.placements(context.options(), List.of(Placement.EXACT, Placement.EXACT_INT8))) {
          try (Lane lane = Lane.open(context, "concurrent", placement, index.views());
              ExecutorRegistry.Installation installed = ExecutorRegistry.install(lane::executor);
              ExecutorService tasks = Executors.newFixedThreadPool(TASK_THREADS)) {
            context.say("%s by %s", lane.name(), installed.executor().name());
            measure(context, set, index, lane, tasks);
          }
        }
      }
    }
  }

  private static SetIndex open(Context context, SuiteSet set, int segments) throws IOException {
    return segments == 1
        ? BenchStage.index(context, set)
        : SetIndex.open(
            context.index(set.index("vamana-" + segments)),
            set,
            new VamanaVectorsFormat(context.parameters(), context.workers()),
            segments,
            1);
  }

  private static void measure(
      Context context, SuiteSet set, SetIndex index, Lane lane, ExecutorService tasks)
      throws IOException, InterruptedException {
    int segments = index.reader().leaves().size();
    IndexSearcher alone = index.searcher();
    BatchedKnn batched = new BatchedKnn(alone, lane.executor());
    List<QueryVector> queries =
        Arrays.stream(set.vectors().queries().rows()).map(QueryVector::of).toList();
    BeamSweep sweep =
        BeamSweep.run(
            new Recall(set.vectors(), K),
            width ->
                Arrays.stream(batched.search(SetIndex.FIELD, queries, lane.walk(width), K, null))
                    .map(ConcurrentStage::docs)
                    .toArray(int[][]::new));
    int beam = sweep.narrowest(TARGET);
    if (beam < 0) {
      context.say("%s: no beam reaches recall %.2f", lane.name(), TARGET);
      return;
    }
    WalkParameters walk = lane.walk(beam);
    IndexSearcher parallel = new IndexSearcher(index.reader(), tasks);
    Map<String, Asker> ways = new LinkedHashMap<>();
    ways.put("query", query -> search(alone, query, walk));
    if (segments > 1) {
      ways.put("tasks", query -> search(parallel, query, walk));
    }
    ways.put(
        "batched",
        query -> batched.search(SetIndex.FIELD, List.of(QueryVector.of(query)), walk, K, null)[0]);
    for (Map.Entry<String, Asker> way : ways.entrySet()) {
      if (context.options().wants(way.getKey())) {
        for (int threads : context.options().clients()) {
          String method = "concurrent " + way.getKey() + " of " + segments;
          double recall = sweep.recalls().get(beam);
          measure(context, set, lane, way.getValue(), method, threads, recall);
        }
      }
    }
  }

  private static void measure(
      Context context,
      SuiteSet set,
      Lane lane,
      Asker asker,
      String method,
      int threads,
      double recall)
      throws IOException, InterruptedException {
    float[][] queries = set.vectors().queries().rows();
    double seconds = context.options().seconds();
    // each request of a server has its own array
    Callers.Opener asking =
        id -> number -> asker.ask(queries[(id * 41 + number) % queries.length].clone());
    Callers.loop(threads, seconds, 1, asking);
    Gpu.Counts before = lane.gpu() == null ? null : lane.gpu().counts();
    Callers.Times times = Callers.loop(threads, 3 * seconds, 1, asking);
    context.searched(
        set.subject(),
        method,
        lane.name(),
        1,
        threads,
        recall,
        times.perSecond(),
        times.quantile(0.5));
    if (before != null) {
      Gpu.Counts counts = lane.gpu().counts().since(before);
      context.say(
          "p99 %.1f us, %.4f launches a query, %s",
          times.quantile(0.99), counts.launches() / (double) times.micros().length, counts);
    }
  }

  private static TopDocs search(IndexSearcher searcher, float[] query, WalkParameters walk)
      throws IOException {
    return searcher.search(
        new KnnFloatVectorQuery(SetIndex.FIELD, query, K, null, new VamanaSearchStrategy(walk)), K);
  }

  /** Returns documents, which equal rows, since segments hold consecutive rows in order. */
  private static int[] docs(TopDocs found) {
    return Arrays.stream(found.scoreDocs).mapToInt(hit -> hit.doc).toArray();
  }
}
