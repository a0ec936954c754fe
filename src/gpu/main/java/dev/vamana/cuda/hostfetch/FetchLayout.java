package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.kernel.Limits;
import dev.vamana.cuda.kernel.WalkLayouts.FetchStateLayout;
import dev.vamana.cuda.kernel.WalkLayouts.ItemLayout;
import dev.vamana.cuda.memory.PinnedBuffer;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;

/**
 * The memory layout of a batch: offsets in the block of device memory that its kernels use, and
 * sizes in pinned memory. {@link FetchLane} makes one for each batch.
 *
 * @param shape shape of all items
 * @param listCapacity keys of a worklist, the largest beam
 * @param freshCapacity most new keys of a step, a multiple of 32
 * @param visitedSlots slots of a visited set, a power of two
 * @param startStride ordinals of the first row: medoid and entry points
 */
record FetchLayout(
    FetchShape shape, int listCapacity, int freshCapacity, int visitedSlots, int startStride) {

  private static final int ALIGNMENT = 256;
  private static final double VISITS_PER_EDGE = 0.6;
  private static final int APPROACH = 12;
  private static final int MIN_VISITED = 1 << 10;
  private static final int MAX_VISITED = 1 << 18;
  // limit of each pinned buffer whose size depends on the number of items
  private static final long MAX_PINNED = PinnedBuffer.MAX_BYTES / 4;

  /** Returns the layout for items of a shape. */
  static FetchLayout of(FetchShape shape, List<FetchSlot> slots) {
    int beam = 1;
    int entries = 0;
    for (FetchSlot slot : slots) {
      beam = Math.max(beam, slot.beam);
      entries = Math.max(entries, slot.item.entryPoints().length);
    }
    int start = (entries + 4) & ~3;
    int fresh = (Math.max(shape.rowStride(), start) + 31) & ~31;
    // twice the expected visits of a walk, so that few visited nodes are overwritten
    double visits = 2 * VISITS_PER_EDGE * shape.stride() * (beam + APPROACH);
    int slotsWanted = (int) Math.max(MIN_VISITED, Math.min(MAX_VISITED, visits));
    return new FetchLayout(shape, beam, fresh, Integer.highestOneBit(slotsWanted * 2 - 1), start);
  }

  /** Returns how many items fit {@code stateBytes} of device memory, at least 1. */
  int fitting(long stateBytes) {
    long items = (stateBytes - 8L * ALIGNMENT) / stateBytesOfOne();
    items = Math.min(items, MAX_PINNED / requestBytesOfOne());
    items = Math.min(items, MAX_PINNED / (Integer.BYTES * (1L + widestRow())));
    return (int) Math.max(1, Math.min(items, Integer.MAX_VALUE));
  }

  private long stateBytesOfOne() {
    return tableBytes() + 4L * visitedSlots + 8L * listCapacity + FetchStateLayout.BYTES;
  }

  /** Floats of a distance table. */
  int tableStride() {
    return shape.subspaces() * Limits.CENTROIDS;
  }

  private long tableBytes() {
    return (long) tableStride() * Float.BYTES;
  }

  /** Ordinals of the longest row. */
  int widestRow() {
    return Math.max(startStride, shape.rowStride());
  }

  long tables() {
    return 0;
  }

  long visited(int items) {
    return align(tables() + items * tableBytes());
  }

  long lists(int items) {
    return align(visited(items) + 4L * visitedSlots * items);
  }

  long states(int items) {
    return align(lists(items) + 8L * listCapacity * items);
  }

  long stateBytes(int items) {
    return states(items) + (long) FetchStateLayout.BYTES * items;
  }

  /** Offset of the first query in the pinned request memory. */
  long queries(int items) {
    return align((long) ItemLayout.BYTES * items);
  }

  /** Bytes of a query. */
  int queryBytes() {
    int bytes = shape.dimension() * (shape.encoding() == VectorEncoding.FLOAT32 ? Float.BYTES : 1);
    return (bytes + 15) & ~15;
  }

  long requestBytes(int items) {
    return queries(items) + (long) queryBytes() * items;
  }

  private long requestBytesOfOne() {
    return (long) ItemLayout.BYTES + queryBytes();
  }

  static long align(long offset) {
    return (offset + ALIGNMENT - 1) & -ALIGNMENT;
  }
}
