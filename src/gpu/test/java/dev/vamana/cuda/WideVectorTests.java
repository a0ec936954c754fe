package dev.vamana.cuda;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.api.DynamicOptions;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.VectorUtil;

/**
 * Tests what wide float vectors get where the choice of a placement is free: byte copies beside the
 * raw vectors, unless there is little room or the copies would cost recall.
 */
public class WideVectorTests extends GpuTestCase {

  private static final int K = 10;
  private static final int BEAM = 20;
  private static final int QUERIES = 30;

  private final Random random = new Random(random().nextLong());
  private final int dimension = Placement.WIDE + random.nextInt(100);
  private final VectorSimilarityFunction similarity =
      VectorSimilarityFunction.values()[random.nextInt(4)];

  /** Vectors of some independent directions, like embeddings, at any scale. */
  private float[][] vectors(int count, float[][] directions, float scale) {
    float[][] vectors = new float[count][dimension];
    for (float[] vector : vectors) {
      for (float[] direction : directions) {
        float weight = (float) random.nextGaussian();
        for (int d = 0; d < dimension; d++) {
          vector[d] += scale * weight * direction[d];
        }
      }
      for (int d = 0; d < dimension; d++) {
        vector[d] += scale * 0.1f * (float) random.nextGaussian();
      }
    }
    return vectors;
  }

  private float[][] directions() {
    float[][] directions = new float[6 + random.nextInt(6)][dimension];
    for (float[] direction : directions) {
      for (int d = 0; d < dimension; d++) {
        direction[d] = (float) random.nextGaussian();
      }
    }
    return directions;
  }

  /** Clusters whose components differ by less than the step of a copy. */
  private float[][] narrowClusters(int count) {
    float[][] centers = new float[20][];
    for (int c = 0; c < centers.length; c++) {
      centers[c] = vectors(1, directions(), 1)[0];
    }
    float[][] vectors = new float[count][];
    for (int i = 0; i < count; i++) {
      vectors[i] = centers[random.nextInt(centers.length)].clone();
      for (int d = 0; d < dimension; d++) {
        vectors[i][d] += 0.01f * (float) random.nextGaussian();
      }
    }
    return vectors;
  }

