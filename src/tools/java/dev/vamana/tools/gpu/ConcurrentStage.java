package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;

/**
 * Measures single queries of many threads over an index of one or several segments, as a search
 * server sends them: with Lucene's own query, with one task a segment, and with the batched API.
 * Launches per query and mean batch size come from the executor's counters.
 */
final class ConcurrentStage implements Stage {

  private static final int K = BenchStage.K;
  private static final double TARGET = 0.99;

  private static final String ONE_BY_ONE = "query";
  private static final String TASKS = "query, a task a segment";
  private static final String BATCHED = "batched";
  private static final String NONE_AHEAD = ", none ahead";

  /** So many threads search segments that no segment of a query waits for one, in most cases. */
  private static final int TASK_THREADS = 192;

  private final String setName;

  /**
   * A way to send queries.
   *
   * @param name name in the report
   */
  private record Way(String name, Asker asker) {}

  ConcurrentStage(String setName) {
    this.setName = setName;
  }

  /** Answers one query. */
  interface Asker {
    TopDocs ask(float[] query) throws IOException;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    for (int segments : context.options().segmentCounts()) {
      try (SetIndex index = open(context, set, segments)) {
        context.say("%d segments built in %.1f s", segments, index.buildSeconds());
        List<SegmentView> views =
            index.reader().leaves().stream().map(leaf -> SetIndex.view(leaf.reader())).toList();
        boolean coded = true;
        for (SegmentView view : views) {
          coded &= view.codebook() != null;
        }
        for (Lane lane : Lane.chosen(context.options())) {
          if (lane.quantized() && coded == false) {
            context.say("%s: left out, segments of this size have no codes", lane.name());
            continue;
          }
          BatchOptions batches = BatchOptions.DEFAULT;
          measure(context, set, index, lane, views, batches);
          if (lane.placement() != null && segments > 1) {
            measure(context, set, index, lane, views, batches.withSegmentsAhead(false));
          }
        }
      }
    }
  }

  private static SetIndex open(Context context, SuiteSet set, int segments) throws IOException {
    if (segments == 1) {
      return BenchStage.index(context, set);
    }
    String name = set.vectors().name() + "-" + set.vectors().base().size() + "-vamana-" + segments;
    return SetIndex.open(
        context.options().home().resolve("index").resolve(name),
        set,
        new VamanaVectorsFormat(VamanaParameters.DEFAULT, context.workers()),
        segments,
        1);
  }

  private static void measure(
      Context context,
      SuiteSet set,
      SetIndex index,
      Lane lane,
      List<SegmentView> views,
      BatchOptions batches)
      throws IOException, InterruptedException {
    String suffix = batches.segmentsAhead() ? "" : NONE_AHEAD;
    try (OpenLane open = lane.open(context, batches, views);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(open::executor);
        ExecutorService tasks = Executors.newFixedThreadPool(TASK_THREADS)) {
      if (open.gpu() != null) {
        open.gpu().batches(0, TimeUnit.MICROSECONDS.toNanos(context.options().linger()));
      }
      IndexSearcher alone = index.searcher();
      IndexSearcher parallel = new IndexSearcher(index.reader(), tasks);
      BatchedKnn batched = new BatchedKnn(alone, installation.executor());
      int beam = narrowest(set, lane, batched);
      if (beam < 0) {
        context.say("%s: no beam reaches recall %.2f", lane.name(), TARGET);
        return;
      }
      WalkParameters walk = walk(lane, beam);
      VamanaSearchStrategy strategy = new VamanaSearchStrategy(walk);
      List<Way> ways = new ArrayList<>();
      ways.add(new Way(ONE_BY_ONE, query -> search(alone, query, strategy)));
      if (views.size() > 1) {
        ways.add(new Way(TASKS, query -> search(parallel, query, strategy)));
      }
      ways.add(
          new Way(
              BATCHED,
              query ->
                  batched
                      .search(SetIndex.FIELD, List.of(QueryVector.of(query)), walk, K, null)[0]));
      for (Way way : ways) {
        String name = way.name() + suffix;
        if (context.options().methods().isEmpty() || context.options().methods().contains(name)) {
          for (int threads : context.options().clients()) {
            Cell cell = new Cell(views.size(), lane, name, threads, walk);
            measure(context, set, open.gpu(), way.asker(), cell);
          }
        }
      }
    }
  }

  /** Returns a walk with as many parents as a node's walks have by default. */
  private static WalkParameters walk(Lane lane, int beam) {
    WalkParameters walk =
        lane.quantized() ? WalkParameters.quantized(beam, beam) : WalkParameters.exact(beam);
    return walk.withParents(ExecutorRegistry.current().defaultWalk(K).parents());
  }

  /** Returns the narrowest beam that reaches the recall, or -1. */
  private static int narrowest(SuiteSet set, Lane lane, BatchedKnn batched)
      throws IOException, InterruptedException {
    List<QueryVector> queries =
        Arrays.stream(set.vectors().queries().rows()).map(QueryVector::of).toList();
    return BeamSweep.run(
            new Recall(set.vectors(), K),
            beam -> {
              TopDocs[] found = batched.search(SetIndex.FIELD, queries, walk(lane, beam), K, null);
              return Arrays.stream(found).map(ConcurrentStage::docs).toArray(int[][]::new);
            })
        .narrowest(TARGET);
  }

