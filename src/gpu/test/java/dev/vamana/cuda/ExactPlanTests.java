package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.CostForm;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.document.IntField;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.util.NamedThreadFactory;

/** Tests which plan answers, and that exact plans find what a scan of the CPU finds. */
public class ExactPlanTests extends PlanTestCase {

  private static GpuExecutor open(GpuOptions options) {
    return open(options, Placement.EXACT);
  }

  private static GpuExecutor open(GpuOptions options, Placement placement) {
    CudaDriver driver = device();
    return openAtOnce(options, () -> driver, everything(placement), new QuietListener());
  }

  /** Any items: of several segments, with and without filters, each with a k of its own. */
  public void testSameAsAScanOfTheCpu() throws IOException {
    try (TestIndex index = TestIndex.any(1500, 3);
        GpuExecutor executor = open(pinned(PlanMode.EXACT))) {
      long asked = 0;
      for (int count : new int[] {1, 2, 40, 300}) {
        List<WorkItem> items = index.items(count, WalkParameters.Distances.EXACT);
        List<WorkResult> results = executor.search(items);
        assertSame(scanned(items), results, 0.995);
        for (int i = 0; i < count; i++) {
          assertEquals(items.get(i).acceptedCount(), results.get(i).visited());
        }
        asked += count;
      }
      assertEquals(asked, items(executor, "scan") + items(executor, "gather"));
      assertEquals(asked, executor.statistics().counter("items_by_placement", "exact"));
      assertEquals(0, executor.statistics().counter("batches", "launches"));
    }
  }

  public void testFewOrManyAccepted() throws IOException {
    try (TestIndex index = TestIndex.any(900, 1);
        GpuExecutor gathers = open(options(PlanMode.EXACT, costs(1, 0, 0, 0)));
        GpuExecutor scans = open(options(PlanMode.EXACT, costs(0, 1, 0, 0)))) {
      SegmentView view = index.views().get(0);
      for (int accepted : new int[] {0, 1, 7, 40, 899}) {
        List<WorkItem> items = new ArrayList<>();
        for (int k : new int[] {1, 10, 60, 2000}) {
          items.add(item(index, view, k, some(900, accepted)));
        }
        List<WorkResult> expected = scanned(items);
        assertSame(expected, gathers.search(items), 0.99);
        assertSame(expected, scans.search(items), 0.99);
      }
      assertEquals(20, items(gathers, "gather"));
      assertEquals(0, items(gathers, "scan"));
      assertEquals(20, items(scans, "scan"));
    }
  }

  /** Items of a call that have a filter in common are one batch, and all batches one launch. */
  public void testBatches() throws IOException {
    try (TestIndex index = TestIndex.any(800, 1);
        GpuExecutor executor = open(options(PlanMode.EXACT, costs(0, 1, 0, 0)))) {
      SegmentView view = index.views().get(0);
      List<WorkItem> items = new ArrayList<>();
      var filter = some(800, 300);
      for (int i = 0; i < 30; i++) {
        items.add(item(index, view, 5, i % 2 == 0 ? filter : null));
      }
      assertSame(scanned(items), executor.search(items), 0.99);
      assertEquals(1, executor.statistics().counter("plan_batches", "scan"));
      assertEquals(1, executor.statistics().counter("plan_calls", "scan") / 2);
      assertEquals(30, items(executor, "scan"));
    }
  }

  /** Vectors that the device cannot read, a k and a limit that no exact search takes. */
  public void testWhatAnExactSearchDoesNotTake() throws IOException {
    try (TestIndex index = TestIndex.any(1200, 1);
        GpuExecutor without = open(pinned(PlanMode.EXACT), Placement.HOST_FETCH);
        GpuExecutor with = open(pinned(PlanMode.EXACT), Placement.IN_MEMORY)) {
      SegmentView view = index.views().get(0);
      List<WorkItem> items = List.of(item(index, view, 5, null));
      assertSame(scanned(items), with.search(items), 0.5);
      assertEquals(1, items(with, "scan"));
      without.search(items);
      assertEquals(1, items(without, "graph"));
      WorkItem limited =
          new WorkItem(
              view,
              index.vector(),
              5,
              WalkParameters.exact(20),
              null,
              1200,
              1200,
              () -> false,
              new int[0]);
      with.search(List.of(limited));
      assertEquals(1, items(with, "scan"));
      assertEquals(1, items(with, "graph"));
    }
  }

