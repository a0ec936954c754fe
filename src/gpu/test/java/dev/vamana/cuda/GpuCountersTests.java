package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.search.CpuSearches;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;

/** Tests that counters add up exactly with any number of threads, and never decrease. */
public class GpuCountersTests extends GpuTestCase {

  private static final int THREADS = 8;
  private static final List<String> OF_THE_MOMENT =
      List.of("segments_", "bytes_", "device_", "page_cache_");

  private static GpuExecutor open(CudaDriver driver, Placement placement, boolean wait) {
    ResidencyOptions residency =
        ResidencyOptions.defaults(1L << 30)
            .withPlacement(placement)
            .withLimits(MemoryLimit.bytes(DEVICE_BYTES / 2), MemoryLimit.bytes(1L << 28));
    return GpuExecutor.open(
        () -> driver,
        residency,
        WALKS.withBatches(BATCHES).withWaitForUpload(wait),
        new QuietListener());
  }

  private static void assertNothingWentDown(GpuStatistics before, GpuStatistics after) {
    for (Map.Entry<String, SortedMap<String, Long>> group : before.counters().entrySet()) {
      if (group.getKey().equals("now")) {
        continue;
      }
      group
          .getValue()
          .forEach(
              (name, value) -> {
                if (OF_THE_MOMENT.stream().noneMatch(name::startsWith)) {
                  assertTrue(
                      group.getKey() + "." + name, value <= after.counter(group.getKey(), name));
                }
              });
    }
  }

  /** Checks the sums of the counters once no search runs. */
  private static void assertAddsUp(GpuStatistics statistics, long requested) {
    String all = statistics.toString();
    assertEquals(all, requested, statistics.counter("items", "requested"));
    assertEquals(
        all,
        requested,
        sum(statistics, "items_by_placement")
            + sum(statistics, "items_on_cpu")
            + statistics.counter("items", "cancelled"));
    assertEquals(all, 0, statistics.counter("batches", "failed_launches"));
    assertEquals(all, 0, statistics.counter("now", "launches_in_flight"));
  }

  public void testItemsAddUpUnderConcurrency() throws Exception {
    Placement placement = Placement.values()[random().nextInt(Placement.values().length)];
    boolean wait = random().nextBoolean();
    try (TestIndex index = TestIndex.any(1500, 4);
        GpuExecutor executor = open(driver(), wait ? null : placement, wait)) {
      index.views().forEach(executor::opened);
      List<List<WorkItem>> batches = new ArrayList<>();
      for (int i = 0; i < 25 * THREADS; i++) {
        List<WorkItem> batch = new ArrayList<>();
        WalkParameters.Distances distances =
            WalkParameters.Distances.values()[
                random().nextInt(WalkParameters.Distances.values().length)];
        for (WorkItem item : index.items(1 + random().nextInt(40), distances)) {
          int kind = random().nextInt(20);
          long limit = kind == 1 ? 1 + random().nextInt(400) : item.visitLimit();
          batch.add(kind > 1 ? item : Walks.limited(item, limit, () -> kind == 0));
        }
        batches.add(batch);
      }
      LongAdder requested = new LongAdder();
      AtomicInteger searching = new AtomicInteger(THREADS);
      AtomicReference<GpuStatistics> seen = new AtomicReference<>(executor.statistics());
      Threads.run(
          THREADS + 1,
          thread -> {
            if (thread == THREADS) {
              while (searching.get() > 0) {
                GpuStatistics now = executor.statistics();
                assertNothingWentDown(seen.getAndSet(now), now);
              }
              return;
            }
            try {
              for (int i = thread; i < batches.size(); i += THREADS) {
                executor.search(batches.get(i));
                requested.add(batches.get(i).size());
              }
            } finally {
              searching.decrementAndGet();
            }
          });
      GpuStatistics statistics = executor.statistics();
      assertNothingWentDown(seen.get(), statistics);
      assertAddsUp(statistics, requested.sum());
      assertTrue(statistics.toString(), statistics.counter("items", "cancelled") > 0);
      if (wait) {
        assertEquals(0, statistics.counter("items_on_cpu", "not_resident"));
      }
    }
  }

  /** Lucene's queries: segments that readers answer by themselves, and items of the executor. */
  public void testSegmentsOfQueriesAddUp() throws Exception {
    int segments = 3;
    try (TestIndex index = TestIndex.any(900, segments);
        ExecutorRegistry.Installation installation =
            ExecutorRegistry.install(() -> open(driver(), null, true))) {
      GpuExecutor executor = (GpuExecutor) installation.executor();
      index.views().forEach(executor::opened);
      CpuCounts before = CpuCounts.now();
      ConcurrentLinkedQueue<Query> queries = new ConcurrentLinkedQueue<>();
      int count = 40 * THREADS;
      for (int i = 0; i < count; i++) {
        queries.add(query(index, 5));
      }
      Threads.run(
          THREADS,
          thread -> {
            IndexSearcher searcher = new IndexSearcher(index.reader);
            for (Query query = queries.poll(); query != null; query = queries.poll()) {
              assertEquals(5, searcher.search(query, 5).scoreDocs.length);
            }
          });
      GpuStatistics statistics = executor.statistics();
      assertAddsUp(statistics, statistics.counter("items", "requested"));
      CpuCounts grown = CpuCounts.now().since(before);
      assertEquals(0, grown.noExecutor());
      assertEquals(0, grown.collector());
      assertEquals(0, grown.repeated());
      // Lucene may search a segment a second time
      assertTrue(
          statistics.toString(),
          statistics.counter("items", "requested") + grown.scan() >= (long) count * segments);
    }
  }

  public void testWithoutExecutorEverySegmentOfEveryQueryIsCounted() throws Exception {
    try (TestIndex index = TestIndex.any(400, 1)) {
      CpuCounts before = CpuCounts.now();
      int count = 30;
      Threads.run(
          THREADS,
          thread -> {
            IndexSearcher searcher = new IndexSearcher(index.reader);
            for (int i = 0; i < count; i++) {
              Query query;
              synchronized (index) {
                query = query(index, 3);
              }
              searcher.search(query, 3);
            }
          });
      CpuCounts grown = CpuCounts.now().since(before);
      assertEquals((long) count * THREADS, grown.noExecutor());
      assertEquals(0, grown.scan() + grown.collector() + grown.repeated());
    }
  }

  private static Query query(TestIndex index, int k) {
    var vector = index.vector();
    return vector.floats() != null
        ? new KnnFloatVectorQuery(FIELD, vector.floats(), k)
        : new KnnByteVectorQuery(FIELD, vector.bytes(), k);
  }

  /** Numbers of searches that readers of this process have answered by themselves. */
  private record CpuCounts(long noExecutor, long scan, long collector, long repeated) {
    static CpuCounts now() {
      CpuSearches counts = ExecutorRegistry.cpuSearches();
      return new CpuCounts(
          counts.count(CpuSearches.Reason.NO_EXECUTOR),
          counts.count(CpuSearches.Reason.SCAN),
          counts.count(CpuSearches.Reason.COLLECTOR),
          counts.count(CpuSearches.Reason.REPEATED));
    }

    CpuCounts since(CpuCounts before) {
      return new CpuCounts(
          noExecutor - before.noExecutor,
          scan - before.scan,
          collector - before.collector,
          repeated - before.repeated);
    }
  }
}
