package dev.vamana.cuda;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.ExecutorRegistry;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.util.NamedThreadFactory;

/** Tests that concurrent searches share launches. */
public class CoalescingTests extends GpuTestCase {

  private static final int THREADS = 24;
  private static final int SEGMENTS = 8;
  private static final int QUERIES = 30;
  private static final long LAUNCH_NANOS = 5_000_000;

  private interface Search {
    TopDocs search(float[] query) throws Exception;
  }

  /**
   * A device whose launches take as long as those of a real one at least, so that queries queue
   * meanwhile, however many processors there are to simulate it.
   */
  private static SimulatedDriver busy() {
    return new SimulatedDriver(
        name -> {
          SimulatedKernels.Body body = kernels.find(name);
          return (blocks, threads, sharedBytes, parameters) -> {
            body.run(blocks, threads, sharedBytes, parameters);
            LockSupport.parkNanos(LAUNCH_NANOS);
          };
        },
        DEVICE_BYTES,
        true);
  }

  private static TestIndex index() throws Exception {
    return new TestIndex(
        VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN, 16, 3200, SEGMENTS);
  }

  private static void assertCoalesces(TestIndex index, GpuExecutor executor, Search search)
      throws Exception {
    float[][] queries = new float[THREADS * QUERIES][];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = index.vector().floats();
    }
    Threads.run(
        THREADS,
        thread -> {
          for (int i = 0; i < QUERIES; i++) {
            assertEquals(10, search.search(queries[thread * QUERIES + i]).scoreDocs.length);
          }
        });
    GpuStatistics statistics = executor.statistics();
    long launches = statistics.counter("batches", "launches");
    long items = statistics.counter("batches", "items");
    assertTrue(statistics.toString(), items >= (long) queries.length * SEGMENTS);
    assertTrue(
        launches + " launches for " + queries.length + " queries",
        launches <= 0.25 * queries.length);
    assertTrue(items + " items in " + launches + " launches", items >= 8 * launches);
  }

  public void testBatchedKnn() throws Exception {
    SimulatedDriver driver = busy();
    try (TestIndex index = index();
        GpuExecutor executor =
            GpuExecutor.open(
                WALKS.withBatches(BATCHES),
                () -> driver,
                everything(Placement.EXACT, true),
                new QuietListener())) {
      IndexSearcher searcher = new IndexSearcher(index.reader);
      BatchedKnn batched = new BatchedKnn(searcher, executor);
      assertCoalesces(
          index, executor, query -> batched.search(FIELD, new float[][] {query}, 10, null)[0]);
    }
  }

  private static void assertLuceneCoalesces(BatchOptions batches, Executor segments)
      throws Exception {
    SimulatedDriver driver = busy();
    try (TestIndex index = index();
        ExecutorRegistry.Installation installation =
            ExecutorRegistry.install(
                () ->
                    GpuExecutor.open(
                        WALKS.withBatches(batches),
                        () -> driver,
                        everything(Placement.EXACT, true),
                        new QuietListener()))) {
      IndexSearcher searcher = new IndexSearcher(index.reader, segments);
      assertCoalesces(
          index,
          (GpuExecutor) installation.executor(),
          query -> searcher.search(new KnnFloatVectorQuery(FIELD, query, 10), 10));
    }
  }

  /** Lucene's own queries, which search one segment after the other. */
  public void testSegmentBySegment() throws Exception {
    assertLuceneCoalesces(BATCHES.withSegmentsAhead(true), null);
  }

  /** Lucene's own queries, whose segments are searched by as many threads as there are. */
  public void testSegmentsSideBySide() throws Exception {
    ExecutorService pool =
        Executors.newFixedThreadPool(THREADS * SEGMENTS, new NamedThreadFactory("segments"));
    try {
      assertLuceneCoalesces(BATCHES.withSegmentsAhead(random().nextBoolean()), pool);
    } finally {
      pool.shutdown();
      assertTrue(pool.awaitTermination(60, TimeUnit.SECONDS));
    }
  }
}
