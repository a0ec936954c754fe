package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.FetchKernels;
import dev.vamana.cuda.kernel.WalkLayouts.HostFetchLayout;
import dev.vamana.cuda.lane.Team;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.search.WorkItem;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Walks of some slots of a batch, with a stream of their own. The device works on a step, then the
 * CPU copies the adjacency rows of the next one. Queries whose walk has ended take no part in later
 * steps. {@link FetchBatch} has two: while the device works on one half of a large batch, the CPU
 * copies rows for the other.
 */
final class FetchWalk {

  private static final int CHUNK = 64;

  private final DriverObjects objects;
  private final CudaDriver driver;
  private final Team team;
  private final long stream;
  private final long picked;
  private final MemorySegment parameters =
      Arena.ofAuto().allocate(HostFetchLayout.BYTES, Long.BYTES);
  private final PinnedBuffer rows;
  private final PinnedBuffer picks;
  private final DeviceBuffer deviceRows;
  private FetchSlot[] slots;
  private FetchLayout layout;
  private int[] active = new int[0];
  private int[] parents = new int[0];
  private int count;

  /** Makes an instance. The calling thread is bound to the driver. */
  FetchWalk(DriverObjects objects, Team team) {
    this.objects = objects;
    this.driver = objects.driver();
    this.team = team;
    this.rows = objects.pinned();
    this.picks = objects.pinned();
    this.deviceRows = objects.device();
    this.stream = objects.stream();
    this.picked = objects.event();
  }

  long stream() {
    return stream;
  }

  /** Whether any walk has not ended. */
  boolean walking() {
    return count > 0;
  }

  /**
   * Makes distance tables and starts the walks of the slots from..to-1.
   *
   * @param state device address of the state block, laid out for all slots
   * @param items address of the items
   */
  void begin(FetchSlot[] all, int from, int to, FetchLayout layoutOfAll, long state, long items) {
    slots = all;
    layout = layoutOfAll;
    count = to - from;
    int width = layout.shape().parents();
    if (active.length < count) {
      active = new int[count];
    }
    if (parents.length < count * width) {
      parents = new int[count * width];
    }
    long rowBytes = (long) layout.widestRow() * Integer.BYTES;
    rows.ensure(rowsAt() + rowBytes * count);
    picks.ensure((long) count * width * Integer.BYTES);
    deviceRows.ensure(rowsAt() + rowBytes * count);
    MemorySegment target = rows.segment();
    int stride = layout.startStride();
    long at = rowsAt();
    for (int a = 0; a < count; a++) {
      WorkItem item = slots[from + a].item;
      active[a] = from + a;
      target.setAtIndex(ValueLayout.JAVA_INT, a, from + a);
      int[] entries = item.entryPoints();
      set(target, at, item.segment().medoid());
      for (int i = 1; i < stride; i++) {
        set(target, at + (long) i * Integer.BYTES, start(entries, i - 1));
      }
      at += (long) stride * Integer.BYTES;
    }
    setParameters(all.length, state, items);
    copyRows(stride);
    launch(FetchKernels.BEGIN, FetchKernels.beginSharedBytes(layout.shape().dimension()));
    launchStep();
  }

  private static int start(int[] entries, int i) {
    return i < entries.length ? entries[i] : StoredAdjacency.UNUSED;
  }

  /** Returns the offset of the first row, behind the slot numbers. */
  private long rowsAt() {
    return FetchLayout.align((long) count * Integer.BYTES);
  }

  private void setParameters(int allItems, long state, long items) {
    FetchLayout l = layout;
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.ITEMS, items);
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.STATES, state + l.states(allItems));
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.TABLES, state + l.tables());
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.LISTS, state + l.lists(allItems));
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.VISITED, state + l.visited(allItems));
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.PICKS, picks.address());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.TABLE_STRIDE, l.tableStride());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.LIST_CAPACITY, l.listCapacity());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.FRESH_CAPACITY, l.freshCapacity());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.VISITED_SLOTS, l.visitedSlots());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.PARENTS, l.shape().parents());
  }

  private void copyRows(int stride) {
    long address = deviceRows.ensure(0);
    long bytes = rowsAt() + (long) count * stride * Integer.BYTES;
    driver.copyToDevice(address, rows.segment().asSlice(0, bytes), stream);
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.SLOTS, address);
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.ROWS, address + rowsAt());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.COUNT, count);
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.ROW_STRIDE, stride);
  }

  private void launchStep() {
    launch(FetchKernels.STEP, FetchKernels.stepSharedBytes(layout.freshCapacity()));
    driver.record(picked, stream);
  }

  private void launch(String kernel, int sharedBytes) {
    driver.launch(
        driver.kernel(kernel), count, FetchKernels.THREADS, sharedBytes, parameters, stream);
  }

  /**
   * Waits for the next parents, and sends their rows. {@link #walking} is false afterwards if no
   * walk has a parent left.
   */
  void advance() {
    objects.await(picked);
    compact();
    if (count == 0) {
      return;
    }
    MemorySegment target = rows.segment();
    long first = rowsAt();
    for (int a = 0; a < count; a++) {
      target.setAtIndex(ValueLayout.JAVA_INT, a, active[a]);
    }
    team.forEach(count, CHUNK, (from, to, worker) -> copyRows(target, first, from, to, worker));
    copyRows(layout.shape().rowStride());
    launchStep();
  }

  /** Keeps only slots that have a parent to expand. */
  private void compact() {
    int width = layout.shape().parents();
    MemorySegment source = picks.segment();
    int alive = 0;
    for (int a = 0; a < count; a++) {
      FetchSlot slot = slots[active[a]];
      int nearest = source.getAtIndex(ValueLayout.JAVA_INT, (long) a * width);
      if (slot.dropped() || nearest == StoredAdjacency.UNUSED) {
        continue;
      }
      boolean valid = true;
      for (int i = 0; i < width; i++) {
        int parent = source.getAtIndex(ValueLayout.JAVA_INT, (long) a * width + i);
        parents[alive * width + i] = parent;
        valid &= parent >= StoredAdjacency.UNUSED && parent < slot.files.size();
      }
      if (valid) {
        active[alive++] = active[a];
      } else {
        slot.corrupt = true;
      }
    }
    count = alive;
  }

  private void copyRows(MemorySegment target, long first, int from, int to, int worker) {
    int width = layout.shape().parents();
    int rowBytes = layout.shape().stride() * Integer.BYTES;
    for (int a = from; a < to; a++) {
      FetchSlot slot = slots[active[a]];
      for (int i = 0; i < width; i++) {
        int parent = parents[a * width + i];
        long at = first + ((long) a * width + i) * rowBytes;
        try {
          if (parent != StoredAdjacency.UNUSED && slot.failure() == null) {
            slot.expand(parent);
            slot.files.copyRow(parent, target, at, worker);
            continue;
          }
        } catch (Exception e) {
          slot.fail(e);
        }
        target.asSlice(at, rowBytes).fill((byte) 0xFF);
      }
    }
  }

  /** Waits until nothing runs. */
  void drain() {
    driver.synchronize(stream);
  }

  /** Ends the walks. Work on the device is not waited for. */
  void stop() {
    count = 0;
  }

  private static void set(MemorySegment target, long at, int value) {
    target.set(ValueLayout.JAVA_INT, at, value);
  }
}
