package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import dev.vamana.graph.StoredAdjacency;
import java.lang.foreign.MemorySegment;

/**
 * Device memory for the vectors of expanded nodes, in walks that re-rank all of them. The vectors
 * are copied after the rows of their step, on a separate stream (BANG, section 4.3). When the arena
 * is full, {@link FetchReranker} copies further vectors after the walk.
 */
final class VectorArena {

  private static final int CHUNK = 32;
  private static final int BUFFERS = 2;

  private final GatherTeam team;
  private final long mostBytes;
  private final DriverObjects objects;
  private final DeviceBuffer device;
  private final long stream;
  private final PinnedBuffer[] buffers = new PinnedBuffer[BUFFERS];
  private final long[] copied = new long[BUFFERS];
  private int next;
  private FetchShape shape;
  private long address;
  private int capacity;
  private int used;

  /**
   * Makes an arena without memory. The calling thread is bound to the driver.
   *
   * @param mostBytes limit of device memory
   */
  VectorArena(DriverObjects objects, GatherTeam team, long mostBytes) {
    this.objects = objects;
    this.team = team;
    this.mostBytes = mostBytes;
    this.device = objects.device();
    this.stream = objects.stream();
    for (int i = 0; i < BUFFERS; i++) {
      buffers[i] = objects.pinned();
      copied[i] = objects.event();
    }
  }

  /** Empties the arena for a batch. */
  void reset(FetchShape ofBatch) {
    shape = ofBatch;
    used = 0;
    capacity = 0;
    long rows = mostBytes / shape.vectorStride();
    if (shape.expanded() && rows > 0) {
      address = device.ensure(rows * shape.vectorStride());
      capacity = (int) Math.min(rows, Integer.MAX_VALUE);
    }
  }

  /** Returns the device address of the first row. */
  long address() {
    return address;
  }

  /** Returns the stream of the copies. */
  long stream() {
    return stream;
  }

  /**
   * Records expanded nodes, and copies their vectors if there is room.
   *
   * @param active slot numbers
   * @param parents {@code width} nodes of each slot, or {@link StoredAdjacency#UNUSED}
   */
  void gather(FetchSlot[] slots, int[] active, int[] parents, int count, int width) {
    if (shape.expanded() == false) {
      return;
    }
    int rows = count * width;
    long bytes = (long) rows * shape.vectorStride();
    boolean room = rows <= capacity - used && bytes <= PinnedBuffer.MAX_BYTES / 4;
    for (int i = 0; i < rows; i++) {
      if (parents[i] != StoredAdjacency.UNUSED) {
        slots[active[i / width]].expand(parents[i], room ? used + i : FetchSlot.NOT_COPIED);
      }
    }
    if (room == false) {
      return;
    }
    PinnedBuffer buffer = buffers[next];
    objects.await(copied[next]);
    buffer.ensure(bytes);
    MemorySegment target = buffer.segment();
    team.forEach(
        rows,
        CHUNK,
        (from, to, worker) -> {
          for (int i = from; i < to; i++) {
            if (parents[i] != StoredAdjacency.UNUSED) {
              copy(slots[active[i / width]], parents[i], target, i, worker);
            }
          }
        });
    objects
        .driver()
        .copyToDevice(
            address + (long) used * shape.vectorStride(), target.asSlice(0, bytes), stream);
    objects.driver().record(copied[next], stream);
    next = (next + 1) % BUFFERS;
    used += rows;
  }

  private void copy(FetchSlot slot, int node, MemorySegment target, int row, int worker) {
    try {
      if (slot.failure() == null) {
        slot.files().copyVector(node, target, (long) row * shape.vectorStride(), worker);
      }
    } catch (Exception e) {
      slot.fail(e);
    }
  }
}
