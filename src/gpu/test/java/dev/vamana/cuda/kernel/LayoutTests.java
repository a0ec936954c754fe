package dev.vamana.cuda.kernel;

import com.sun.jna.Pointer;
import dev.vamana.cuda.kernel.BuildLayouts.BuildLayout;
import dev.vamana.cuda.kernel.BuildLayouts.ConvertLayout;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansLayout;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansSizes;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansStateLayout;
import dev.vamana.cuda.kernel.BuildLayouts.RangeLayout;
import dev.vamana.cuda.kernel.BuildLayouts.RangeResultLayout;
import dev.vamana.cuda.kernel.ListLayouts.ListBatchLayout;
import dev.vamana.cuda.kernel.ListLayouts.ListSearchLayout;
import dev.vamana.cuda.kernel.ListLayouts.ListsLayout;
import dev.vamana.cuda.kernel.ScanLayouts.ExactBlockLayout;
import dev.vamana.cuda.kernel.ScanLayouts.ExactFactsLayout;
import dev.vamana.cuda.kernel.ScanLayouts.ExactLimits;
import dev.vamana.cuda.kernel.ScanLayouts.ExactManyLayout;
import dev.vamana.cuda.kernel.ScanLayouts.ExactScanLayout;
import dev.vamana.cuda.kernel.ScanLayouts.SelectLayout;
import dev.vamana.cuda.kernel.WalkLayouts.FetchStateLayout;
import dev.vamana.cuda.kernel.WalkLayouts.HostFetchLayout;
import dev.vamana.cuda.kernel.WalkLayouts.ItemLayout;
import dev.vamana.cuda.kernel.WalkLayouts.ResultLayout;
import dev.vamana.cuda.kernel.WalkLayouts.SegmentLayout;
import dev.vamana.cuda.kernel.WalkLayouts.WalkLayout;
import dev.vamana.cuda.lists.ListKernels;
import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.ListShape;
import dev.vamana.ivf.Rotation;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Field;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.index.VectorSimilarityFunction;

/** Compares the parameter layouts written by Java with the layouts of the C++ compiler. */
public class LayoutTests extends KernelTestCase {

  public void testSegment() throws IllegalAccessException {
    assertLayout("Segment", SegmentLayout.class);
  }

  public void testItem() throws IllegalAccessException {
    assertLayout("Item", ItemLayout.class);
  }

  public void testResult() throws IllegalAccessException {
    assertLayout("Result", ResultLayout.class);
    assertEquals(ResultLayout.BYTES, ResultLayout.ordinals());
    assertEquals(ResultLayout.BYTES + 4 * 7, ResultLayout.scores(7));
    assertEquals(ResultLayout.BYTES + 8 * 7, ResultLayout.bytes(7));
  }

  public void testWalk() throws IllegalAccessException {
    assertLayout("Walk", WalkLayout.class);
  }

  public void testLists() throws IllegalAccessException {
    assertLayout("Lists", ListsLayout.class);
    assertLayout("ListSearch", ListSearchLayout.class);
    assertLayout("ListBatch", ListBatchLayout.class);
    assertConstant(ListBatchSizes.WAVE, "kBatchWave");
    assertConstant(ListBatchSizes.MAX_KEPT, "kMaxBatchKept");
    assertConstant(ListBatchSizes.MAX_ROOM, "kMaxBatchRoom");
    assertConstant(ListBatchSizes.MAX_PADDED, "kMaxBatchPadded");
    assertConstant(ListBatchSizes.MEASURE_BYTES, "kBatchMeasureBytes");
    assertConstant(ListBatchSizes.KEEP_BYTES, "kBatchKeepBytes");
    assertConstant(ListBatchSizes.SCAN_BYTES, "kBatchScanBytes");
    assertConstant(ListCodes.BITS.ordinal(), "kListBits");
    assertConstant(ListCodes.TABLE.ordinal(), "kListTable");
    assertConstant(ListCodes.TABLE_GLOBAL.ordinal(), "kListTableGlobal");
    assertConstant(CodeKind.PQ.bits(), "kQuantizedBits");
    assertConstant(ListMemory.LISTS_OFFSET, "kListsOffset");
    assertConstant(ListMemory.CONTROL_BYTES, "kListControlBytes");
    assertConstant(ListMemory.SHARED_LISTS, "kListSharedLists");
    assertConstant(ListMemory.SCORED, "kListScored");
    assertConstant(ListMemory.CANDIDATES, "kListCandidates");
    assertConstant(ListMemory.WAVE, "kListWave");
    assertConstant(ListMemory.WAVE_CANDIDATES, "kWaveCandidates");
    assertConstant(ListMemory.GROUP, "kListsOfGroup");
    assertConstant(ListMemory.OPEN_LIST_BYTES, "kOpenListBytes");
    assertConstant(ListMemory.WAVE_CONTROL_BYTES, "kWaveControlBytes");
    assertConstant(Tuning.MOST_TEAM, "kMostTeam");
    assertConstant(ListMemory.TEAM_BYTES, "kListTeamBytes");
    assertConstant(ListShape.BLOCK, "kListBlock");
    assertConstant(ListShape.GROUP, "kListGroup");
    SimtKernels kernels = SimtKernels.load();
    for (boolean bytes : new boolean[] {false, true}) {
      for (ListCodes codes : ListCodes.values()) {
        for (int tuned : ListKernels.tuned(codes)) {
          String name = ListKernels.name(bytes, codes, ListKernels.warps(tuned, codes));
          assertNotNull(name, kernels.find(name));
        }
      }
    }
  }

