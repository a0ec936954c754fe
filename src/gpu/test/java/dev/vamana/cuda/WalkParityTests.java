package dev.vamana.cuda;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.tools.gpu.Gpu;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.VectorUtil;

/** Compares walks on the device with the CPU's reference walk, on generated vectors. */
public class WalkParityTests extends DeviceTestCase {

  private static final int SIZE = 6_000;
  private static final int QUERIES = 400;
  private static final VamanaParameters GRAPH =
      VamanaParameters.DEFAULT.withGraph(32, 64, 1.2f).withThresholds(0, 0);

  private static WalkParameters walk(Placement placement, int beam, int parents, int rerank) {
    return new WalkParameters(
        beam,
        QUANTIZED_WALKS.contains(placement)
            ? WalkParameters.Distances.QUANTIZED
            : WalkParameters.Distances.EXACT,
        parents,
        rerank);
  }

  private static List<Placement> placements() {
    List<Placement> placements = new ArrayList<>(EXACT_WALKS);
    placements.addAll(QUANTIZED_WALKS);
    return placements;
  }

  private static DeviceSegment segment(
      int size,
      int dimension,
      VectorEncoding encoding,
      VectorSimilarityFunction similarity,
      VamanaParameters parameters)
      throws IOException {
    List<QueryVector> vectors =
        DeviceSegment.clustered(
            new Random(random().nextLong()), size, dimension, encoding, similarity);
    return DeviceSegment.of(createTempDir(), vectors, similarity, parameters, workers());
  }

  /** Some vectors of the segment, moved by a little. */
  private static List<QueryVector> queries(DeviceSegment segment, int count) {
    List<QueryVector> queries = new ArrayList<>();
    while (queries.size() < count) {
      QueryVector vector = segment.vectors().get(random().nextInt(segment.vectors().size()));
      queries.add(random().nextInt(4) == 0 ? vector : moved(vector, segment.view().similarity()));
    }
    return queries;
  }

