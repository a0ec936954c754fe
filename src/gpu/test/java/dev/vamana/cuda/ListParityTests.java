package dev.vamana.cuda;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import com.carrotsearch.randomizedtesting.generators.RandomPicks;
import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.api.PlanOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.ListCodes;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.lists.ListKernels;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.gpu.Gpu;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.FixedBitSet;

/**
 * Compares searches of inverted lists on the device with the CPU's. They run on the device if there
 * is one, otherwise with the kernels' counterparts on the CPU.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class ListParityTests extends LuceneTestCase {

  private static final long SIMULATED_BYTES = 1L << 30;
  private static final int K = 10;

  // a table of 64 subspaces has 32 KB
  private static final int LITTLE_SHARED_BYTES = 32 << 10;

  /**
   * Share of the ranks that are equal, or tie. A search whose last hit is as near as another
   * vector, to rounding, may end a list earlier or later and find other hits in it.
   */
  private static final double SHARE = 0.98;

  /** Share of the queries that score as many vectors: the others end a list earlier or later. */
  private static final double LIKE_VISITS = 0.8;

  /** Queries whose hits may all differ: at {@value #SHARE} one of a few would be too many. */
  private static final int OTHER_WAYS = 2;

  private static Gpu open(Placement placement) {
    Tuning tuning =
        Tuning.DEFAULT
            .withWarps(RandomPicks.randomFrom(random(), ListKernels.tuned(ListCodes.TABLE)))
            .withTable(random().nextInt(3) == 0 ? Policy.TABLE_GLOBAL : null)
            .withTeam(random().nextInt(Tuning.MOST_TEAM + 1));
    return Gpu.open(drivers(), placement, tuning);
  }

  private static Supplier<CudaDriver> drivers() {
    return Gpu.missing() == null
        ? Gpu::openDriver
        : () -> new SimulatedDriver(SimtKernels.load(), SIMULATED_BYTES, random().nextBoolean());
  }

  static DeviceSegment segment(
      int size,
      int dimension,
      VectorEncoding encoding,
      VectorSimilarityFunction similarity,
      CodeKind codes)
      throws IOException {
    List<QueryVector> vectors =
        DeviceSegment.clustered(
            new Random(random().nextLong()), size, dimension, encoding, similarity);
    return DeviceSegment.of(
        createTempDir(),
        vectors,
        similarity,
        VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, codes),
        Workers.callingThread());
  }

  private static CodeKind codes() {
    return RandomPicks.randomFrom(random(), CodeKind.values());
  }

  static VectorSimilarityFunction similarity() {
    return VectorSimilarityFunction.values()[random().nextInt(4)];
  }

  static VectorEncoding encoding() {
    return VectorEncoding.values()[random().nextInt(2)];
  }

  /** Vectors of the segment's own, and means of two, which are far from lists. */
  private static List<QueryVector> queries(DeviceSegment segment, int count) {
    List<QueryVector> queries = new ArrayList<>();
    List<QueryVector> vectors = segment.vectors();
    while (queries.size() < count) {
      QueryVector one = vectors.get(random().nextInt(vectors.size()));
      queries.add(
          one.encoding() == VectorEncoding.BYTE
                  || segment.view().similarity() == VectorSimilarityFunction.DOT_PRODUCT
                  || random().nextBoolean()
              ? one
              : mean(one, vectors.get(random().nextInt(vectors.size()))));
    }
    return queries;
  }

  private static QueryVector mean(QueryVector one, QueryVector other) {
    float[] mean = one.floats().clone();
    for (int d = 0; d < mean.length; d++) {
      mean[d] = (mean[d] + other.floats()[d]) / 2;
    }
    return QueryVector.of(mean);
  }

  static List<WorkItem> items(
      DeviceSegment segment, int count, int k, int width, FixedBitSet accepted, long visitLimit) {
    SegmentView view = segment.view();
    return queries(segment, count).stream()
        .map(
            query ->
                DeviceTestCase.item(
                    view,
                    query,
                    k,
                    WalkParameters.exact(width),
                    accepted,
                    accepted == null ? view.size() : accepted.cardinality(),
                    visitLimit,
                    new int[0]))
        .toList();
  }

  private static FixedBitSet accepted(int size, double share) {
    FixedBitSet bits = new FixedBitSet(size);
    for (int i = 0; i < size; i++) {
      if (random().nextDouble() < share) {
        bits.set(i);
      }
    }
    return bits;
  }

  /** Answers of the device, none of which the CPU has given. */
  static List<WorkResult> onDevice(Gpu gpu, List<SegmentView> views, List<WorkItem> items)
      throws Exception {
    for (SegmentView view : views) {
      DeviceTestCase.serve(gpu, view);
    }
    Gpu.Counts before = gpu.counts();
    List<WorkResult> results = gpu.executor().search(items);
    DeviceTestCase.assertNoFallback(gpu, before);
    assertEquals(before.answered() + items.size(), gpu.counts().answered());
    views.forEach(gpu.executor()::closing);
    return results;
  }

  private static List<WorkResult> onDevice(
      Placement placement, List<SegmentView> views, List<WorkItem> items) throws Exception {
    try (Gpu gpu = open(placement)) {
      return onDevice(gpu, views, items);
    }
  }

  static void compare(String what, List<WorkItem> items, List<WorkResult> actual)
      throws IOException {
    List<WorkResult> expected = new CpuExecutor(Workers.callingThread()).search(items);
    int ranks = 0;
    int same = 0;
    int longest = 0;
    int likeVisits = 0;
    for (int i = 0; i < items.size(); i++) {
      WorkResult a = expected.get(i);
      WorkResult b = actual.get(i);
      FixedBitSet accepted = (FixedBitSet) items.get(i).acceptedOrdinals();
      assertEquals(what, a.ordinals().length, b.ordinals().length);
      // bounds differ by rounding, so a vector more or less may be scored
      likeVisits += Math.abs(a.visited() - b.visited()) <= 0.02 * a.visited() + 1 ? 1 : 0;
      longest = Math.max(longest, a.ordinals().length);
      for (int rank = 0; rank < a.ordinals().length; rank++) {
        ranks++;
        float score = a.scores()[rank];
        float slack = 1e-5f * Math.max(1, Math.abs(score));
        assertTrue(what, accepted == null || accepted.get(b.ordinals()[rank]));
        same += Math.abs(score - b.scores()[rank]) <= slack ? 1 : 0;
      }
      assertEquals(what, b.ordinals().length, Arrays.stream(b.ordinals()).distinct().count());
    }
    assertTrue(
        what + ": " + same + " of " + ranks + " ranks are the same",
        same >= SHARE * ranks || ranks - same <= OTHER_WAYS * longest);
    assertTrue(
        what + ": " + likeVisits + " of " + items.size() + " score as many vectors",
        likeVisits >= LIKE_VISITS * items.size());
  }

  private static void compare(
      String what, DeviceSegment segment, Placement placement, List<WorkItem> items)
      throws Exception {
    compare(what, items, onDevice(placement, List.of(segment.view()), items));
  }

  public void testEverySimilarity() throws Exception {
    for (VectorEncoding encoding : VectorEncoding.values()) {
      for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
        CodeKind codes = codes();
        try (DeviceSegment segment = segment(4_000, 40, encoding, similarity, codes)) {
          assertTrue(segment.view().hasLists());
          compare(
              encoding + ", " + similarity + ", " + codes,
              segment,
              Placement.EXACT,
              items(segment, 60, K, 40, null, Long.MAX_VALUE));
        }
      }
    }
  }

  public void testCodesAndDimensions() throws Exception {
    for (CodeKind codes : CodeKind.values()) {
      int dimension = TestUtil.nextInt(random(), 2, random().nextInt(4) > 0 ? 300 : 1_200);
      try (DeviceSegment segment =
          segment(2_500, dimension, encoding(), VectorSimilarityFunction.EUCLIDEAN, codes)) {
        for (Placement placement : List.of(Placement.EXACT, Placement.IN_MEMORY)) {
          compare(
              codes + ", dimension " + dimension + ", " + placement,
              segment,
              placement,
              items(segment, 40, K, 30, null, Long.MAX_VALUE));
        }
      }
    }
  }

  /** Tables of product quantization are in device memory where a block has no room for them. */
  public void testTablesThatDoNotFit() throws Exception {
    assumeTrue("needs kernels of the host", Gpu.missing() != null);
    SimtKernels kernels = SimtKernels.load();
    Set<String> launched = ConcurrentHashMap.newKeySet();
    Supplier<CudaDriver> driver =
        () ->
            new SimulatedDriver(
                    name -> {
                      launched.add(name);
                      return kernels.find(name);
                    },
                    SIMULATED_BYTES,
                    random().nextBoolean())
                .sharedBytesPerBlock(LITTLE_SHARED_BYTES);
    try (DeviceSegment segment = segment(1_500, 256, encoding(), similarity(), CodeKind.PQ);
        Gpu gpu = Gpu.open(driver, Placement.EXACT, Tuning.DEFAULT)) {
      List<WorkItem> items = items(segment, 40, K, 30, null, Long.MAX_VALUE);
      compare("little shared memory", items, onDevice(gpu, List.of(segment.view()), items));
    }
    launched.removeIf(name -> name.startsWith("list_search_") == false);
    assertFalse(launched.isEmpty());
    for (String name : launched) {
      assertTrue(name, name.contains("_global_w"));
    }
  }

  public void testWidths() throws Exception {
    try (DeviceSegment segment = segment(6_000, 24, encoding(), similarity(), codes())) {
      for (int width : new int[] {1, 7, 64, 257, 1_000}) {
        int k = 1 + random().nextInt(width);
        compare(
            "width " + width + ", k " + k,
            segment,
            Placement.EXACT,
            items(segment, 25, k, width, null, Long.MAX_VALUE));
      }
    }
  }

  public void testFilters() throws Exception {
    int size = 8_000;
    try (DeviceSegment segment = segment(size, 24, encoding(), similarity(), codes())) {
      for (double share : new double[] {0.9, 0.5, 0.3}) {
        compare(
            share + " accepted",
            segment,
            Placement.EXACT,
            items(segment, 40, K, 20, accepted(size, share), Long.MAX_VALUE));
      }
    }
  }

  /** Of what a strict filter accepts, the device finds the nearest. */
  public void testFewAccepted() throws Exception {
    int size = 8_000;
    try (DeviceSegment segment = segment(size, 24, VectorEncoding.FLOAT32, similarity(), codes());
        Gpu gpu =
            Gpu.open(
                drivers(),
                Placement.EXACT,
                new PlanOptions(
                    random().nextBoolean() ? PlanMode.AUTO : PlanMode.EXACT,
                    CostModel.shipped()))) {
      List<WorkItem> items = items(segment, 300, K, 20, accepted(size, 0.15), Long.MAX_VALUE);
      List<WorkResult> results = onDevice(gpu, List.of(segment.view()), items);
      for (int i = 0; i < items.size(); i++) {
        WorkResult exact = CpuExecutor.scan(items.get(i));
        assertEquals(exact.ordinals().length, results.get(i).ordinals().length);
        for (int rank = 0; rank < K; rank++) {
          float score = exact.scores()[rank];
          assertEquals(score, results.get(i).scores()[rank], 1e-5f * Math.max(1, Math.abs(score)));
        }
      }
    }
  }

  /** A search that scores as many vectors as it may ends incomplete, with the best of them. */
  public void testVisitLimits() throws Exception {
    try (DeviceSegment segment = segment(3_000, 24, encoding(), similarity(), codes())) {
      for (int limit : new int[] {1, 16, 25}) {
        List<WorkItem> items = items(segment, 20, K, 40, null, limit);
        for (WorkResult result : onDevice(Placement.EXACT, List.of(segment.view()), items)) {
          assertFalse(result.complete());
          assertEquals(limit, result.visited());
          assertEquals(Math.min(K, limit), result.ordinals().length);
        }
      }
    }
  }

  /** Items over segments of different sizes, dimensions and codes share calls. */
  public void testSeveralSegments() throws Exception {
    VectorEncoding encoding = encoding();
    VectorSimilarityFunction similarity = similarity();
    try (DeviceSegment one = segment(1_000, 30, encoding, similarity, CodeKind.RABITQ1);
        DeviceSegment two = segment(3_000, 50, encoding, similarity, CodeKind.RABITQ4);
        DeviceSegment three = segment(2_000, 70, encoding, similarity, CodeKind.RABITQ7);
        DeviceSegment four = segment(1_000, 40, encoding, similarity, CodeKind.PQ);
        DeviceSegment five = segment(2_000, 60, encoding, similarity, CodeKind.PQ)) {
      List<WorkItem> items = new ArrayList<>();
      List<DeviceSegment> segments = List.of(one, two, three, four, five);
      for (DeviceSegment segment : segments) {
        items.addAll(items(segment, 100, K, 5 + random().nextInt(40), null, Long.MAX_VALUE));
      }
      compare(
          "five segments",
          items,
          onDevice(Placement.EXACT, segments.stream().map(DeviceSegment::view).toList(), items));
    }
  }

  /** Lucene's queries and batches over several segments with deletions find what the CPU finds. */
  public void testQueries() throws Exception {
    int size = 3_000;
    VectorSimilarityFunction similarity = similarity();
    List<QueryVector> vectors =
        DeviceSegment.clustered(
            new Random(random().nextLong()), size, 24, VectorEncoding.FLOAT32, similarity);
    try (MMapDirectory directory = new MMapDirectory(createTempDir())) {
      write(directory, vectors, similarity);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        List<SegmentView> views =
            reader.leaves().stream().map(leaf -> DeviceSegment.view(leaf.reader())).toList();
        assertEquals(3, views.size());
        List<TopDocs> expected = new ArrayList<>();
        for (QueryVector vector : vectors.subList(0, 40)) {
          expected.add(search(searcher, vector));
        }
        try (Gpu gpu = open(Placement.EXACT);
            ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor)) {
          views.forEach(gpu.executor()::opened);
          gpu.await(views);
          Gpu.Counts before = gpu.counts();
          List<TopDocs> found = new ArrayList<>();
          for (QueryVector vector : vectors.subList(0, 40)) {
            found.add(search(searcher, vector));
          }
          assertAlike(expected, found);
          TopDocs[] batch =
              new BatchedKnn(searcher, installation.executor())
                  .search(
                      DeviceSegment.FIELD,
                      vectors.subList(0, 40),
                      WalkParameters.exact(30),
                      K,
                      null);
          assertAlike(expected, List.of(batch));
          DeviceTestCase.assertNoFallback(gpu, before);
          assertTrue(gpu.counts().answered() >= before.answered() + 2 * 3 * 40);
          views.forEach(gpu.executor()::closing);
        }
      }
    }
  }

  private static void write(
      MMapDirectory directory, List<QueryVector> vectors, VectorSimilarityFunction similarity)
      throws IOException {
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(
            VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, codes()),
            Workers.callingThread());
    try (IndexWriter writer = new IndexWriter(directory, DeviceSegment.config(format))) {
      for (int id = 0; id < vectors.size(); id++) {
        writer.addDocument(DeviceSegment.document(id, vectors.get(id), similarity));
        if ((id + 1) % (vectors.size() / 3) == 0) {
          writer.flush();
        }
      }
      for (int id = 0; id < vectors.size(); id += 10) {
        writer.deleteDocuments(new Term(DeviceSegment.ID, Integer.toString(id)));
      }
    }
  }

  private static TopDocs search(IndexSearcher searcher, QueryVector vector) throws IOException {
    VamanaSearchStrategy strategy = new VamanaSearchStrategy(WalkParameters.exact(30));
    return searcher.search(
        new KnnFloatVectorQuery(DeviceSegment.FIELD, vector.floats(), K, null, strategy), K);
  }

  private static void assertAlike(List<TopDocs> expected, List<TopDocs> actual) {
    int alike = 0;
    for (int i = 0; i < expected.size(); i++) {
      assertEquals(K, actual.get(i).scoreDocs.length);
      for (int rank = 0; rank < K; rank++) {
        float score = expected.get(i).scoreDocs[rank].score;
        assertNotEquals(0, actual.get(i).scoreDocs[rank].doc % 10);
        alike +=
            Math.abs(score - actual.get(i).scoreDocs[rank].score)
                    <= 1e-5f * Math.max(1, Math.abs(score))
                ? 1
                : 0;
      }
    }
    assertTrue(alike + " ranks", alike >= SHARE * K * expected.size() - OTHER_WAYS * K);
  }
}