  public void testListMemory() {
    for (int round = 0; round < 500; round++) {
      int width = 1 + random().nextInt(Limits.MAX_BEAM_WIDTH);
      int lists = 1 + random().nextInt(random().nextBoolean() ? 5_000 : ListShape.MAX_LISTS);
      int dimension = 1 + random().nextInt(Limits.MAX_DIMENSION);
      int padded = Rotation.padded(dimension);
      ListCodes codes = ListCodes.values()[random().nextInt(ListCodes.values().length)];
      int subspaces = codes == ListCodes.BITS ? 0 : 1 + random().nextInt(Math.min(dimension, 256));
      try (Arena arena = Arena.ofConfined()) {
        Pointer search =
            HostLibrary.pointer(
                new NativeStruct("ListSearch", arena)
                    .set("width", width)
                    .set("lists", lists)
                    .set("dimension", dimension)
                    .set("padded", padded)
                    .set("subspaces", subspaces)
                    .memory());
        boolean waves = random().nextBoolean();
        ListMemory memory = ListMemory.of(codes, width, lists, dimension, padded, subspaces, waves);
        assertEquals(
            library.vamana_list_shared_bytes(search, waves ? 1 : 0, codes.ordinal()),
            memory.sharedBytes());
        assertTrue(
            library.vamana_list_scratch_bytes(search, waves ? 1 : 0, codes.ordinal())
                <= memory.scratchBytes());
        assertEquals(0, memory.scratchBytes() % 512);
      }
    }
  }

  public void testListBatchSizes() {
    try (Arena arena = Arena.ofConfined()) {
      for (int i = 0; i < 100; i++) {
        int dimension = 1 + random().nextInt(ListBatchSizes.MAX_PADDED);
        ListBatchSizes sizes =
            new ListBatchSizes(
                1 + random().nextInt(20_000),
                1 + random().nextInt(200),
                1 + random().nextInt(ListShape.MAX_LISTS),
                dimension,
                Rotation.padded(dimension),
                1 + random().nextInt(ListBatchSizes.MAX_KEPT),
                1 + random().nextInt(ListBatchSizes.MAX_ROOM),
                1 + random().nextInt(2_000));
        MemorySegment batch = arena.allocate(ListBatchLayout.BYTES, Long.BYTES);
        long search = ListBatchLayout.SEARCH;
        set(batch, search + ListSearchLayout.COUNT, sizes.count());
        set(batch, search + ListSearchLayout.WIDTH, sizes.width());
        set(batch, search + ListSearchLayout.LISTS, sizes.lists());
        set(batch, search + ListSearchLayout.DIMENSION, sizes.dimension());
        set(batch, search + ListSearchLayout.PADDED, sizes.padded());
        set(batch, ListBatchLayout.LISTS, sizes.lists());
        set(batch, ListBatchLayout.PADDED, sizes.padded());
        set(batch, ListBatchLayout.KEPT, sizes.kept());
        set(batch, ListBatchLayout.ROOM, sizes.room());
        set(batch, ListBatchLayout.ROWS, sizes.rows());
        Pointer pointer = HostLibrary.pointer(batch);
        long bytes = library.vamana_list_batch_bytes(pointer, 0);
        assertEquals(bytes, sizes.bytes());
        assertTrue(sizes.count() * sizes.bytesOfItem() <= bytes);
        assertEquals(library.vamana_list_batch_bytes(pointer, 1), sizes.itemBytes());
        assertEquals(library.vamana_list_batch_bytes(pointer, 2), sizes.scoreBytes());
        assertEquals(library.vamana_list_batch_bytes(pointer, 3), sizes.estimateBytes());
      }
    }
  }

  private static void set(MemorySegment target, long offset, int value) {
    target.set(ValueLayout.JAVA_INT, offset, value);
  }