  private static QueryVector moved(QueryVector vector, VectorSimilarityFunction similarity) {
    float[] moved = vector.toFloats();
    if (vector.encoding() == VectorEncoding.BYTE) {
      byte[] bytes = new byte[moved.length];
      for (int d = 0; d < bytes.length; d++) {
        int value = Math.round(moved[d] + (float) random().nextGaussian() * 10);
        bytes[d] = (byte) Math.max(-128, Math.min(127, value));
      }
      bytes[0] = bytes[0] == 0 ? 1 : bytes[0];
      return QueryVector.of(bytes);
    }
    float spread = 0.3f / (similarity == VectorSimilarityFunction.DOT_PRODUCT ? moved.length : 1);
    for (int d = 0; d < moved.length; d++) {
      moved[d] += (float) random().nextGaussian() * spread;
    }
    if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
      VectorUtil.l2normalize(moved);
    }
    return QueryVector.of(moved);
  }

  /** The items that one test compares on a segment. */
  private interface Cases {
    List<WorkItem> items(DeviceSegment segment, Placement placement) throws IOException;
  }

  /** Compares batch after batch; the share of equal positions is counted over all of them. */
  private static void compare(DeviceSegment segment, List<Placement> placements, Cases... batches)
      throws IOException, InterruptedException {
    for (Placement placement : placements) {
      if (QUANTIZED_WALKS.contains(placement)) {
        compare(segment, placement, floatTable(segment), batches);
      }
      compare(segment, placement, Tuning.DEFAULT, batches);
    }
  }

  /** A table in single precision, where it still fits. */
  private static Tuning floatTable(DeviceSegment segment) throws IOException {
    return Tuning.DEFAULT.withTable(
        segment.view().codebook().layout().count() <= 160
            ? Policy.TABLE_FLOAT
            : Policy.TABLE_GLOBAL);
  }

  private static void compare(
      DeviceSegment segment, Placement placement, Tuning tuning, Cases... batches)
      throws IOException, InterruptedException {
    try (Gpu gpu = open(placement, tuning)) {
      SegmentView view = segment.view();
      serve(gpu, view);
      Gpu.Counts before = gpu.counts();
      Parity parity = new Parity(workers());
      for (Cases batch : batches) {
        parity.add(gpu.executor(), batch.items(segment, placement));
      }
      assertNoFallback(gpu, before);
      parity.assertShare(
          String.format(
              Locale.ROOT,
              "%s, %s, %s, %s, dimension %d, degree %d",
              placement,
              tuning,
              view.encoding(),
              view.similarity(),
              view.dimension(),
              view.maxDegree()),
          QUANTIZED_WALKS.contains(placement) && tuning.table() == null
              ? Parity.HALF_TABLES
              : Parity.FLOAT_SUMS);
      gpu.executor().closing(view);
    }
  }

  private static Cases plain(int beam, int parents) {
    return (segment, placement) ->
        items(segment, queries(segment, QUERIES), 10, walk(placement, beam, parents, 0));
  }

  private void everySimilarity(VectorEncoding encoding) throws Exception {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      try (DeviceSegment segment = segment(SIZE, 48, encoding, similarity, GRAPH)) {
        compare(segment, placements(), plain(20, 1));
      }
    }
  }

  public void testFloatsOfEverySimilarity() throws Exception {
    everySimilarity(VectorEncoding.FLOAT32);
  }

  public void testBytesOfEverySimilarity() throws Exception {
    everySimilarity(VectorEncoding.BYTE);
  }

  private void dimensions(int... dimensions) throws Exception {
    for (int dimension : dimensions) {
      VectorEncoding encoding =
          random().nextInt(4) == 0 ? VectorEncoding.BYTE : VectorEncoding.FLOAT32;
      VamanaParameters parameters =
          GRAPH.withSubspaces(dimension < 64 ? dimension : VamanaParameters.AUTO_SUBSPACES);
      try (DeviceSegment segment =
          segment(SIZE, dimension, encoding, VectorSimilarityFunction.EUCLIDEAN, parameters)) {
        compare(segment, placements(), plain(48, 1));
      }
    }
  }

  public void testSmallDimensions() throws Exception {
    // of one or two dimensions many distances tie, so that the walk's order is all there is
    dimensions(3, 5, 7, 16, 17, 31, 33);
  }

  public void testMiddleDimensions() throws Exception {
    dimensions(64, 100, 127, 128, 129, 200, 255, 256, 300);
  }

  public void testLargeDimensions() throws Exception {
    dimensions(768, 784, 1000, 1536);
  }

  public void testLargestDimension() throws Exception {
    dimensions(4096);
  }

  public void testDegrees() throws Exception {
    for (int degree : new int[] {4, 7, 8, 24, 33, 64, 100, 128}) {
      try (DeviceSegment segment =
          segment(
              SIZE,
              24,
              VectorEncoding.FLOAT32,
              VectorSimilarityFunction.EUCLIDEAN,
              GRAPH.withGraph(degree, Math.max(64, degree), 1.2f))) {
        compare(segment, placements(), plain(12, 1));
      }
    }
  }

  public void testSubspaces() throws Exception {
    for (int subspaces : new int[] {1, 2, 3, 8, 31, 32, 64, 96, 128, 255, 256}) {
      try (DeviceSegment segment =
          segment(
              SIZE,
              256,
              VectorEncoding.FLOAT32,
              VectorSimilarityFunction.DOT_PRODUCT,
              GRAPH.withSubspaces(subspaces))) {
        for (Placement placement : QUANTIZED_WALKS) {
          // 256 KiB do not fit a block's shared memory
          Policy floats = subspaces < 200 ? Policy.TABLE_FLOAT : Policy.TABLE_GLOBAL;
          compare(segment, placement, Tuning.DEFAULT.withTable(floats), plain(20, 1));
          // sums of a few rounded entries tie where others do not
          if (subspaces >= 31) {
            compare(segment, placement, Tuning.DEFAULT, plain(20, 1));
          }
        }
      }
    }
  }

  private static Cases[] beams(int mostHits, int... beams) {
    return Arrays.stream(beams)
        .mapToObj(
            beam ->
                (Cases)
                    (segment, placement) ->
                        items(
                            segment,
                            queries(segment, 100),
                            Math.min(beam, mostHits),
                            walk(placement, beam, 1, 0)))
        .toArray(Cases[]::new);
  }

  public void testBeams() throws Exception {
    try (DeviceSegment segment =
        segment(60_000, 16, VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN, GRAPH)) {
      compare(
          segment,
          placements(),
          beams(50, 1, 2, 31, 32, 33, 100, 255, 256, 257, 500, 1_000, 1_025));
    }
  }

  public void testWidestBeams() throws Exception {
    try (DeviceSegment segment =
        segment(
            400_000,
            8,
            VectorEncoding.FLOAT32,
            VectorSimilarityFunction.EUCLIDEAN,
            GRAPH.withGraph(16, 32, 1.2f).withSubspaces(8))) {
      compare(segment, placements(), beams(1_000, 2_000, 4_097, 10_000));
    }
  }

  public void testParents() throws Exception {
    try (DeviceSegment segment =
        segment(20_000, 32, VectorEncoding.FLOAT32, randomSimilarity(), GRAPH)) {
      for (int parents : new int[] {2, 3, 4, 8, 16, 64}) {
        compare(segment, placements(), plain(40, parents));
      }
    }
  }

  public void testRerankDepths() throws Exception {
    try (DeviceSegment segment = segment(20_000, 40, randomEncoding(), randomSimilarity(), GRAPH)) {
      for (int rerank : new int[] {WalkParameters.RERANK_EXPANDED, 1, 10, 11, 33, 64, 500}) {
        compare(
            segment,
            QUANTIZED_WALKS,
            (it, placement) -> items(it, queries(it, QUERIES), 10, walk(placement, 64, 1, rerank)));
      }
    }
  }

  public void testFilters() throws Exception {
    try (DeviceSegment segment = segment(30_000, 20, randomEncoding(), randomSimilarity(), GRAPH)) {
      int size = segment.vectors().size();
      for (double share : new double[] {0.95, 0.5, 0.2}) {
        FixedBitSet shared = accepted(size, share);
        compare(
            segment,
            placements(),
            (it, placement) -> {
              List<WorkItem> items = new ArrayList<>();
              for (QueryVector query : queries(it, QUERIES)) {
                // some items bring a filter of their own, most share one as the segment's deletes
                FixedBitSet bits = random().nextInt(8) == 0 ? accepted(size, share) : shared;
                items.add(
                    item(
                        it.view(),
                        query,
                        10,
                        walk(placement, 16, 1, 0),
                        bits,
                        bits.cardinality(),
                        Long.MAX_VALUE,
                        new int[0]));
              }
              return items;
            });
      }
    }
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

  public void testEntryPoints() throws Exception {
    try (DeviceSegment segment = segment(SIZE, 20, randomEncoding(), randomSimilarity(), GRAPH)) {
      compare(
          segment,
          placements(),
          (it, placement) -> {
            List<WorkItem> items = new ArrayList<>();
            for (QueryVector query : queries(it, QUERIES)) {
              int[] entryPoints = new int[random().nextInt(40)];
              for (int i = 0; i < entryPoints.length; i++) {
                entryPoints[i] = random().nextInt(SIZE);
              }
              items.add(
                  item(
                      it.view(),
                      query,
                      10,
                      walk(placement, 24, 1, 0),
                      null,
                      SIZE,
                      Long.MAX_VALUE,
                      entryPoints));
            }
            return items;
          });
    }
  }

  public void testBatchesOfManyShapes() throws Exception {
    try (DeviceSegment segment =
        segment(20_000, 36, VectorEncoding.FLOAT32, randomSimilarity(), GRAPH)) {
      compare(
          segment,
          placements(),
          (it, placement) -> {
            List<WorkItem> items = new ArrayList<>();
            for (QueryVector query : queries(it, 1_000)) {
              int beam = 10 + random().nextInt(90);
              items.add(
                  item(
                      it.view(),
                      query,
                      1 + random().nextInt(20),
                      walk(placement, beam, 1 + random().nextInt(3), random().nextInt(60))));
            }
            return items;
          });
    }
  }

  private static VectorEncoding randomEncoding() {
    return VectorEncoding.values()[random().nextInt(2)];
  }

  private static VectorSimilarityFunction randomSimilarity() {
    VectorSimilarityFunction[] all = VectorSimilarityFunction.values();
    return all[random().nextInt(all.length)];
  }
}
