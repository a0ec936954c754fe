package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;

/**
 * Device memory for the vectors of expanded nodes, in walks that re-rank all of them. {@link
 * FetchWalk} copies them after the rows of their step (BANG, section 4.3). When the arena is full,
 * {@link FetchReranker} copies further vectors after the walk.
 */
final class VectorArena {

  private final long mostBytes;
  private final DeviceBuffer device;
  private long address;
  private int capacity;
  private int used;

  /**
   * Makes an arena without memory.
   *
   * @param mostBytes limit of device memory
   */
  VectorArena(DriverObjects objects, long mostBytes) {
    this.mostBytes = mostBytes;
    this.device = objects.device();
  }

  /** Empties the arena for a batch. */
  void reset(FetchShape shape) {
    used = 0;
    capacity = 0;
    long rows = mostBytes / shape.vectorStride();
    if (shape.expanded() && rows > 0) {
      address = device.ensure(rows * shape.vectorStride());
      capacity = (int) Math.min(rows, Integer.MAX_VALUE);
    }
  }

  /** Returns the first of so many rows, or {@link FetchSlot#NOT_COPIED} if there is no room. */
  int take(int rows) {
    if (rows > capacity - used) {
      return FetchSlot.NOT_COPIED;
    }
    used += rows;
    return used - rows;
  }

  /** Returns the device address of the first row. */
  long address() {
    return address;
  }
}
