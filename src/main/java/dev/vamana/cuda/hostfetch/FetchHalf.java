package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.FetchStep;
import dev.vamana.cuda.kernel.HostFetchLayout;
import dev.vamana.cuda.kernel.WalkLayout;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import dev.vamana.graph.StoredAdjacency;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * One half of a batch, with a stream of its own. While the device works on one half, the CPU copies
 * adjacency rows for the other. Queries whose walk has ended take no part in later steps. {@link
 * FetchBatch} has two.
 */
final class FetchHalf {

  private static final int CHUNK = 64;

  private final DriverObjects objects;
  private final CudaDriver driver;
  private final FetchOptions options;
  private final GatherTeam team;
  private final long stream;
  private final long picked;
  private final MemorySegment parameters =
      Arena.ofAuto().allocate(HostFetchLayout.BYTES, Long.BYTES);
  private final PinnedBuffer rows;
  private final PinnedBuffer picks;
  private final DeviceBuffer deviceRows;
  private final VectorArena.Half vectors;
  private FetchSlot[] slots;
  private FetchLayout layout;
  private int[] active = new int[0];
  private int[] parents = new int[0];
  private int count;

  /** Makes a half. The calling thread is bound to the driver. */
  FetchHalf(DriverObjects objects, FetchOptions options, GatherTeam team, VectorArena arena) {
    this.objects = objects;
    this.driver = objects.driver();
    this.options = options;
    this.team = team;
    this.rows = objects.pinned();
    this.picks = objects.pinned();
    this.deviceRows = objects.device();
    this.stream = objects.stream();
    this.picked = objects.event();
    this.vectors = arena.half();
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
      active[a] = from + a;
      target.setAtIndex(ValueLayout.JAVA_INT, a, from + a);
      int[] entries = slots[from + a].item().entryPoints();
      set(target, at, slots[from + a].item().segment().medoid());
      for (int i = 1; i < stride; i++) {
        set(target, at + (long) i * Integer.BYTES, start(entries, i - 1));
      }
      at += (long) stride * Integer.BYTES;
    }
    setParameters(all.length, state, items);
    copyRows(stride);
    launch(FetchStep.BEGIN, HostFetchLayout.beginSharedBytes(layout.shape().dimension()));
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
    int flags =
        (merged() ? HostFetchLayout.FLAG_PICK_MERGED : 0)
            | (options.visitedFilter() ? 0 : WalkLayout.FLAG_NO_VISITED_FILTER);
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.ITEMS, items);
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.STATES, state + l.states(allItems));
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.TABLES, state + l.tables());
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.LISTS, state + l.lists(allItems));
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.KEYS, state + l.keys(allItems));
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.IDS, state + l.ids(allItems));
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.VISITED, state + l.visited(allItems));
    parameters.set(ValueLayout.JAVA_LONG, HostFetchLayout.PICKS, picks.address());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.TABLE_STRIDE, l.tableStride());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.LIST_CAPACITY, l.listCapacity());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.FRESH_CAPACITY, l.freshCapacity());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.VISITED_SLOTS, l.visitedSlots());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.PARENTS, l.shape().parents());
    parameters.set(ValueLayout.JAVA_INT, HostFetchLayout.FLAGS, flags);
  }

  /** Whether parents are picked after the merge rather than before it. */
  private boolean merged() {
    return options.prefetch() == false || layout.shape().parents() > 1;
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
    List<String> kernels = options.step().kernels();
    int known = merged() ? kernels.size() - 1 : options.step().pickStage();
    for (int i = 0; i < kernels.size(); i++) {
      launch(kernels.get(i), FetchStep.sharedBytes(kernels.get(i), layout.freshCapacity()));
      if (i == known) {
        driver.record(picked, stream);
      }
    }
  }

  private void launch(String kernel, int sharedBytes) {
    driver.launch(
        driver.kernel(kernel), count, FetchStep.threads(kernel), sharedBytes, parameters, stream);
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
    int width = layout.shape().parents();
    MemorySegment target = rows.segment();
    long first = rowsAt();
    for (int a = 0; a < count; a++) {
      target.setAtIndex(ValueLayout.JAVA_INT, a, active[a]);
    }
    team.forEach(count, CHUNK, (from, to, worker) -> copyRows(target, first, from, to, worker));
    copyRows(layout.shape().rowStride());
    launchStep();
    vectors.gather(slots, active, parents, count, width);
  }

  /** Keeps only slots that have a parent to expand. */
  private void compact() {
    int width = layout.shape().parents();
    MemorySegment source = picks.segment();
    int alive = 0;
    for (int a = 0; a < count; a++) {
      FetchSlot slot = slots[active[a]];
      int nearest = source.getAtIndex(ValueLayout.JAVA_INT, (long) a * width);
      if (nearest == StoredAdjacency.UNUSED || slot.dropped()) {
        continue;
      }
      boolean valid = true;
      for (int i = 0; i < width; i++) {
        int parent = source.getAtIndex(ValueLayout.JAVA_INT, (long) a * width + i);
        parents[alive * width + i] = parent;
        valid &= parent >= StoredAdjacency.UNUSED && parent < slot.files().size();
      }
      if (valid) {
        active[alive++] = active[a];
      } else {
        slot.foundCorrupt();
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
            slot.files().copyRow(parent, target, at, worker);
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
    driver.synchronize(vectors.stream());
  }

  /** Ends the walks. Work on the device is not waited for. */
  void stop() {
    count = 0;
  }

  private static void set(MemorySegment target, long at, int value) {
    target.set(ValueLayout.JAVA_INT, at, value);
  }
}