  public void testConversions() throws IllegalAccessException {
    assertLayout("Convert", ConvertLayout.class);
    assertLayout("Range", RangeLayout.class);
    assertLayout("RangeResult", RangeResultLayout.class);
    for (float value : new float[] {0, -0f, 1.5f, -1.5f, Float.MAX_VALUE, -Float.MIN_VALUE}) {
      int sortable = (int) (library.vamana_make_key(value, 0) >>> 32);
      assertEquals(value, RangeResultLayout.unsortable(sortable), 0f);
    }
  }

  public void testHostFetch() throws IllegalAccessException {
    assertPart("FetchState", FetchStateLayout.class);
    assertLayout("HostFetch", HostFetchLayout.class);
    assertConstant(FetchKernels.THREADS, "kFetchThreads");
    for (int dimension : new int[] {1, 16, 17, 4096}) {
      assertEquals(
          library.vamana_fetch_shared_bytes(0, 0, dimension),
          FetchKernels.beginSharedBytes(dimension));
    }
    assertEquals(library.vamana_fetch_shared_bytes(1, 96, 0), FetchKernels.stepSharedBytes(96));
  }

  public void testExactScan() throws IllegalAccessException {
    assertLayout("ExactScan", ExactScanLayout.class);
    assertConstant(ExactLimits.FEW_HITS, "kExactFewHits");
    assertConstant(ExactLimits.MOST_PARTS, "kExactParts");
    assertConstant(ExactLimits.NEAREST_BYTES, "kExactNearestBytes");
    assertConstant(ExactLimits.TILE, "kExactTile");
    assertConstant(ExactLimits.DEPTH, "kExactDepth");
    assertConstant(ExactLimits.STAGES, "kExactStages");
    assertConstant(ExactLimits.STAGE_BYTES, "kExactStageBytes");
    assertConstant(ExactLimits.HALF, "kExactHalf");
    assertConstant(ExactLimits.UNSIGNED, "kExactUnsigned");
    assertConstant(ExactLimits.SIGNED, "kExactSigned");
    assertLayout("ExactFacts", ExactFactsLayout.class);
    assertLayout("ExactMany", ExactManyLayout.class);
    assertLayout("ExactBlock", ExactBlockLayout.class);
  }

  public void testSelect() throws IllegalAccessException {
    assertLayout("Select", SelectLayout.class);
  }

  public void testBuild() throws IllegalAccessException {
    assertLayout("Build", BuildLayout.class);
    assertConstant(BuildSizes.CHUNK, "kBuildChunk");
    assertConstant(BuildSizes.COUNTER_BYTES / Integer.BYTES, "kBuildCounters");
    assertConstant(0, "kBuildItem");
  }

  public void testKMeans() throws IllegalAccessException {
    assertLayout("KMeans", KMeansLayout.class);
    assertLayout("KMeansState", KMeansStateLayout.class);
    assertConstant(KMeansSizes.CHUNK, "kKMeansChunk");
    assertConstant(KMeansSizes.PART, "kKMeansPart");
    assertConstant(KMeansSizes.SHORT_ROWS, "kKMeansShortRows");
    assertConstant(KMeansSizes.TILE_ROWS, "kKMeansTileRows");
    assertConstant(KMeansSizes.MAX_CENTROIDS, "kKMeansMaxCentroids");
  }

  public void testLimits() {
    assertConstant(Limits.CENTROIDS, "kCentroids");
    assertConstant(Limits.MAX_DEGREE, "kMaxDegree");
    assertConstant(Limits.MAX_SUBSPACES, "kMaxSubspaces");
    assertConstant(Limits.MAX_DIMENSION, "kMaxDimension");
    assertConstant(Limits.MAX_WHOLE_DIMENSION, "kWholeDimension");
    assertConstant(Limits.MAX_BEAM_WIDTH, "kMaxBeamWidth");
    assertConstant(Limits.MAX_PARENTS, "kMaxParents");
    assertConstant(0xFFFFFFFFL, "kUnusedSlot");
    assertEquals(-1, library.vamana_constant("kNothing"));
  }

