package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.ExecutorRegistry;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
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
  private static final int ROUNDS = 4;

  private interface Search {
    TopDocs search(float[] query) throws Exception;
  }

  private BlockedKernels gate;

  private SimulatedDriver device() {
    gate = new BlockedKernels(kernels);
    gate.letGo();
    return new SimulatedDriver(gate, DEVICE_BYTES, true);
  }

  private static TestIndex index() throws Exception {
    return new TestIndex(
        VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN, 16, 3200, SEGMENTS);
  }

  /**
   * Holds the device until every segment of every thread's query waits for it. Then the first
   * launch has what came before it began, two have gone beside it with {@link
   * BatchOptions#overlap()} items each, and all others are one launch when these end. Lucene may
   * search a segment a second time, which may be a launch of its own.
   */
  private void assertCoalesces(TestIndex index, GpuExecutor executor, Search search)
      throws Exception {
    int items = THREADS * SEGMENTS;
    assertTrue(items <= BATCHES.maxBatch());
    // which segments follow the first is learned from these
    for (int i = 0; i < 3; i++) {
      search.search(index.vector().floats());
    }
    for (int round = 0; round < ROUNDS; round++) {
      long launches = executor.statistics().counter("batches", "launches");
      long requested = executor.statistics().counter("items", "requested");
      gate.shut();
      Threads.run(
          THREADS + 1,
          thread -> {
            if (thread == THREADS) {
              try {
                awaitPending(executor, items);
              } finally {
                gate.letGo();
              }
            } else {
              assertEquals(10, search.search(index.vector().floats()).scoreDocs.length);
            }
          });
      GpuStatistics statistics = executor.statistics();
      launches = statistics.counter("batches", "launches") - launches;
      long again = statistics.counter("items", "requested") - requested - items;
      assertTrue(statistics.toString(), again >= 0);
      assertTrue(
          launches + " launches, " + again + " items again",
          launches <= BatchOptions.DEPTH + 1 + again);
    }
  }

  public void testBatchedKnn() throws Exception {
    SimulatedDriver driver = device();
    try (TestIndex index = index();
        GpuExecutor executor =
            openAtOnce(
                WALKS.withBatches(BATCHES),
                () -> driver,
                everything(Placement.EXACT),
                new QuietListener())) {
      IndexSearcher searcher = new IndexSearcher(index.reader);
      BatchedKnn batched = new BatchedKnn(searcher, executor);
      assertCoalesces(
          index, executor, query -> batched.search(FIELD, new float[][] {query}, 10, null)[0]);
    }
  }

  private void assertLuceneCoalesces(BatchOptions batches, Executor segments) throws Exception {
    SimulatedDriver driver = device();
    try (TestIndex index = index();
        ExecutorRegistry.Installation installation =
            ExecutorRegistry.install(
                () ->
                    openAtOnce(
                        WALKS.withBatches(batches),
                        () -> driver,
                        everything(Placement.EXACT),
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
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    }
  }
}
