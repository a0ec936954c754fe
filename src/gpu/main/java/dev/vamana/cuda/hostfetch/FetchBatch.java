package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.Limits;
import dev.vamana.cuda.kernel.WalkLayouts.FetchStateLayout;
import dev.vamana.cuda.kernel.WalkLayouts.ItemLayout;
import dev.vamana.cuda.kernel.WalkLayouts.ResultLayout;
import dev.vamana.cuda.lane.Team;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.search.QueryVector;
import dev.vamana.vectors.ArrayCopy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/**
 * Walks one batch at a time (BANG, algorithm 2): tables and worklists on the device, rows from the
 * CPU. The callers re-rank. {@link FetchLane} splits work into batches that fit device memory and
 * calls this on its driving thread.
 */
final class FetchBatch {

  private static final int MANY = 128;
  private static final int CHUNK = 64;
  private static final long LIST_PART_BYTES = 16L << 20;

  private final CudaDriver driver;
  private final Team team;
  private final DriverObjects objects;
  private final FetchWalk[] walks = new FetchWalk[2];
  private final DeviceBuffer state;
  private final PinnedBuffer requests;
  private final PinnedBuffer lists;
  private FetchSlot[] slots;
  private FetchLayout layout;
  private long stateAddress;

  /** Makes streams and buffers. The calling thread is bound to the driver. */
  FetchBatch(CudaDriver driver, Team team, SessionHostMemory account, DeviceBudget budget) {
    this.driver = driver;
    this.team = team;
    this.objects = new DriverObjects(driver, account, budget);
    try {
      Arrays.setAll(walks, i -> new FetchWalk(objects, team));
    } catch (RuntimeException e) {
      Cleanup.after(e, objects::free);
      throw e;
    }
    this.state = objects.device();
    this.requests = objects.pinned();
    this.lists = objects.pinned();
  }

  /**
   * Walks all slots of a batch and sets their results or failures.
   *
   * @param between called between steps; it may fail some slots
   */
  void run(FetchSlot[] batch, FetchLayout layoutOfAll, Runnable between) {
    slots = batch;
    layout = layoutOfAll;
    boolean many = batch.length >= MANY;
    if (many) {
      team.hold();
    }
    try {
      stateAddress = state.ensure(layout.stateBytes(batch.length));
      requests.ensure(layout.requestBytes(batch.length));
      team.forEach(batch.length, CHUNK, (from, to, worker) -> writeRequests(from, to));
      walk(many ? walks.length : 1, between);
      takeLists();
    } finally {
      team.letGo();
    }
  }

  private void walk(int parts, Runnable between) {
    for (int i = 0; i < parts; i++) {
      int from = (int) ((long) slots.length * i / parts);
      int to = (int) ((long) slots.length * (i + 1) / parts);
      walks[i].begin(slots, from, to, layout, stateAddress, requests.address());
    }
    boolean walking = true;
    while (walking) {
      walking = false;
      for (int i = 0; i < parts; i++) {
        if (walks[i].walking()) {
          walks[i].advance();
          walking |= walks[i].walking();
        }
      }
      between.run();
    }
    for (int i = 0; i < parts; i++) {
      walks[i].drain();
    }
  }