  /** On both sides of where the model changes its mind. */
  public void testTheModelDecides() throws IOException {
    // A scan costs 10 a query, a walk 800 however many there are. Eight callers wait for two scans
    // of four calls each: 800 for ten queries a call.
    double[] perProduct = CostForm.SCAN.none();
    double[] perProductBatched = CostForm.BATCHED_SCAN.none();
    try (TestIndex index = TestIndex.any(1000, 1)) {
      SegmentView view = index.views().get(0);
      perProduct[4] = 10.0 / (1000 * index.dimension);
      perProductBatched[4] = perProduct[4];
      CostModel model =
          costs(0, 1e9, 800, 1e9)
              .with(CostForm.SCAN, perProduct)
              .with(CostForm.BATCHED_SCAN, perProductBatched);
      CudaDriver driver = device();
      try (GpuExecutor executor =
          openAtOnce(
              options(PlanMode.AUTO, atScale(model, driver)),
              () -> driver,
              everything(Placement.EXACT),
              new QuietListener())) {
        for (int batch : new int[] {1, 9, 11, 40}) {
          long scans = items(executor, "scan");
          long walks = items(executor, "graph");
          List<WorkItem> items = new ArrayList<>();
          for (int i = 0; i < batch; i++) {
            items.add(item(index, view, 5, null));
          }
          List<WorkResult> results = executor.search(items);
          boolean scan = batch < 10;
          assertEquals(scan ? batch : 0, items(executor, "scan") - scans);
          assertEquals(scan ? 0 : batch, items(executor, "graph") - walks);
          assertSame(scan ? scanned(items) : GpuTestCase.onCpu(items), results, 0.97);
        }
        assertEquals(2, executor.statistics().counter("plan_calls", "scan"));
        assertEquals(2, executor.statistics().counter("plan_calls", "graph"));
      }
    }
  }

  /**
   * A query's segments are walked at the same time: what is right for one of them is not for all.
   * It depends on the open segments, not on how many are asked: beside other callers, scans of two
   * take 40 and of three 60, a walk 45.
   */
  public void testSegmentsOfOneQuery() throws Exception {
    try (TestIndex index = TestIndex.any(1500, 4);
        GpuExecutor executor = open(options(PlanMode.AUTO, costs(10, 1e9, 45, 1e9)))) {
      List<SegmentView> views = index.views();
      assumeTrue("needs several segments", views.size() > 2);
      for (int open = 1; open <= views.size(); open++) {
        executor.opened(views.get(open - 1));
        assertPlan(index, executor, open <= 2);
      }
      executor.opened(views.get(0));
      views.subList(2, views.size()).forEach(executor::closing);
      assertPlan(index, executor, true);
    }
  }

  private static void assertPlan(TestIndex index, GpuExecutor executor, boolean scan)
      throws IOException {
    long scans = items(executor, "scan");
    long walks = items(executor, "graph");
    executor.search(List.of(item(index, index.views().get(0), 5, null)));
    assertEquals(scan ? 1 : 0, items(executor, "scan") - scans);
    assertEquals(scan ? 0 : 1, items(executor, "graph") - walks);
  }

  public void testTheCpuWhereItIsFaster() throws IOException {
    try (TestIndex index = TestIndex.any(1200, 1);
        GpuExecutor executor = open(options(PlanMode.AUTO, costs(10, 10, 10, 4)))) {
      SegmentView view = index.views().get(0);
      List<WorkItem> walks = List.of(item(index, view, 5, null));
      assertSame(GpuTestCase.onCpu(walks), executor.search(walks), 1);
      assertEquals(1, onCpu(executor, "planned"));
      List<WorkItem> strict = List.of(item(index, view, 5, some(1200, 20)));
      assertSame(scanned(strict), executor.search(strict), 1);
      assertEquals(1, onCpu(executor, "scan"));
      assertEquals(2, items(executor, "cpu"));
      assertNotNull(executor.leaves(view, 5, 20, true));
    }
    try (TestIndex index = TestIndex.any(1200, 1);
        GpuExecutor executor = open(options(PlanMode.AUTO, costs(10, 10, 10, 6)))) {
      SegmentView view = index.views().get(0);
      executor.search(List.of(item(index, view, 5, null)));
      executor.search(List.of(item(index, view, 5, some(1200, 20))));
      assertEquals(executor.statistics().toString(), 0, items(executor, "cpu"));
    }
  }

