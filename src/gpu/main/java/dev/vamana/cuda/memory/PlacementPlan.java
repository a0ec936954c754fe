package dev.vamana.cuda.memory;

import dev.vamana.cuda.kernel.Limits;
import dev.vamana.cuda.kernel.ListLayouts.ListsLayout;
import dev.vamana.cuda.kernel.ListMemory;
import dev.vamana.ivf.ListShape;
import dev.vamana.ivf.Rotation;
import org.apache.lucene.util.FixedBitSet;

/**
 * A concrete placement of a segment: the layout of its block of device memory, and the parts that
 * stay in the mapped files. Offsets are in bytes from the start of the block and multiples of 256;
 * {@link #NONE} for parts that are not copied. The block begins with the segment's descriptor.
 *
 * @param shape the segment
 * @param placement the placement
 * @param raw where re-ranking reads raw vectors
 * @param graph offset of the adjacency rows, in the file's format
 * @param vectors offset of the vectors that exact walks read, in rows of {@link #vectorStride}
 *     bytes
 * @param rawCopy offset of the raw vectors, in rows of {@link #rawStride} bytes; equal to {@code
 *     vectors} if exact walks read the raw vectors
 * @param codes offset of the codes, in rows of {@link #codeStride} bytes
 * @param columns offset of the codebook in column order
 * @param norms offset of each subspace's largest centroid norm
 * @param facts offset of {@link #FACT_BYTES} bytes for each copy in bytes
 * @param center offset of the center of copies in bytes, in floats
 * @param lists where the inverted lists are; null without lists
 * @param deviceBytes size of the block
 * @param mappedBytes upper bound of the pinned page cache, in whole pages
 * @param ifRoom whether the plan has more than searches need, so that it is taken only where the
 *     device has ample room
 */
