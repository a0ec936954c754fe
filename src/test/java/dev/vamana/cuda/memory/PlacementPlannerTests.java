package dev.vamana.cuda.memory;

import dev.vamana.cuda.kernel.SegmentLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.tests.util.LuceneTestCase;

public class PlacementPlannerTests extends LuceneTestCase {

  private static final long PLENTY = 1L << 50;

  private static final SegmentShape FLOATS =
      new SegmentShape(1000, 128, VectorEncoding.FLOAT32, 64, 32, true, true, true, null, 0);
  private static final SegmentShape BYTES =
      new SegmentShape(1000, 128, VectorEncoding.BYTE, 64, 32, true, true, true, null, 0);

  private static List<String> names(Placement forced, SegmentShape shape, boolean registers) {
    List<String> names = new ArrayList<>();
    for (PlacementPlan plan :
        new PlacementPlanner(Placement.only(forced)).candidates(shape, registers)) {
      names.add(plan.placement() + "/" + plan.raw());
    }
    return names;
  }

  private static SegmentShape unmapped(SegmentShape shape) {
    return new SegmentShape(
        shape.size(),
        shape.dimension(),
        shape.encoding(),
        shape.graphStride(),
        shape.subspaces(),
        shape.rawVectors(),
        false,
        false,
        null,
        0);
  }

  private static SegmentShape withGraph(SegmentShape shape, int stride, int subspaces) {
    return new SegmentShape(
        shape.size(),
        shape.dimension(),
        shape.encoding(),
        stride,
        subspaces,
        shape.rawVectors(),
        shape.graphMapped(),
        shape.vectorsMapped(),
        null,
        0);
  }

  public void testOrder() {
    assertEquals(
        List.of(
            "EXACT/DEVICE",
            "EXACT_FLOAT16/MAPPED",
            "EXACT_FLOAT16/CALLER",
            "EXACT_INT8/MAPPED",
            "EXACT_INT8/CALLER",
            "IN_MEMORY/MAPPED",
            "IN_MEMORY/CALLER",
            "MAPPED_GRAPH/MAPPED",
            "MAPPED_GRAPH/CALLER",
            "HOST_FETCH/CALLER"),
        names(null, FLOATS, true));
  }

  public void testByteVectorsHaveNoCopies() {
    List<String> expected =
        List.of(
            "EXACT/DEVICE",
            "IN_MEMORY/MAPPED",
            "IN_MEMORY/CALLER",
            "MAPPED_GRAPH/MAPPED",
            "MAPPED_GRAPH/CALLER",
            "HOST_FETCH/CALLER");
    assertEquals(expected, names(null, BYTES, true));
    assertEquals(List.of("EXACT/DEVICE"), names(Placement.EXACT_FLOAT16, BYTES, true));
    assertEquals(List.of("EXACT/DEVICE"), names(Placement.EXACT_INT8, BYTES, true));
  }

  public void testWithoutRegistration() {
    List<String> expected =
        List.of(
            "EXACT/DEVICE",
            "EXACT_FLOAT16/CALLER",
            "EXACT_INT8/CALLER",
            "IN_MEMORY/CALLER",
            "HOST_FETCH/CALLER");
    assertEquals(expected, names(null, FLOATS, false));
    assertEquals(expected, names(null, unmapped(FLOATS), true));
    assertEquals(List.of(), names(Placement.MAPPED_GRAPH, FLOATS, false));
    assertEquals(List.of(), names(Placement.MAPPED_GRAPH, unmapped(FLOATS), true));
  }

  public void testForced() {
    assertEquals(List.of("EXACT/DEVICE"), names(Placement.EXACT, FLOATS, true));
    for (Placement placement :
        new Placement[] {Placement.EXACT_FLOAT16, Placement.EXACT_INT8, Placement.IN_MEMORY}) {
      assertEquals(
          List.of(placement + "/DEVICE", placement + "/MAPPED", placement + "/CALLER"),
          names(placement, FLOATS, true));
    }
    assertEquals(
        List.of("MAPPED_GRAPH/MAPPED", "MAPPED_GRAPH/CALLER"),
        names(Placement.MAPPED_GRAPH, FLOATS, true));
    assertEquals(List.of("HOST_FETCH/CALLER"), names(Placement.HOST_FETCH, FLOATS, true));
  }

  public void testWithoutCodes() {
    SegmentShape shape = withGraph(FLOATS, 64, 0);
    assertEquals(
        List.of(
            "EXACT/DEVICE",
            "EXACT_FLOAT16/MAPPED",
            "EXACT_FLOAT16/CALLER",
            "EXACT_INT8/MAPPED",
            "EXACT_INT8/CALLER"),
        names(null, shape, true));
    for (Placement placement :
        new Placement[] {Placement.IN_MEMORY, Placement.MAPPED_GRAPH, Placement.HOST_FETCH}) {
      assertEquals(List.of(), names(placement, shape, true));
    }
  }

  public void testWithoutRawVectors() {
    SegmentShape shape =
        new SegmentShape(1000, 128, VectorEncoding.FLOAT32, 64, 32, false, true, false, null, 0);
    assertEquals(
        List.of("IN_MEMORY/CALLER", "MAPPED_GRAPH/CALLER", "HOST_FETCH/CALLER"),
        names(null, shape, true));
  }

  public void testObstacles() {
    assertNull(PlacementPlanner.obstacle(FLOATS));
    assertNull(PlacementPlanner.obstacle(withGraph(FLOATS, 128, 256)));
    assertNull(PlacementPlanner.obstacle(withGraph(FLOATS, 0, 0)));
    assertEquals(
        "rows of 132 slots are above 128", PlacementPlanner.obstacle(withGraph(FLOATS, 132, 32)));
    assertEquals(
        "rows of 66 slots are not multiples of 16 bytes",
        PlacementPlanner.obstacle(withGraph(FLOATS, 66, 32)));
    assertEquals(List.of(), names(null, withGraph(FLOATS, 132, 32), true));
  }