  public void testPinnedPlans() throws IOException {
    try (TestIndex index = TestIndex.any(1200, 1);
        GpuExecutor executor = open(options(PlanMode.GRAPH, costs(0, 0, 1e9, 0)))) {
      SegmentView view = index.views().get(0);
      List<WorkItem> walk = List.of(item(index, view, 5, null));
      List<WorkItem> strict = List.of(item(index, view, 5, some(1200, 20)));
      executor.search(walk);
      executor.search(strict);
      assertEquals(1, items(executor, "graph"));
      assertEquals(1, onCpu(executor, "scan"));
      assertNotNull(executor.leaves(view, 5, 20, true));
      adjust(executor, PlanMode.CPU);
      executor.search(walk);
      executor.search(strict);
      assertEquals(2, onCpu(executor, "planned"));
      assertEquals(3, items(executor, "cpu"));
      adjust(executor, PlanMode.EXACT);
      assertSame(scanned(walk), executor.search(walk), 0.9);
      assertSame(scanned(strict), executor.search(strict), 0.9);
      assertEquals(1, items(executor, "graph"));
      assertEquals(2, items(executor, "scan") + items(executor, "gather"));
      adjust(executor, PlanMode.AUTO);
      executor.search(walk);
      assertEquals(1, items(executor, "graph"));
    }
  }

  private static void adjust(GpuExecutor executor, PlanMode plan) {
    executor.adjust(dynamic(false, false, plan));
  }

  /** From a query of Lucene with a strict filter to its hits, with plans that the model chooses. */
  public void testStrictFiltersAreGathered() throws IOException {
    try (TestIndex index =
            new TestIndex(VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN, 24, 1500, 2);
        ExecutorRegistry.Installation installation =
            ExecutorRegistry.install(
                () -> open(options(PlanMode.AUTO, costs(20_000, 5_000, 20_000, 20_000))))) {
      // microseconds, beside which it matters little that the other segment's ticket may be in the
      // queue
      GpuExecutor executor = (GpuExecutor) installation.executor();
      index.views().forEach(executor::opened);
      Query few = IntField.newRangeQuery("id", 700, 799);
      IndexSearcher searcher = newSearcher(index.reader, false);
      for (int i = 1; i <= 5; i++) {
        float[] query = index.vector().floats();
        TopDocs hits = searcher.search(new KnnFloatVectorQuery(FIELD, query, 10, few), 10);
        List<ScoreDoc> expected = exact(index, query, searcher, few);
        assertEquals(10, hits.scoreDocs.length);
        for (int rank = 0; rank < 10; rank++) {
          assertEquals(expected.get(rank).doc, hits.scoreDocs[rank].doc);
          assertEquals(expected.get(rank).score, hits.scoreDocs[rank].score, 1e-5f);
        }
        // one in each segment
        assertEquals(2 * i, items(executor, "gather"));
      }
      assertEquals(10, executor.statistics().counter("items_by_placement", "exact"));
      assertEquals(0, items(executor, "cpu") + items(executor, "scan") + items(executor, "graph"));
    }
  }

  /** Scores of all that a filter accepts, best first. */
  private static List<ScoreDoc> exact(
      TestIndex index, float[] query, IndexSearcher searcher, Query filter) throws IOException {
    List<ScoreDoc> all = new ArrayList<>();
    for (ScoreDoc accepted : searcher.search(filter, 1500).scoreDocs) {
      List<LeafReaderContext> leaves = index.reader.leaves();
      LeafReaderContext leaf = leaves.get(ReaderUtil.subIndex(accepted.doc, leaves));
      FloatVectorValues vectors = leaf.reader().getFloatVectorValues(FIELD);
      float[] vector = vectors.vectorValue(accepted.doc - leaf.docBase);
      all.add(new ScoreDoc(accepted.doc, index.similarity.compare(query, vector)));
    }
    all.sort((a, b) -> Float.compare(b.score, a.score));
    return all;
  }

