package dev.vamana.cuda.memory;

import dev.vamana.cuda.kernel.Limits;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Lists the possible placements of a segment, best first, and chooses the first that fits.
 *
 * <p>Placements are ordered by the cost of a walk. For float vectors of {@link Placement#WIDE}
 * components and more, byte copies with the raw vectors beside them on the device come first,
 * because a walk reads a quarter of the bytes. They take up to a quarter more memory than the raw
 * vectors alone, which do as well for all but speed, so they are {@link PlacementPlan#ifRoom}. So
 * do copies of narrower vectors of integers, which are the vectors themselves.
 *
 * <p>Then come exact distances: they need no re-ranking and the narrowest beam. Half-precision and
 * byte copies need a re-ranking of a few vectors, which are read from the mapped file, but their
 * distances are still better than distances of codes, which need a wider beam. The last three
 * placements use codes, with the graph on the device, read in place, or fetched by the CPU.
 *
 * <p>Inverted lists are on the device in both of their placements: with the raw vectors ({@link
 * Placement#EXACT}), or with raw vectors that are read in place ({@link Placement#IN_MEMORY}).
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

  /**
   * The memory that a plan may take. {@link SegmentPlacer} measures it.
   *
   * @param device free bytes on the device
   * @param mapped bytes of page cache that may be pinned
   * @param ample free bytes on the device beyond the reserve for segments to come; plans that are
   *     taken only {@link PlacementPlan#ifRoom} may take no more
   */
  record Room(long device, long mapped, long ample) {

    /** Whether a plan fits. */
    boolean fits(PlacementPlan plan) {
      return plan.deviceBytes() <= (plan.ifRoom() ? Math.min(device, ample) : device)
          && plan.mappedBytes() <= mapped;
    }
  }

  private final Set<Placement> allowed;

  /**
   * Makes a planner.
   *
   * @param allowed the placements from which one is chosen for each segment
   */
  PlacementPlanner(Set<Placement> allowed) {
    this.allowed = allowed;
  }

  /**
   * Returns all plans for a segment, best first; empty if the device cannot search it.
   *
   * @param registers whether the device can read mapped files
   * @param whole whether byte copies may be the vectors themselves, {@link CopyCenter#whole}
   */
  List<PlacementPlan> candidates(SegmentShape shape, boolean registers, boolean whole) {
    List<PlacementPlan> candidates = new ArrayList<>();
    if (supports(shape) == false) {
      return candidates;
    }
    if (copiesPay(shape, whole)) {
      candidates.add(PlacementPlan.ofFastCopies(shape));
    }
    for (Placement placement : ORDER) {
      if (allowed(shape, placement) == false || possible(shape, placement, registers) == false) {
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

  /** Returns the first plan that fits, or null. */
  static PlacementPlan choose(List<PlacementPlan> candidates, Room room) {
    for (PlacementPlan plan : candidates) {
      if (room.fits(plan)) {
        return plan;
      }
    }
    return null;
  }

  /** Whether the kernels can search a segment at all. */
  private static boolean supports(SegmentShape shape) {
    return shape.size() > 0
        && shape.graphStride() <= Limits.MAX_DEGREE
        && shape.graphStride() % 4 == 0
        && shape.dimension() <= Limits.MAX_DIMENSION
        && shape.subspaces() <= Limits.MAX_SUBSPACES;
  }

  /** Byte vectors take the place of their copies: they have one byte a component already. */
  private boolean allowed(SegmentShape shape, Placement placement) {
    return allowed.contains(placement)
        || (placement == Placement.EXACT
            && shape.floats() == false
            && (allowed.contains(Placement.EXACT_FLOAT16)
                || allowed.contains(Placement.EXACT_INT8)));
  }

  /** Whether copies are worth memory that the raw vectors do not need. */
  private boolean copiesPay(SegmentShape shape, boolean whole) {
    return shape.floats()
        && shape.hasGraph()
        && shape.hasLists() == false
        && shape.rawVectors()
        && (whole || Placement.usual(shape.dimension()) == Placement.EXACT_INT8)
        && allowed.contains(Placement.EXACT)
        && allowed.contains(Placement.EXACT_INT8);
  }

  private static boolean possible(SegmentShape shape, Placement placement, boolean registers) {
    if (shape.hasLists()) {
      return shape.rawVectors()
          && (placement == Placement.EXACT || placement == Placement.IN_MEMORY);
    }
    if (shape.hasGraph() == false) {
      // nothing but scans
      return placement == Placement.EXACT && shape.rawVectors();
    }
    return switch (placement) {
      case EXACT -> shape.rawVectors();
      case EXACT_FLOAT16, EXACT_INT8 -> shape.rawVectors() && shape.floats();
      case IN_MEMORY, HOST_FETCH -> shape.hasCodes();
      case MAPPED_GRAPH -> shape.hasCodes() && registers && shape.graphMapped();
    };
  }

  /**
   * Whether a placement can re-rank from {@code raw}. Raw vectors on the device beside copies or
   * codes take more memory than {@code EXACT} alone, so they are possible only where that is not
   * allowed; {@link #copiesPay} tells the exception.
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
      case DEVICE ->
          allowed(shape, Placement.EXACT) == false
              && placement != Placement.MAPPED_GRAPH
              && shape.rawVectors();
      case MAPPED -> registers && shape.vectorsMapped();
      // the kernel of lists scores while it searches
      case CALLER -> shape.hasLists() == false;
    };
  }
}