  /** Vectors alone are scanned, where they lie in device memory. */
  public void testNoGraph() {
    SegmentShape shape = withGraph(FLOATS, 0, 0);
    List<PlacementPlan> plans = new PlacementPlanner(Placement.ALL).candidates(shape, true);
    assertEquals(1, plans.size());
    assertEquals(Placement.EXACT, plans.get(0).placement());
    assertEquals(RawVectors.DEVICE, plans.get(0).raw());
    assertFalse(plans.get(0).indexOnDevice());
    PlacementPlan withGraph = PlacementPlan.of(FLOATS, Placement.EXACT, RawVectors.DEVICE);
    assertEquals(FLOATS.graphBytes(), withGraph.deviceBytes() - plans.get(0).deviceBytes());
    assertEquals(List.of(), names(Placement.IN_MEMORY, shape, true));
  }

  /** Each placement gives way to the next one byte below what it takes. */
  public void testChoiceByFreeMemory() {
    SegmentShape shape =
        new SegmentShape(100_000, 128, VectorEncoding.FLOAT32, 64, 32, true, true, true, null, 0);
    List<PlacementPlan> candidates = new PlacementPlanner(Placement.ALL).candidates(shape, true);
    List<Placement> chosen = new ArrayList<>();
    long free = PLENTY;
    for (; ; ) {
      PlacementPlan plan = PlacementPlanner.choose(candidates, free, PLENTY);
      if (plan == null) {
        break;
      }
      assertSame(plan, PlacementPlanner.choose(candidates, plan.deviceBytes(), PLENTY));
      chosen.add(plan.placement());
      free = plan.deviceBytes() - 1;
    }
    assertEquals(
        List.of(
            Placement.EXACT,
            Placement.EXACT_FLOAT16,
            Placement.EXACT_INT8,
            Placement.IN_MEMORY,
            Placement.MAPPED_GRAPH),
        chosen);
    assertEquals(
        Placement.HOST_FETCH, PlacementPlanner.choose(candidates, free + 1, 0).placement());
  }

  public void testChoiceByPageCache() {
    List<PlacementPlan> candidates =
        new PlacementPlanner(Set.of(Placement.MAPPED_GRAPH)).candidates(FLOATS, true);
    PlacementPlan both = candidates.get(0);
    PlacementPlan graph = candidates.get(1);
    assertTrue(both.mappedBytes() > graph.mappedBytes());
    assertSame(both, PlacementPlanner.choose(candidates, PLENTY, both.mappedBytes()));
    assertSame(graph, PlacementPlanner.choose(candidates, PLENTY, both.mappedBytes() - 1));
    assertNull(PlacementPlanner.choose(candidates, PLENTY, graph.mappedBytes() - 1));
  }

  /** Arrays lie behind the descriptor, aligned, without overlap and without waste. */
  public void testLayouts() {
    for (int round = 0; round < 200; round++) {
      int dimension = 1 + random().nextInt(300);
      SegmentShape shape =
          new SegmentShape(
              1 + random().nextInt(5000),
              dimension,
              VectorEncoding.values()[random().nextInt(2)],
              4 * (1 + random().nextInt(32)),
              1 + random().nextInt(Math.min(dimension, 256)),
              true,
              true,
              true,
              null,
              0);
      Placement forced = random().nextBoolean() ? null : Placement.values()[random().nextInt(6)];
      for (PlacementPlan plan :
          new PlacementPlanner(Placement.only(forced)).candidates(shape, true)) {
        TreeMap<Long, Long> arrays = new TreeMap<>();
        long size = shape.size();
        add(arrays, plan.graph(), size * shape.graphStride() * 4);
        add(arrays, plan.vectors(), size * plan.vectorStride());
        if (plan.rawCopy() != plan.vectors()) {
          add(arrays, plan.rawCopy(), size * plan.rawStride());
        }
        add(arrays, plan.codes(), size * plan.codeStride());
        add(arrays, plan.columns(), dimension * 1024L);
        add(arrays, plan.norms(), shape.subspaces() * 4L);
        add(arrays, plan.facts(), size * 8);
        add(arrays, plan.center(), dimension * 4L);
        long end = 256;
        for (var array : arrays.entrySet()) {
          assertEquals(end, (long) array.getKey());
          end = (array.getKey() + array.getValue() + 255) / 256 * 256;
        }
        assertEquals(end, plan.deviceBytes());
        assertEquals(0, plan.vectorStride() % 16);
        assertEquals(0, plan.codeStride() % 16);
        assertEquals(plan.raw() == RawVectors.CALLER, plan.rawStride() == 0);
      }
    }
  }

  private static void add(TreeMap<Long, Long> arrays, long offset, long bytes) {
    if (offset != PlacementPlan.NONE) {
      assertNull(arrays.put(offset, bytes));
    }
  }

  public void testDescriptorEndsBeforeTheRange() {
    assertTrue(SegmentLayout.BYTES <= PlacementPlan.RANGE);
  }

  public void testMostPagesOfARange() {
    SegmentShape shape =
        new SegmentShape(1, 4, VectorEncoding.FLOAT32, 4, 1, true, true, true, null, 0);
    // 16 bytes of graph may lie across two pages
    assertEquals(
        2 * MappedRegistrations.PAGE,
        PlacementPlan.of(shape, Placement.MAPPED_GRAPH, RawVectors.CALLER).mappedBytes());
  }
}