  private DeviceSegment segment(float[][] vectors) throws IOException {
    if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
      Arrays.stream(vectors).forEach(VectorUtil::l2normalize);
    }
    return DeviceSegment.of(
        createTempDir(),
        Arrays.stream(vectors).map(QueryVector::of).toList(),
        similarity,
        VamanaParameters.DEFAULT.withGraph(24, 48, 1.2f).withThresholds(0, 0),
        Workers.callingThread());
  }

  private List<WorkItem> items(SegmentView view, float[][] queries, FixedBitSet accepted) {
    List<WorkItem> items = new ArrayList<>();
    WalkParameters walk = WalkParameters.exact(BEAM).withParents(1 + random.nextInt(4));
    for (float[] query : queries) {
      items.add(Walks.item(view, QueryVector.of(query), K, walk, accepted));
    }
    return items;
  }

  private static final class Refusals extends QuietListener {
    private final List<String> told = new ArrayList<>();

    @Override
    public synchronized void refused(String segment, GpuException cause) {
      told.add(cause.getMessage());
    }

    @Override
    public synchronized void uploadFailed(String segment, Throwable cause) {
      told.add(cause.getMessage());
    }
  }

  private static GpuExecutor open(
      SimulatedDriver driver,
      Placement placement,
      MemoryLimit limit,
      PlanMode mode,
      Refusals told) {
    return GpuExecutor.open(
        () -> driver,
        ResidencyOptions.defaults(DEVICE_BYTES)
            .withPlacement(placement)
            .withLimits(limit, MemoryLimit.bytes(0)),
        QUIET.withPlan(mode).withBatches(BATCHES),
        told);
  }

  private static DevicePresence placed(GpuExecutor executor, SegmentView view)
      throws InterruptedException {
    executor.warm(view);
    await(() -> executor.presence(view).state() == DevicePresence.State.RESIDENT);
    return executor.presence(view);
  }

  /** Searches with a placement, or a free choice if it is null, and asserts which one is used. */
  private static List<WorkResult> search(
      Placement placement, PlanMode mode, SegmentView view, List<WorkItem> items, String expected)
      throws Exception {
    Refusals told = new Refusals();
    try (SimulatedDriver driver = driver();
        GpuExecutor executor = open(driver, placement, MemoryLimit.percent(90), mode, told)) {
      assertEquals(expected, placed(executor, view).placement());
      List<WorkResult> found = executor.search(items);
      // a walk that ends with fewer than k hits, as between clusters, is completed by the CPU
      long answered = executor.statistics().counters().get("items_by_placement").get(expected);
      assertTrue(answered + " of " + items.size(), 2 * answered > items.size());
      assertEquals(List.of(), told.told);
      assertEquals(0, executor.statistics().counter("residency", "page_cache_bytes"));
      executor.closing(view);
      return found;
    }
  }

  /** Share of the hits that are as near as the last of the nearest, at least. */
  private double recall(float[][] base, float[][] queries, List<WorkResult> results) {
    int hits = 0;
    for (int q = 0; q < queries.length; q++) {
      float[] query = queries[q];
      double[] scores =
          IntStream.range(0, base.length)
              .mapToDouble(i -> similarity.compare(query, base[i]))
              .sorted()
              .toArray();
      double last = scores[scores.length - K];
      WorkResult result = results.get(q);
      for (int rank = 0; rank < result.ordinals().length; rank++) {
        float score = similarity.compare(query, base[result.ordinals()[rank]]);
        assertEquals(score, result.scores()[rank], 1e-4f * Math.abs(score));
        hits += score >= last - 1e-6 * Math.abs(last) ? 1 : 0;
      }
    }
    return hits / (double) (K * queries.length);
  }

  private void assertRecall(float[][] base, float[][] queries, String expected) throws Exception {
    try (DeviceSegment segment = segment(base)) {
      SegmentView view = segment.view();
      List<WorkItem> items = items(view, queries, null);
      double free = recall(base, queries, search(null, PlanMode.GRAPH, view, items, expected));
      double exact =
          recall(base, queries, search(Placement.EXACT, PlanMode.GRAPH, view, items, "exact"));
      assertTrue(similarity + ": " + free + ", exact " + exact, free >= exact - 0.03);
    }
  }

  public void testCopiesBesideTheVectors() throws Exception {
    float scale = (float) Math.pow(10, random.nextInt(7) - 3);
    float[][] directions = directions();
    float[][] base = vectors(1_000 + random.nextInt(300), directions, scale);
    assertRecall(base, vectors(QUERIES, directions, scale), "exact-int8");
  }

  public void testOneOutlierCostsOnlyItsVector() throws Exception {
    float[][] directions = directions();
    float[][] base = vectors(1_000 + random.nextInt(300), directions, 1);
    base[random.nextInt(base.length)][random.nextInt(dimension)] *= 1_000;
    assertRecall(base, vectors(QUERIES, directions, 1), "exact-int8");
  }

  public void testVectorsThatCopiesWouldNotTellApart() throws Exception {
    float[][] base = narrowClusters(1_000 + random.nextInt(300));
    float[][] queries = new float[QUERIES][];
    for (int q = 0; q < QUERIES; q++) {
      queries[q] = base[random.nextInt(base.length)].clone();
    }
    assertRecall(base, queries, "exact");
  }

  /** Exact searches compare the raw vectors, which are on the device beside the copies. */
  public void testExactSearchBesideCopies() throws Exception {
    float[][] directions = directions();
    float[][] base = vectors(1_000, directions, 1);
    float[][] queries = vectors(QUERIES, directions, 1);
    try (DeviceSegment segment = segment(base)) {
      SegmentView view = segment.view();
      FixedBitSet few = new FixedBitSet(view.size());
      while (few.cardinality() < 40) {
        few.set(random.nextInt(view.size()));
      }
      List<WorkItem> items = new ArrayList<>(items(view, queries, few));
      items.addAll(items(view, queries, null));
      List<WorkResult> free = search(null, PlanMode.EXACT, view, items, "exact-int8");
      assertSame(search(Placement.EXACT, PlanMode.EXACT, view, items, "exact"), free, 1);
      assertEquals(1, recall(base, queries, free.subList(QUERIES, 2 * QUERIES)), 0);
    }
  }

  public void testCopiesComeWhenThereIsRoom() throws Exception {
    try (DeviceSegment segment = segment(vectors(1_000, directions(), 1));
        SimulatedDriver first = driver();
        SimulatedDriver second = driver()) {
      SegmentView view = segment.view();
      long copies;
      try (GpuExecutor executor =
          open(first, null, MemoryLimit.percent(90), PlanMode.GRAPH, new Refusals())) {
        copies = placed(executor, view).deviceBytes();
        executor.closing(view);
      }
      Refusals told = new Refusals();
      try (GpuExecutor executor =
          open(second, null, MemoryLimit.bytes(2 * copies - 2), PlanMode.GRAPH, told)) {
        DevicePresence little = placed(executor, view);
        assertEquals("exact", little.placement());
        assertTrue(little.deviceBytes() < copies);
        executor.adjust(adjusted(MemoryLimit.percent(90)));
        await(() -> executor.presence(view).placement().equals("exact-int8"));
        assertEquals(copies, executor.presence(view).deviceBytes());
        assertEquals(List.of(), told.told);
        executor.closing(view);
      }
    }
  }

  private static DynamicOptions adjusted(MemoryLimit limit) {
    return new DynamicOptions(
        limit,
        MemoryLimit.bytes(0),
        Placement.ALL,
        BATCHES.maxBatch(),
        0,
        false,
        GpuOptions.DEFAULT.waitForUpload(),
        PlanMode.GRAPH);
  }
}