  /** Readers hand scans over where the executor may be faster, and get the same hits. */
  public void testReadersHandScansOver() throws IOException {
    for (PlanMode mode : new PlanMode[] {PlanMode.EXACT, PlanMode.GRAPH}) {
      try (TestIndex index = TestIndex.any(1500, 2);
          ExecutorRegistry.Installation installation =
              ExecutorRegistry.install(() -> open(pinned(mode)))) {
        GpuExecutor executor = (GpuExecutor) installation.executor();
        for (SegmentView view : index.views()) {
          executor.opened(view);
        }
        Query few = IntField.newRangeQuery("id", 100, 160);
        IndexSearcher searcher = newSearcher(index.reader, false);
        for (LeafReaderContext leaf : index.reader.leaves()) {
          var weight =
              searcher.createWeight(searcher.rewrite(few), ScoreMode.COMPLETE_NO_SCORES, 1);
          var query = index.vector();
          TopKnnCollector collector = new TopKnnCollector(10, Integer.MAX_VALUE);
          AcceptDocs accept =
              AcceptDocs.fromIteratorSupplier(
                  () -> {
                    var scorer = weight.scorer(leaf);
                    return scorer == null ? DocIdSetIterator.empty() : scorer.iterator();
                  },
                  leaf.reader().getLiveDocs(),
                  leaf.reader().maxDoc());
          if (query.floats() != null) {
            leaf.reader().searchNearestVectors(FIELD, query.floats(), collector, accept);
          } else {
            leaf.reader().searchNearestVectors(FIELD, query.bytes(), collector, accept);
          }
          TopDocs hits = collector.topDocs();
          int inLeaf = Math.max(0, Math.min(161, leaf.docBase + leaf.reader().maxDoc()) - 100);
          assertEquals(leaf.docBase == 0 ? Math.min(10, inLeaf) : 0, hits.scoreDocs.length);
        }
        long exact = items(executor, "scan") + items(executor, "gather");
        assertEquals(mode == PlanMode.EXACT, exact > 0);
        assertEquals(0, onCpu(executor, "scan"));
      }
    }
  }

  /** Times add up, and nothing is counted twice. */
  public void testCounters() throws Exception {
    try (TestIndex index = TestIndex.any(1000, 2);
        GpuExecutor executor = open(options(PlanMode.AUTO, costs(5000, 5000, 1e9, 1e9)))) {
      Threads.run(
          4,
          thread -> {
            for (int i = 0; i < 20; i++) {
              executor.search(List.of(item(index, index.views().get(i % 2), 5, null)));
            }
          });
      GpuStatistics statistics = executor.statistics();
      assertEquals(80, statistics.counter("plan_items", "scan"));
      assertEquals(80, statistics.counter("plan_calls", "scan"));
      assertTrue(statistics.counter("plan_batches", "scan") <= 80);
      assertTrue(statistics.counter("plan_batches", "scan") > 0);
      assertEquals(80, statistics.counter("items_by_placement", "exact"));
      assertEquals(80, statistics.counter("items", "requested"));
    }
  }

  /** A waiting scan's prediction included its own wait; later scans add only its work. */
  public void testWaitsAreNotAddedUp() throws Exception {
    int calls = 24;
    BlockedKernels blocked = blocked();
    ExecutorService pool = Executors.newFixedThreadPool(calls, new NamedThreadFactory("search"));
    try (TestIndex index = TestIndex.any(600, 1);
        GpuExecutor executor =
            openAtOnce(
                options(PlanMode.AUTO, costs(5000, 5000, 1e9, 1e9)),
                () -> new SimulatedDriver(blocked, DEVICE_BYTES, true),
                everything(Placement.EXACT),
                new QuietListener())) {
      SegmentView view = index.views().get(0);
      List<WorkItem> items = new ArrayList<>();
      List<Future<List<WorkResult>>> found = new ArrayList<>();
      try {
        for (int i = 0; i < calls; i++) {
          // filters of their own, so that none can be searched together with another
          List<WorkItem> call = List.of(item(index, view, 5, some(600, 300)));
          items.addAll(call);
          found.add(pool.submit(() -> executor.search(call)));
          blocked.awaitStart();
          int queued = i;
          await(
              () ->
                  executor.statistics().counter("now", "scans_waiting") == queued
                      || onCpu(executor, "planned") > 0);
        }
      } finally {
        blocked.letGo();
      }
      List<WorkResult> results = new ArrayList<>();
      for (Future<List<WorkResult>> each : found) {
        results.addAll(each.get(2, TimeUnit.MINUTES));
      }
      assertSame(scanned(items), results, 0.9);
      assertEquals(0, onCpu(executor, "planned"));
      assertEquals(calls, items(executor, "scan") + items(executor, "gather"));
    } finally {
      pool.shutdown();
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    }
  }
}