  /** What is measured. */
  private record Cell(int segments, Lane lane, String variant, int threads, WalkParameters walk) {}

  private static void measure(Context context, SuiteSet set, Gpu gpu, Asker asker, Cell cell)
      throws IOException, InterruptedException {
    // warm-up: the first round runs code that is not compiled yet
    ask(set, asker, cell.threads(), context.options().seconds());
    Gpu.Counts before = gpu == null ? null : gpu.counts();
    Asked asked = ask(set, asker, cell.threads(), 3 * context.options().seconds());
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("n", set.vectors().base().size());
    row.put("segments", cell.segments());
    row.put("placement", cell.lane().name());
    row.put("variant", cell.variant());
    row.put("callers", cell.threads());
    row.put("beam", cell.walk().beamWidth());
    row.put("parents", cell.walk().parents());
    row.put("recall_at_10", Samples.round(asked.recall, 5));
    row.put("qps", Samples.round(asked.count / asked.seconds, 1));
    row.put("p50_us", Samples.round(Samples.median(asked.microseconds), 1));
    row.put("p99_us", Samples.round(percentile(asked.microseconds, 0.99), 1));
    if (before != null) {
      Gpu.Counts counts = gpu.counts().since(before);
      row.put("launches_per_query", Samples.round(counts.launches() / (double) asked.count, 4));
      row.put(
          "mean_batch",
          Samples.round(counts.answered() / (double) Math.max(1, counts.launches()), 2));
      row.put("items_on_cpu", counts.fallbacks());
    }
    context.fragment().add("concurrent", row);
    context.say("%s", row);
  }

  private static TopDocs search(
      IndexSearcher searcher, float[] query, VamanaSearchStrategy strategy) throws IOException {
    return searcher.search(new KnnFloatVectorQuery(SetIndex.FIELD, query, K, null, strategy), K);
  }

  /**
   * What came of queries.
   *
   * @param recall recall@10
   * @param microseconds time of each query
   */
  record Asked(long count, double seconds, double recall, double[] microseconds) {}

  /**
   * Returns a quantile.
   *
   * @param share 0 to 1
   */
  static double percentile(double[] values, double share) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[(int) (share * (sorted.length - 1))];
  }

  /**
   * Asks with some threads, each one query after the other. Recall is computed afterwards: ten
   * distances to vectors all over the heap would take a third of the processors from the searches.
   */
  static Asked ask(SuiteSet set, Asker asker, int threads, double seconds)
      throws IOException, InterruptedException {
    float[][] queries = set.vectors().queries().rows();
    Recall recall = new Recall(set.vectors(), K);
    ConcurrentLinkedQueue<double[]> samples = new ConcurrentLinkedQueue<>();
    AtomicReference<Throwable> failure = new AtomicReference<>();
    CountDownLatch start = new CountDownLatch(1);
    long[] hits = new long[threads];
    long[] ends = new long[threads];
    List<Thread> all = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      int id = t;
      Thread thread =
          new Thread(
              () -> {
                try {
                  start.await();
                  List<Double> own = new ArrayList<>();
                  List<int[]> answers = new ArrayList<>();
                  int first = id * 41;
                  long last = System.nanoTime();
                  long end = last + (long) (seconds * 1e9);
                  for (int i = first; last < end; i++) {
                    // each request of a server has its own array
                    TopDocs found = asker.ask(queries[i % queries.length].clone());
                    long now = System.nanoTime();
                    own.add((now - last) * 1e-3);
                    answers.add(docs(found));
                    last = now;
                  }
                  ends[id] = last;
                  samples.add(own.stream().mapToDouble(Double::doubleValue).toArray());
                  for (int i = 0; i < answers.size(); i++) {
                    hits[id] += recall.hits((first + i) % queries.length, answers.get(i));
                  }
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              },
              "ask-" + t);
      all.add(thread);
      thread.start();
    }
    long begin = System.nanoTime();
    start.countDown();
    for (Thread thread : all) {
      thread.join();
    }
    double elapsed = (Arrays.stream(ends).max().orElse(begin) - begin) * 1e-9;
    if (failure.get() != null) {
      throw new IOException("a search failed", failure.get());
    }
    double[] microseconds = samples.stream().flatMapToDouble(Arrays::stream).toArray();
    return new Asked(
        microseconds.length,
        elapsed,
        Arrays.stream(hits).sum() / (double) (K * microseconds.length),
        microseconds);
  }

  /** Returns documents, which equal rows, since segments hold consecutive rows in order. */
  private static int[] docs(TopDocs found) {
    int[] docs = new int[found.scoreDocs.length];
    for (int i = 0; i < docs.length; i++) {
      ScoreDoc hit = found.scoreDocs[i];
      docs[i] = hit.doc;
    }
    return docs;
  }
}
