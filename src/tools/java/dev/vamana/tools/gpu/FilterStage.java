package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.tools.benchmark.AcceptQuery;
import dev.vamana.tools.benchmark.Filtering;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;

/**
 * Measures searches with filters: recall, latency of a lone caller and throughput of many, by the
 * share of accepted vectors and by how they lie to the query, beside Lucene's HNSW with the
 * parameters of Elasticsearch. Every query has a filter of its own.
 */
final class FilterStage implements Stage {

  static final String SECTION = "filters";

  private static final int K = BenchStage.K;
  private static final int NUM_CANDIDATES = 100;
  private static final int QUERIES = 100;
  private static final double[] SHARES = {0.5, 0.1, 0.01, 0.001, 0.0001};
  private static final int CALLERS = 64;
  private static final String LUCENE = "lucene-m16-b100";

  private final String setName;

  FilterStage(String setName) {
    this.setName = setName;
  }

  /** A row of the table: filters of one kind. */
  private record Cell(double share, Filtering.Kind kind, Filtering filters) {}

  /** What is measured. */
  private record Subject(String name, IndexSearcher searcher, Gpu gpu) {}

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    int[][] orders =
        Filtering.orders(set.vectors(), Math.min(QUERIES, set.vectors().queries().size()));
    List<Cell> cells = new ArrayList<>();
    for (double share : SHARES) {
      for (Filtering.Kind kind : Filtering.Kind.values()) {
        cells.add(new Cell(share, kind, Filtering.of(orders, kind, share, K)));
      }
    }
    KnnVectorsFormat ours = new VamanaVectorsFormat(VamanaParameters.DEFAULT, context.workers());
    try (SetIndex index = index(context, set, "vamana", ours);
        SetIndex stock = index(context, set, LUCENE, new Lucene99HnswVectorsFormat(16, 100))) {
      measure(context, set, cells, new Subject(LUCENE, stock.searcher(), null));
      for (Lane lane : Lane.chosen(context.options())) {
        try (OpenLane open = lane.open(context, List.of(index.view()));
            ExecutorRegistry.Installation installation = ExecutorRegistry.install(open::executor)) {
          context.say("%s by %s", lane.name(), installation.executor());
          measure(context, set, cells, new Subject(lane.name(), index.searcher(), open.gpu()));
        }
      }
    }
  }

  private static SetIndex index(Context context, SuiteSet set, String name, KnnVectorsFormat format)
      throws IOException {
    int n = set.vectors().base().size();
    return SetIndex.open(
        context
            .options()
            .home()
            .resolve("index")
            .resolve(set.vectors().name() + "-" + n + "-" + name + "-1"),
        set,
        format,
        1,
        1);
  }

  private static void measure(Context context, SuiteSet set, List<Cell> cells, Subject subject)
      throws IOException, InterruptedException {
    subject.searcher().setQueryCache(null);
    // compiles the code of all plans before the first cell is timed
    for (Cell cell : cells) {
      ask(set, subject, cell, CALLERS, context.options().seconds());
    }
    for (Cell cell : cells) {
      for (int callers : new int[] {1, CALLERS}) {
        Gpu.Counts before = subject.gpu() == null ? null : subject.gpu().counts();
        Asked asked = ask(set, subject, cell, callers, context.options().seconds());
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("set", set.vectors().name());
        row.put("n", set.vectors().base().size());
        row.put("placement", subject.name());
        row.put("variant", cell.kind().name().toLowerCase(Locale.ROOT));
        row.put("share", cell.share());
        row.put("callers", callers);
        row.put("num_candidates", NUM_CANDIDATES);
        row.put("recall_at_10", Samples.round(asked.recall(), 4));
        row.put("qps", Samples.round(asked.qps(), 1));
        row.put("p50_us", Samples.round(asked.microseconds(), 1));
        if (before != null) {
          Gpu.Counts counts = subject.gpu().counts().since(before);
          double items = counts.answered() + counts.fallbacks();
          row.put("on_gpu", Samples.round(counts.answered() / Math.max(1, items), 3));
        }
        context.fragment().add(SECTION, row);
        context.say("%s", row);
      }
    }
  }

  private record Asked(double recall, double qps, double microseconds) {}

  /** Callers take turns among the queries, until the time is over and all queries were asked. */
  private static Asked ask(SuiteSet set, Subject subject, Cell cell, int callers, double seconds)
      throws IOException, InterruptedException {
    int queries = cell.filters().nearest().length;
    AtomicInteger next = new AtomicInteger();
    AtomicLong found = new AtomicLong();
    long start = System.nanoTime();
    Callable<double[]> caller =
        () -> {
          double[] samples = new double[queries];
          int count = 0;
          for (int i = next.getAndIncrement();
              i < queries || System.nanoTime() - start < seconds * 1e9;
              i = next.getAndIncrement()) {
            int q = i % queries;
            long begin = System.nanoTime();
            ScoreDoc[] hits = search(set, subject.searcher(), cell.filters(), q);
            samples[count++ % samples.length] = (System.nanoTime() - begin) * 1e-3;
            if (i < queries) {
              found.addAndGet(cell.filters().good(set.vectors(), q, hits));
            }
          }
          return Arrays.copyOf(samples, Math.min(count, samples.length));
        };
    double[] samples = together(caller, callers);
    int asked = next.get() - callers;
    double elapsed = (System.nanoTime() - start) * 1e-9;
    return new Asked(
        found.get() / (double) (queries * K), asked / elapsed, Samples.median(samples));
  }

  private static double[] together(Callable<double[]> caller, int callers)
      throws IOException, InterruptedException {
    try (ExecutorService pool = Executors.newFixedThreadPool(callers)) {
      List<double[]> all = new ArrayList<>();
      for (Future<double[]> future : pool.invokeAll(Collections.nCopies(callers, caller))) {
        all.add(future.get());
      }
      return all.stream().flatMapToDouble(Arrays::stream).toArray();
    } catch (ExecutionException e) {
      throw new IOException("a search failed", e.getCause());
    }
  }

  private static ScoreDoc[] search(SuiteSet set, IndexSearcher searcher, Filtering filters, int q)
      throws IOException {
    return searcher.search(
            new KnnFloatVectorQuery(
                SetIndex.FIELD,
                set.vectors().queries().rows()[q],
                NUM_CANDIDATES,
                new AcceptQuery(filters.accepted()[q])),
            K)
        .scoreDocs;
  }
}