record PlacementPlan(
    SegmentShape shape,
    Placement placement,
    RawVectors raw,
    long graph,
    long vectors,
    long rawCopy,
    long codes,
    long columns,
    long norms,
    long facts,
    long center,
    ListParts lists,
    long deviceBytes,
    long mappedBytes,
    boolean ifRoom) {

  /** Offset of a part that is not in the block. */
  static final long NONE = -1;

  /** Bytes of facts about each copy in bytes: {@code vamana::ByteFacts}. */
  static final int FACT_BYTES = 2 * Float.BYTES;

  /**
   * Offset of 16 bytes behind the descriptor into which conversions write what they find out about
   * components.
   */
  static final long RANGE = 128;

  private static final long ALIGNMENT = 256;

  /**
   * The parts of inverted lists, whose {@link ListsLayout} is {@link ListMemory#LISTS_OFFSET} bytes
   * from the start of the block.
   *
   * @param file offset of the bytes of the file
   * @param starts offset of the number of groups of places before each list
   * @param rotation offset of the signs of the rotation, or of what says where a trained one has
   *     the numbers of each component
   */
  record ListParts(long file, long starts, long rotation) {}

  /** Lays out the block of a placement. */
  static PlacementPlan of(SegmentShape shape, Placement placement, RawVectors raw) {
    return of(shape, placement, raw, false);
  }

  /**
   * Lays out copies in bytes beside the raw vectors, for walks that are faster than {@link
   * Placement#EXACT}. Only where there is ample room.
   */
  static PlacementPlan ofFastCopies(SegmentShape shape) {
    return of(shape, Placement.EXACT_INT8, RawVectors.DEVICE, true);
  }

  private static PlacementPlan of(
      SegmentShape shape, Placement placement, RawVectors raw, boolean ifRoom) {
    Layout layout = new Layout();
    ListParts lists = shape.hasLists() ? layout.lists(shape) : null;
    boolean graph = lists == null && shape.hasGraph() && graphCopied(placement);
    boolean copied = lists == null && walksExact(placement);
    boolean bytes = copied && placement == Placement.EXACT_INT8;
    boolean coded = lists == null && copied == false;
    long size = shape.size();
    long graphOffset = layout.add(graph, shape.graphBytes());
    long walked = layout.add(copied, size * vectorStride(shape, placement));
    long facts = layout.add(bytes, size * FACT_BYTES);
    long center = layout.add(bytes, (long) shape.dimension() * Float.BYTES);
    boolean both = copied && placement == Placement.EXACT;
    long rawCopy =
        both ? walked : layout.add(raw == RawVectors.DEVICE, size * padded(shape.vectorBytes()));
    long codes = layout.add(coded, size * padded(shape.subspaces()));
    int subspaces = lists != null ? shape.lists().subspaces() : coded ? shape.subspaces() : 0;
    long columnBytes = (long) shape.dimension() * Limits.CENTROIDS * Float.BYTES;
    long columns = layout.add(subspaces > 0, columnBytes);
    long norms = layout.add(subspaces > 0, (long) subspaces * Float.BYTES);
    layout.add(true, ResidentBits.PLACES * bitsBytes(shape));
    return new PlacementPlan(
        shape,
        placement,
        raw,
        graphOffset,
        lists != null && placement == Placement.EXACT ? rawCopy : walked,
        rawCopy,
        codes,
        columns,
        norms,
        facts,
        center,
        lists,
        layout.end,
        (placement == Placement.MAPPED_GRAPH ? pages(shape.graphBytes()) : 0)
            + (raw == RawVectors.MAPPED ? pages(shape.rawBytes()) : 0),
        ifRoom);
  }

  private static long rotationBytes(ListShape lists) {
    int rounds = lists.kind().isRabitq() ? Rotation.rounds(lists.dimension()) : 0;
    return (long) rounds * lists.padded() * Float.BYTES;
  }

  private static final class Layout {
    private long end = ALIGNMENT;

    /** Returns the offset of a part, if it is wanted. */
    long add(boolean wanted, long bytes) {
      long offset = end;
      end = wanted ? (end + bytes + ALIGNMENT - 1) & -ALIGNMENT : end;
      return wanted ? offset : NONE;
    }

    ListParts lists(SegmentShape shape) {
      ListShape lists = shape.lists();
      long descriptor = add(true, ListsLayout.BYTES);
      assert descriptor == ListMemory.LISTS_OFFSET;
      return new ListParts(
          add(true, shape.listBytes()),
          add(true, (long) lists.lists() * Integer.BYTES),
          add(true, rotationBytes(lists)));
    }
  }

  /** Returns the bytes of a place of {@link ResidentBits}, a bit for each vector. */
  private static long bitsBytes(SegmentShape shape) {
    long bytes = (long) FixedBitSet.bits2words(shape.size()) * Long.BYTES;
    return (bytes + ALIGNMENT - 1) & -ALIGNMENT;
  }

  /** Bytes of a place for accepted ordinals. */
  long bitsBytes() {
    return bitsBytes(shape);
  }

  /** Offset of the places for accepted ordinals, the last part of the block. */
  long bits() {
    return deviceBytes - ResidentBits.PLACES * bitsBytes();
  }

  /** Whether walks read vectors, or converted copies of them, rather than codes. */
  static boolean walksExact(Placement placement) {
    return placement == Placement.EXACT
        || placement == Placement.EXACT_FLOAT16
        || placement == Placement.EXACT_INT8;
  }

  private static boolean graphCopied(Placement placement) {
    return walksExact(placement) || placement == Placement.IN_MEMORY;
  }

  /** Whether the graph is in the block. */
  boolean graphOnDevice() {
    return graph != NONE;
  }

  /** Whether the graph or the inverted lists are in the block. */
  boolean indexOnDevice() {
    return graphOnDevice() || lists != null;
  }

  /** Whether walks read converted copies of the float vectors. */
  boolean converts() {
    return placement == Placement.EXACT_FLOAT16 || placement == Placement.EXACT_INT8;
  }

  /** Bytes between vectors that walks read; 0 if walks read codes. */
  int vectorStride() {
    return vectors == NONE ? 0 : vectorStride(shape, placement);
  }

  /** Bytes between raw vectors; 0 if the device reads none. */
  int rawStride() {
    return switch (raw) {
      case DEVICE -> padded(shape.vectorBytes());
      case MAPPED -> shape.vectorBytes();
      case CALLER -> 0;
    };
  }

  /** Subspaces of the codes that kernels read; 0 if they read none of product quantization. */
  int subspaces() {
    if (lists != null) {
      return shape.lists().subspaces();
    }
    return codes == NONE ? 0 : shape.subspaces();
  }

  /** Bytes between codes; 0 without codes. */
  int codeStride() {
    return codes == NONE ? 0 : padded(shape.subspaces());
  }

  private static int vectorStride(SegmentShape shape, Placement placement) {
    return padded(
        switch (placement) {
          case EXACT_FLOAT16 -> shape.dimension() * Short.BYTES;
          case EXACT_INT8 -> shape.dimension();
          default -> shape.vectorBytes();
        });
  }

  private static int padded(int bytes) {
    return (bytes + 15) & -16;
  }

  /** Returns the most bytes of pages that a range of {@code bytes} bytes touches. */
  private static long pages(long bytes) {
    long page = MappedRegistrations.PAGE;
    return (bytes + 2 * page - 2) / page * page;
  }
}
