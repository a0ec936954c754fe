package dev.vamana.cuda.memory;

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
        new PlacementPlanner(Placement.only(forced)).candidates(shape, registers, false)) {
      names.add(plan.placement() + "/" + plan.raw());
    }
    return names;
  }

  private static PlacementPlan choose(List<PlacementPlan> candidates, long device, long mapped) {
    return PlacementPlanner.choose(candidates, new PlacementPlanner.Room(device, mapped, device));
  }

  private static SegmentShape wide(int dimension, VectorEncoding encoding) {
    return new SegmentShape(1000, dimension, encoding, 64, 32, true, true, true, null, 0);
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

  public void testWideFloatsBeginWithCopiesBesideTheVectors() {
    int dimension = Placement.WIDE + random().nextInt(1000);
    List<String> expected = new ArrayList<>(names(null, FLOATS, true));
    expected.add(0, "EXACT_INT8/DEVICE");
    assertEquals(expected, names(null, wide(dimension, VectorEncoding.FLOAT32), true));
    assertEquals(names(null, FLOATS, true), names(null, wide(255, VectorEncoding.FLOAT32), true));
    assertEquals(names(null, BYTES, true), names(null, wide(dimension, VectorEncoding.BYTE), true));
  }

  /** Copies that may be the vectors themselves pay at any dimension. */
  public void testWholeVectorsBeginWithCopiesBesideTheVectors() {
    int dimension = 1 + random().nextInt(Placement.WIDE - 1);
    PlacementPlanner planner = new PlacementPlanner(Placement.ALL);
    for (VectorEncoding encoding : VectorEncoding.values()) {
      SegmentShape shape = wide(dimension, encoding);
      List<PlacementPlan> expected = new ArrayList<>(planner.candidates(shape, true, false));
      if (encoding == VectorEncoding.FLOAT32) {
        expected.add(0, PlacementPlan.ofFastCopies(shape));
      }
      assertEquals(expected, planner.candidates(shape, true, true));
    }
    SegmentShape shape = wide(dimension, VectorEncoding.FLOAT32);
    for (Placement placement : Placement.values()) {
      PlacementPlanner chosen = new PlacementPlanner(Set.of(placement));
      assertEquals(chosen.candidates(shape, true, false), chosen.candidates(shape, true, true));
    }
  }

  public void testCopiesOfWideFloatsNeedAmpleRoom() {
    SegmentShape shape = wide(Placement.WIDE + random().nextInt(1000), VectorEncoding.FLOAT32);
    List<PlacementPlan> candidates =
        new PlacementPlanner(Placement.ALL).candidates(shape, true, false);
    PlacementPlan copies = candidates.get(0);
    PlacementPlan exact = candidates.get(1);
    assertEquals(Placement.EXACT, exact.placement());
    long bytes = copies.deviceBytes();
    double part = bytes / (double) exact.deviceBytes();
    assertTrue(part + " of exact", part > 1 && part < 1.25);
    assertSame(
        copies, PlacementPlanner.choose(candidates, new PlacementPlanner.Room(PLENTY, 0, bytes)));
    assertSame(
        exact,
        PlacementPlanner.choose(candidates, new PlacementPlanner.Room(PLENTY, 0, bytes - 1)));
    assertSame(
        exact, PlacementPlanner.choose(candidates, new PlacementPlanner.Room(bytes - 1, 0, bytes)));
    assertSame(
        exact, PlacementPlanner.choose(candidates, new PlacementPlanner.Room(PLENTY, 0, -PLENTY)));
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

  /** Each placement gives way to the next one byte below what it takes. */
  public void testChoiceByFreeMemory() {
    SegmentShape shape =
        new SegmentShape(100_000, 128, VectorEncoding.FLOAT32, 64, 32, true, true, true, null, 0);
    List<PlacementPlan> candidates =
        new PlacementPlanner(Placement.ALL).candidates(shape, true, false);
    List<Placement> chosen = new ArrayList<>();
    long free = PLENTY;
    for (; ; ) {
      PlacementPlan plan = choose(candidates, free, PLENTY);
      if (plan == null) {
        break;
      }
      assertSame(plan, choose(candidates, plan.deviceBytes(), PLENTY));
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
    assertEquals(Placement.HOST_FETCH, choose(candidates, free + 1, 0).placement());
  }

  /** Arrays lie behind the descriptor, aligned, without overlap and without waste. */
  public void testLayouts() {
    for (int round = 0; round < 200; round++) {
      int dimension = 1 + random().nextInt(500);
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
          new PlacementPlanner(Placement.only(forced)).candidates(shape, true, false)) {
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
        add(arrays, plan.bits(), 2 * plan.bitsBytes());
        assertTrue(8 * plan.bitsBytes() >= size);
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
}
