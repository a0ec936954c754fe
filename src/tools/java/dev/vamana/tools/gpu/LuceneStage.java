package dev.vamana.tools.gpu;

import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.ScoreDoc;

/**
 * Measures Lucene's HNSW at the recalls of the GPU's measurements, on one thread and on all
 * processors: the same queries in the same process, with the reader's search directly, without a
 * query around it.
 */
final class LuceneStage implements Stage {

  private static final int K = BenchStage.K;
  private static final int[][] GRAPHS = {{16, 100}, {32, 200}};
  private static final int SAMPLES = 100;

  private final String setName;

  LuceneStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    for (int[] graph : GRAPHS) {
      String name = "lucene-m" + graph[0] + "-b" + graph[1];
      try (SetIndex index = index(context, set, name, graph)) {
        measure(context, set, name, index);
      }
    }
  }

  static SetIndex index(Context context, SuiteSet set, String name, int[] graph)
      throws IOException {
    int threads = context.workers().threads();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      int n = set.vectors().base().size();
      SetIndex index =
          SetIndex.open(
              context
                  .options()
                  .home()
                  .resolve("index")
                  .resolve(set.vectors().name() + "-" + n + "-" + name),
              set,
              new Lucene99HnswVectorsFormat(graph[0], graph[1], threads, threads > 1 ? pool : null),
              1,
              threads);
      context.say("%s of %s built in %.1f s", name, set.vectors().name(), index.buildSeconds());
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("set", set.vectors().name());
      row.put("method", name);
      row.put("n", n);
      row.put("threads", threads);
      row.put("seconds", Samples.round(index.buildSeconds(), 2));
      context.fragment().add("builds", row);
      return index;
    } finally {
      pool.shutdownNow();
    }
  }

  private static void measure(Context context, SuiteSet set, String name, SetIndex index)
      throws IOException, InterruptedException {
    LeafReader leaf = index.reader().leaves().get(0).reader();
    // several writers: documents are not in the order of the rows
    int[] rows = index.rows();
    float[][] queries = set.vectors().queries().rows();
    BeamSweep sweep =
        BeamSweep.run(
            new Recall(set.vectors(), K),
            width -> {
              int[][] hits = new int[queries.length][];
              parallel(
                  context.workers().threads(),
                  queries.length,
                  i -> {
                    hits[i] = search(leaf, queries[i], width);
                    for (int j = 0; j < hits[i].length; j++) {
                      hits[i][j] = rows[hits[i][j]];
                    }
                  });
              return hits;
            });
    for (double target : BeamSweep.TARGETS) {
      int width = sweep.narrowest(target);
      if (width < 0) {
        continue;
      }
      for (int threads : new int[] {1, context.workers().threads()}) {
        double[] samples = time(leaf, queries, width, threads, 4 * context.options().seconds());
        context.add(
            new Measurement(
                set.subject(),
                name,
                "cpu",
                1,
                threads,
                width,
                sweep.recalls().get(width),
                samples,
                Map.of("target", target)));
      }
    }
  }

  private static double[] time(
      LeafReader leaf, float[][] queries, int width, int threads, double seconds)
      throws IOException, InterruptedException {
    List<double[]> all = new ArrayList<>();
    parallel(
        threads,
        threads,
        id -> {
          // enough warm-up queries for the code to be compiled
          for (int i = 0; i < Math.min(queries.length, 500); i++) {
            search(leaf, queries[(id * 53 + i) % queries.length], width);
          }
          List<Double> samples = new ArrayList<>();
          long last = System.nanoTime();
          long end = last + (long) (seconds * 1e9);
          for (int i = 0; last < end || i < 20; i++) {
            search(leaf, queries[(id * 53 + i) % queries.length], width);
            long now = System.nanoTime();
            samples.add((now - last) * 1e-3);
            last = now;
          }
          synchronized (all) {
            all.add(samples.stream().mapToDouble(Double::doubleValue).toArray());
          }
        });
    return BatchRun.thin(all.stream().flatMapToDouble(java.util.Arrays::stream).toArray(), SAMPLES);
  }

  private static int[] search(LeafReader leaf, float[] query, int width) throws IOException {
    ScoreDoc[] found =
        leaf.searchNearestVectors(
                SetIndex.FIELD,
                query,
                width,
                AcceptDocs.fromLiveDocs(null, leaf.maxDoc()),
                Integer.MAX_VALUE)
            .scoreDocs;
    int[] docs = new int[Math.min(K, found.length)];
    for (int i = 0; i < docs.length; i++) {
      docs[i] = found[i].doc;
    }
    return docs;
  }

  /** The body of a loop. */
  private interface Task {
    void run(int index) throws IOException;
  }

  private static void parallel(int threads, int count, Task task)
      throws IOException, InterruptedException {
    AtomicInteger next = new AtomicInteger();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    List<Future<?>> futures = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      futures.add(
          pool.submit(
              () -> {
                try {
                  for (int i; (i = next.getAndIncrement()) < count; ) {
                    task.run(i);
                  }
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              }));
    }
    try {
      for (Future<?> future : futures) {
        future.get();
      }
    } catch (ExecutionException e) {
      throw new IOException("a search failed", e);
    } finally {
      pool.shutdown();
    }
  }
}
