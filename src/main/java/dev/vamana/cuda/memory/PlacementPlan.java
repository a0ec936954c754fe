package dev.vamana.cuda.memory;

import dev.vamana.cuda.kernel.Limits;

/**
 * One way to place a segment: what is copied to where in one block of device memory, and what stays
 * in the mapped files. Offsets are bytes from the start of the block, multiples of 256; {@link
 * #NONE} for what is not copied. The block begins with the segment's descriptor.
 *
 * @param shape the segment
 * @param placement the placement
 * @param raw where re-ranking finds raw vectors
 * @param graph offset of the adjacency rows, as they are in the file
 * @param vectors offset of what exact walks read, rows of {@link #vectorStride} bytes
 * @param rawCopy offset of the raw vectors, rows of {@link #rawStride} bytes; where exact walks
 *     read them too, the same as {@code vectors}
 * @param codes offset of the codes, rows of {@link #codeStride} bytes
 * @param columns offset of the codebook by columns
 * @param norms offset of the largest centroid norms
 * @param deviceBytes size of the block
 * @param mappedBytes most bytes of page cache that are pinned, in whole pages
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
    long deviceBytes,
    long mappedBytes) {

  /** Offset of what is not in the block. */
  static final long NONE = -1;

  /** Offset of the 16 bytes that the range of components is found in, behind the descriptor. */
  static final long RANGE = 128;

  private static final long ALIGNMENT = 256;

  /** Lays out the block of a placement. */
  static PlacementPlan of(SegmentShape shape, Placement placement, RawVectors raw) {
    Layout layout = new Layout();
    long graph = NONE;
    long vectors = NONE;
    long rawCopy = NONE;
    long codes = NONE;
    long columns = NONE;
    long norms = NONE;
    long mapped = 0;
    if (graphCopied(placement)) {
      graph = layout.add(shape.graphBytes());
    } else if (placement == Placement.MAPPED_GRAPH) {
      mapped += pages(shape.graphBytes());
    }
    if (walksExact(placement)) {
      vectors = layout.add((long) shape.size() * vectorStride(shape, placement));
    }
    if (placement == Placement.EXACT) {
      rawCopy = vectors;
    } else if (raw == RawVectors.DEVICE) {
      rawCopy = layout.add((long) shape.size() * padded(shape.vectorBytes()));
    } else if (raw == RawVectors.MAPPED) {
      mapped += pages(shape.rawBytes());
    }
    if (walksExact(placement) == false) {
      codes = layout.add((long) shape.size() * padded(shape.subspaces()));
      columns = layout.add((long) shape.dimension() * Limits.CENTROIDS * Float.BYTES);
      norms = layout.add((long) shape.subspaces() * Float.BYTES);
    }
    return new PlacementPlan(
        shape, placement, raw, graph, vectors, rawCopy, codes, columns, norms, layout.end, mapped);
  }

  private static final class Layout {
    private long end = ALIGNMENT;

    long add(long bytes) {
      long offset = end;
      end = (end + bytes + ALIGNMENT - 1) & -ALIGNMENT;
      return offset;
    }
  }

  /** Whether walks compare exact distances or those of copies, rather than those of codes. */
  static boolean walksExact(Placement placement) {
    return placement == Placement.EXACT
        || placement == Placement.EXACT_FLOAT16
        || placement == Placement.EXACT_INT8;
  }

  private static boolean graphCopied(Placement placement) {
    return walksExact(placement) || placement == Placement.IN_MEMORY;
  }

  /** Whether the graph is on the device. */
  boolean graphOnDevice() {
    return graph != NONE;
  }

  /** Whether walks read copies of float vectors in a smaller format. */
  boolean converts() {
    return placement == Placement.EXACT_FLOAT16 || placement == Placement.EXACT_INT8;
  }

  /** Bytes from one vector that walks read to the next; 0 if they read none. */
  int vectorStride() {
    return vectors == NONE ? 0 : vectorStride(shape, placement);
  }

  /** Bytes from one raw vector to the next; 0 if the device reads none. */
  int rawStride() {
    return switch (raw) {
      case DEVICE -> padded(shape.vectorBytes());
      case MAPPED -> shape.vectorBytes();
      case CALLER -> 0;
    };
  }

  /** Bytes from one code to the next; 0 without codes. */
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

  /** Most pages that a range of so many bytes touches, in bytes. */
  private static long pages(long bytes) {
    long page = MappedRegistrations.PAGE;
    return (bytes + 2 * page - 2) / page * page;
  }
}