  private void writeRequests(int from, int to) {
    int items = slots.length;
    MemorySegment target = requests.segment();
    for (int i = from; i < to; i++) {
      FetchSlot slot = slots[i];
      long item = (long) i * ItemLayout.BYTES;
      long query = layout.queries(items) + (long) i * layout.queryBytes();
      write(target, query, slot.item.query());
      target.set(ValueLayout.JAVA_LONG, item + ItemLayout.SEGMENT, slot.segment.descriptor());
      target.set(ValueLayout.JAVA_LONG, item + ItemLayout.QUERY, requests.address() + query);
      target.set(ValueLayout.JAVA_LONG, item + ItemLayout.ACCEPTED, 0L);
      target.set(ValueLayout.JAVA_LONG, item + ItemLayout.ENTRY_POINTS, 0L);
      target.set(ValueLayout.JAVA_LONG, item + ItemLayout.RESULT, 0L);
      target.set(ValueLayout.JAVA_INT, item + ItemLayout.ENTRY_COUNT, 0);
      target.set(ValueLayout.JAVA_INT, item + ItemLayout.K, slot.item.k());
      target.set(ValueLayout.JAVA_INT, item + ItemLayout.BEAM, slot.beam);
      target.set(ValueLayout.JAVA_INT, item + ItemLayout.PARENTS, layout.shape().parents());
      target.set(ValueLayout.JAVA_INT, item + ItemLayout.RERANK, -1);
      target.set(
          ValueLayout.JAVA_INT,
          item + ItemLayout.VISIT_LIMIT,
          Limits.visits(slot.item.limitWithinReach(), slot.item.segment().size()));
      target.set(ValueLayout.JAVA_INT, item + ItemLayout.CAPACITY, 0);
    }
  }

  private static void write(MemorySegment target, long at, QueryVector query) {
    if (query.floats() != null) {
      float[] floats = query.floats();
      ArrayCopy.toMemory(floats, 0, target, at, floats.length);
    } else {
      byte[] bytes = query.bytes();
      ArrayCopy.toMemory(bytes, 0, target, at, bytes.length);
    }
  }

  /** Copies worklists and states to the host and makes results of them. */
  private void takeLists() {
    long listBytes = (long) layout.listCapacity() * Long.BYTES;
    int step = (int) Math.max(1, LIST_PART_BYTES / (listBytes + FetchStateLayout.BYTES));
    step = Math.min(step, slots.length);
    lists.ensure(step * (listBytes + FetchStateLayout.BYTES));
    long stream = walks[0].stream();
    for (int from = 0; from < slots.length; from += step) {
      int count = Math.min(step, slots.length - from);
      int first = from;
      long keyBytes = count * listBytes;
      long stateBytes = (long) count * FetchStateLayout.BYTES;
      MemorySegment keys = lists.segment().asSlice(0, keyBytes);
      MemorySegment states = lists.segment().asSlice(keyBytes, stateBytes);
      driver.copyFromDevice(
          keys, stateAddress + layout.lists(slots.length) + first * listBytes, stream);
      driver.copyFromDevice(
          states,
          stateAddress + layout.states(slots.length) + (long) first * FetchStateLayout.BYTES,
          stream);
      driver.synchronize(stream);
      team.forEach(
          count,
          CHUNK,
          (begin, end, worker) -> {
            for (int i = begin; i < end; i++) {
              take(slots[first + i], keys, i * listBytes, states, i);
            }
          });
    }
  }

  private void take(FetchSlot slot, MemorySegment keys, long at, MemorySegment states, int i) {
    long own = (long) i * FetchStateLayout.BYTES;
    int flags = states.get(ValueLayout.JAVA_INT, own + FetchStateLayout.FLAGS);
    int size = states.get(ValueLayout.JAVA_INT, own + FetchStateLayout.LIST_SIZE);
    boolean corrupt =
        (flags & ResultLayout.FLAG_CORRUPT) != 0 || size < 0 || size > layout.listCapacity();
    slot.finish(
        Integer.toUnsignedLong(states.get(ValueLayout.JAVA_INT, own + FetchStateLayout.VISITED)),
        states.get(ValueLayout.JAVA_INT, own + FetchStateLayout.ITERATIONS),
        (flags & ResultLayout.FLAG_COMPLETE) != 0,
        corrupt ? -1 : size,
        rank ->
            (int) (keys.get(ValueLayout.JAVA_LONG, at + (long) rank * Long.BYTES) & 0xFFFFFFFFL)
                >>> 1);
  }

  /** Waits until nothing runs, after a failure. If this throws, the context is lost. */
  void drain() {
    for (FetchWalk walk : walks) {
      walk.stop();
    }
    objects.synchronize();
  }

  /** Frees driver resources, which must be idle. */
  void free() {
    objects.free();
  }
}
