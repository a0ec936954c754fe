package dev.vamana.cuda.memory;

import dev.vamana.cuda.kernel.Limits;
import java.util.ArrayList;
import java.util.List;

/**
 * Chooses where a segment lies.
 *
 * <p>The order is that of what a walk costs. Exact distances come first: they need no second pass
 * and the narrowest beam. Copies in half precision or of one byte a component need a re-ranking of
 * a few vectors, which are read from the mapped file; they still are better distances than those of
 * codes, for which the walk pays with a wider beam. From in-memory on, it is codes; and once the
 * graph does not fit either, it is read in place, and failing that, fetched by the CPU.
 */
final class PlacementPlanner {

  private static final List<Placement> ORDER =
      List.of(
          Placement.EXACT,
          Placement.EXACT_FLOAT16,
          Placement.EXACT_INT8,
          Placement.IN_MEMORY,
          Placement.MAPPED_GRAPH,
          Placement.HOST_FETCH);

  private final Placement forced;

  /**
   * Makes a planner.
   *
   * @param forced the placement of all segments, or null to choose for each
   */
  PlacementPlanner(Placement forced) {
    this.forced = forced;
  }

  /**
   * All ways to place a segment, the best first; none if it cannot be searched on the device.
   *
   * @param registers whether the device can read mapped files
   */
  List<PlacementPlan> candidates(SegmentShape shape, boolean registers) {
    List<PlacementPlan> candidates = new ArrayList<>();
    if (obstacle(shape) != null) {
      return candidates;
    }
    for (Placement placement : forced == null ? ORDER : List.of(effective(forced, shape))) {
      if (possible(shape, placement, registers) == false) {
        continue;
      }
      for (RawVectors raw : RawVectors.values()) {
        if (possible(shape, placement, raw, registers)) {
          candidates.add(PlacementPlan.of(shape, placement, raw));
        }
      }
    }
    return candidates;
  }

  /** The first that fits, or null. */
  static PlacementPlan choose(List<PlacementPlan> candidates, long deviceFree, long mappedFree) {
    for (PlacementPlan plan : candidates) {
      if (fits(plan, deviceFree, mappedFree)) {
        return plan;
      }
    }
    return null;
  }

  static boolean fits(PlacementPlan plan, long deviceFree, long mappedFree) {
    return plan.deviceBytes() <= deviceFree && plan.mappedBytes() <= mappedFree;
  }

  /** Why a segment is never searched on the device, or null. */
  static String obstacle(SegmentShape shape) {
    if (shape.size() < 1 || shape.hasGraph() == false) {
      return "no graph";
    }
    if (shape.graphStride() > Limits.MAX_DEGREE) {
      return "rows of " + shape.graphStride() + " slots are above " + Limits.MAX_DEGREE;
    }
    if (shape.graphStride() % 4 != 0) {
      return "rows of " + shape.graphStride() + " slots are not multiples of 16 bytes";
    }
    if (shape.dimension() > Limits.MAX_DIMENSION) {
      return "dimension " + shape.dimension() + " is above " + Limits.MAX_DIMENSION;
    }
    if (shape.subspaces() > Limits.MAX_SUBSPACES) {
      return shape.subspaces() + " subspaces are above " + Limits.MAX_SUBSPACES;
    }
    return null;
  }

  /** Byte vectors have one byte a component as they are. */
  private static Placement effective(Placement forced, SegmentShape shape) {
    boolean copies = forced == Placement.EXACT_FLOAT16 || forced == Placement.EXACT_INT8;
    return copies && shape.floats() == false ? Placement.EXACT : forced;
  }

  private static boolean possible(SegmentShape shape, Placement placement, boolean registers) {
    return switch (placement) {
      case EXACT -> shape.rawVectors();
      case EXACT_FLOAT16, EXACT_INT8 -> shape.rawVectors() && shape.floats();
      case IN_MEMORY, HOST_FETCH -> shape.hasCodes();
      case MAPPED_GRAPH -> shape.hasCodes() && registers && shape.graphMapped();
    };
  }

  /**
   * Raw vectors beside copies or codes take more of the device than walking on them alone, so a
   * planner that is free to choose never puts them there.
   */
  private boolean possible(
      SegmentShape shape, Placement placement, RawVectors raw, boolean registers) {
    if (placement == Placement.EXACT) {
      return raw == RawVectors.DEVICE;
    }
    if (placement == Placement.HOST_FETCH) {
      return raw == RawVectors.CALLER;
    }
    return switch (raw) {
      case DEVICE -> forced != null && placement != Placement.MAPPED_GRAPH && shape.rawVectors();
      case MAPPED -> registers && shape.vectorsMapped();
      case CALLER -> true;
    };
  }
}