  public void testFlagsAndFormats() {
    assertConstant(ResultLayout.FLAG_COMPLETE, "kComplete");
    assertConstant(ResultLayout.FLAG_CORRUPT, "kCorrupt");
    assertConstant(ResultLayout.FLAG_APPROXIMATE, "kApproximate");
    assertConstant(ResultLayout.FLAG_OVERFLOW, "kOverflow");
    assertConstant(RangeResultLayout.FLAG_FRACTIONS, "kFractions");
    assertConstant(RangeResultLayout.FLAG_NOT_FINITE, "kNotFinite");
    assertConstant(RangeResultLayout.FLAG_ROUNDED, "kRounded");
    assertConstant(WalkLayout.FLAG_SIDE_BY_SIDE, "kSideBySide");
    assertConstant(WalkLayout.FLAG_LIMITED, "kLimited");
    assertConstant(Integer.toUnsignedLong(Limits.NO_VISIT_LIMIT), "kUnlimited");
    assertConstant(SegmentLayout.FORMAT_FLOAT32, "kFloat32");
    assertConstant(SegmentLayout.FORMAT_FLOAT16, "kFloat16");
    assertConstant(SegmentLayout.FORMAT_BYTE, "kByte");
  }

  public void testSimilaritiesHaveLucenesOrdinals() {
    assertConstant(VectorSimilarityFunction.EUCLIDEAN.ordinal(), "kEuclidean");
    assertConstant(VectorSimilarityFunction.DOT_PRODUCT.ordinal(), "kDotProduct");
    assertConstant(VectorSimilarityFunction.COSINE.ordinal(), "kCosine");
    assertConstant(
        VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT.ordinal(), "kMaximumInnerProduct");
    assertEquals(4, VectorSimilarityFunction.values().length);
  }

  public void testEveryPolicyHasItsKernels() {
    SimtKernels kernels = SimtKernels.load();
    for (Policy policy : Policy.values()) {
      for (int warps : Tuning.WARPS) {
        String name = policy.kernelName(warps);
        assertNotNull(name, kernels.find(name));
      }
    }
    assertNull(kernels.find("walk_by_foot"));
  }

  public void testSharedMemory() {
    assertConstant(SharedLayout.CONTROL_BYTES, "kControlBytes");
    for (int round = 0; round < 500; round++) {
      Policy policy = Policy.values()[random().nextInt(Policy.values().length)];
      int beam = 1 + random().nextInt(Limits.MAX_BEAM_WIDTH);
      int fresh = 32 * (1 + random().nextInt(256));
      int slots = 4 << random().nextInt(13);
      int dimension = 1 + random().nextInt(Limits.MAX_DIMENSION);
      int subspaces = policy.quantized() ? 1 + random().nextInt(Limits.MAX_SUBSPACES) : 0;
      int expanded = random().nextBoolean() ? 0 : random().nextInt(20_000);
      try (Arena arena = Arena.ofConfined()) {
        Pointer walk =
            HostLibrary.pointer(
                new NativeStruct("Walk", arena)
                    .set("list_capacity", beam)
                    .set("fresh_capacity", fresh)
                    .set("visited_slots", slots)
                    .set("dimension", dimension)
                    .set("subspaces", subspaces)
                    .set("expanded_capacity", expanded)
                    .memory());
        int[] offsets = new int[7];
        library.vamana_shared_layout(policy.ordinal(), walk, offsets);
        assertEquals(
            new SharedLayout(
                offsets[0], offsets[1], offsets[2], offsets[3], offsets[4], offsets[5], offsets[6]),
            SharedLayout.of(policy, beam, fresh, slots, dimension, subspaces));
        assertEquals(
            library.vamana_scratch_bytes(policy.ordinal(), walk),
            SharedLayout.scratchBytes(policy, subspaces, expanded));
      }
    }
  }

  private static void assertConstant(long expected, String name) {
    assertEquals(name, expected, library.vamana_constant(name));
  }

  private static void assertLayout(String struct, Class<?> layout) throws IllegalAccessException {
    assertEquals(written(struct), read(layout));
  }

  /** As {@link #assertLayout}, for a class that has some of the fields. */
  private static void assertPart(String struct, Class<?> layout) throws IllegalAccessException {
    Map<String, Long> expected = written(struct);
    Map<String, Long> actual = read(layout);
    expected.keySet().retainAll(actual.keySet());
    assertEquals(expected, actual);
  }

  /** Offsets of all fields but the reserved ones, and the size. */
  private static Map<String, Long> written(String name) {
    HeaderStruct struct = HeaderStruct.of(name);
    Map<String, Long> expected = new TreeMap<>();
    expected.put("BYTES", (long) struct.bytes());
    struct
        .fields()
        .forEach((field, at) -> expected.put(field.toUpperCase(Locale.ROOT), (long) at.offset()));
    expected.remove("RESERVED");
    return expected;
  }

  private static Map<String, Long> read(Class<?> layout) throws IllegalAccessException {
    Map<String, Long> actual = new TreeMap<>();
    for (Field field : layout.getFields()) {
      if (field.getName().startsWith("FLAG_") == false
          && field.getName().startsWith("FORMAT_") == false) {
        actual.put(field.getName(), field.getLong(null));
      }
    }
    return actual;
  }
}
