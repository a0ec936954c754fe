package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ChunkSizes;
import dev.vamana.cuda.kernel.LaunchShape;
import dev.vamana.cuda.kernel.ListLayouts.ListSearchLayout;
import dev.vamana.cuda.kernel.ListMemory;
import dev.vamana.cuda.kernel.ListSearchShape;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.SharedLayout;
import dev.vamana.cuda.kernel.WalkLayouts.ItemLayout;
import dev.vamana.cuda.kernel.WalkLayouts.WalkLayout;
import dev.vamana.cuda.kernel.WalkShape;
import dev.vamana.cuda.lists.ListBatches;
import dev.vamana.cuda.lists.ListKernels;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.ListShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * One of the launch slots of a {@link WalkLane}: a stream with its buffers, for one launch at a
 * time. Only the lane's thread uses it.
 */
final class LaunchSlot {

  private static final int COUNTERS = 1024;
  // counters, then what the blocks of each item tell each other
  private static final int TEAMS_OFFSET = COUNTERS * Integer.BYTES;
  private static final int COUNTER_BYTES =
      TEAMS_OFFSET + ListKernels.MOST_TEAMS * ListMemory.TEAM_BYTES;
  private static final long MAX_SCRATCH_BYTES = 256L << 20;
  // within which a failure is noticed while results are watched
  private static final long ASKED_NANOS = 100_000;

  private final CudaDriver driver;
  private final Kernels kernels;
  private final ListBatches together;
  private final BatchCounters statistics;
  private final StagingPool staging;
  private StagingPool.Block addresses;
  private int capacity;
  // of a walk or a search of lists, whichever is launched
  private final MemorySegment parameters =
      Arena.ofAuto().allocate(Math.max(WalkLayout.BYTES, ListSearchLayout.BYTES), Long.BYTES);
  private long stream;
  private long ended;
  private long copied;
  private long counters;
  private final DeviceBuffer scratch;
  // number of the current launch, or of the last one
  long launches;
  // when the current launch began, as of System.nanoTime
  long begun;
  // in flight, or null
  List<Chunk> chunks;
  private boolean watched;
  private long asked;
  // in flight
  int items;
  private boolean copies;
  private boolean sideBySide;

  /**
   * Makes a slot. The calling thread is bound to the driver.
   *
   * @param together searches lists by many items together; shared by the slots of a lane
   * @param budget counts scratch
   * @param maxBatch items of a launch for which memory is allocated at first
   */
  LaunchSlot(
      CudaDriver driver,
      Kernels kernels,
      ListBatches together,
      StagingPool staging,
      DeviceBudget budget,
      int maxBatch,
      BatchCounters statistics) {
    this.driver = driver;
    this.kernels = kernels;
    this.together = together;
    this.statistics = statistics;
    this.staging = staging;
    this.addresses = staging.allocateFixed((long) maxBatch * Long.BYTES);
    this.capacity = maxBatch;
    this.scratch = new DeviceBuffer(driver, budget);
    if (addresses == null) {
      throw new IllegalArgumentException(
          "staging memory is too small for batches of " + maxBatch + " items");
    }
    try {
      stream = driver.createStream();
      ended = driver.createEvent();
      copied = driver.createEvent();
      counters = driver.allocate(COUNTER_BYTES);
    } catch (RuntimeException e) {
      Cleanup.after(e, this::free);
      throw e;
    }
  }

  /** Returns the number of chunks in flight. */
  int waiting() {
    return chunks == null ? 0 : chunks.size();
  }

  /**
   * Makes room for the addresses of a launch's items, before it begins.
   *
   * @param wanted most items of the launch
   * @return that many, or fewer if no pinned memory is free for more
   */
  int room(int wanted) {
    if (wanted > capacity) {
      StagingPool.Block larger = staging.allocateFixed((long) wanted * Long.BYTES);
      if (larger != null) {
        addresses.free();
        addresses = larger;
        capacity = wanted;
      }
    }
    return Math.min(wanted, capacity);
  }

  /**
   * Takes out the chunks whose results have all been written, while the launch goes on: nobody
   * waits for a longer walk of the same launch, nor for the driver to tell of the end.
   */
  List<Chunk> takeWritten() {
    List<Chunk> written = List.of();
    int left = 0;
    for (Chunk chunk : chunks) {
      if (chunk.allWritten()) {
        written = written.isEmpty() ? new ArrayList<>() : written;
        written.add(chunk);
        items -= chunk.count();
      } else {
        chunks.set(left++, chunk);
      }
    }
    chunks.subList(left, chunks.size()).clear();
    return written;
  }

  /**
   * Launches a kernel for all items of the chunks. If this throws, part of the work may be running.
   *
   * @param batch chunks; if there are several, their items are at most what there is {@linkplain
   *     #room room} for
   * @param count items of the chunks
   * @param others items in flight in other slots
   */
  void launch(LaunchShape shape, List<Chunk> batch, int count, int others) {
    begun = System.nanoTime();
    chunks = batch;
    watched = true;
    asked = begun;
    items = count;
    launches++;
    // a chunk's items are side by side, so a lone one needs no addresses
    sideBySide = batch.size() == 1;
    ChunkSizes sizes = ChunkSizes.NONE;
    int at = 0;
    MemorySegment target = addresses.segment;
    copies = false;
    int load = items + others;
    for (Chunk chunk : batch) {
      watched &= chunk.watched();
      sizes = sizes.max(chunk.sizes);
      // what follows of its call will walk at the same time
      load = Math.max(load, chunk.together);
      long address = chunk.block.deviceAddress();
      for (int i = 0; i < chunk.count() && sideBySide == false; i++) {
        target.setAtIndex(ValueLayout.JAVA_LONG, at++, address + (long) i * ItemLayout.BYTES);
      }
      for (AcceptedBits bits : chunk.bits) {
        bits.bring(this);
      }
    }
    if (copies) {
      driver.record(copied, stream);
    }
    int counter = (int) ((launches - 1) % COUNTERS);
    if (counter == 0) {
      driver.fill(counters, (byte) 0, COUNTER_BYTES, stream);
    }
    parameters.set(ValueLayout.JAVA_LONG, WalkLayout.ITEMS, itemsAddress());
    parameters.set(
        ValueLayout.JAVA_LONG, WalkLayout.COUNTER, counters + (long) counter * Integer.BYTES);
    switch (shape) {
      case WalkShape walks -> launchWalks(walks, sizes, load - items);
      case ListSearchShape lists -> launchLists(lists, sizes, load - items);
    }
    if (watched == false) {
      driver.record(ended, stream);
    }
    statistics.launched(batch.size(), items);
  }

  private void launchWalks(WalkShape shape, ChunkSizes sizes, int others) {
    Kernels.Choice choice = kernels.choose(shape, sizes, items, others);
    Policy policy = kernels.policy(shape);
    long stride = SharedLayout.scratchBytes(policy, sizes.subspaces(), sizes.expanded());
    int blocks = scratchBlocks(stride, choice.blocks());
    MemorySegment walk = parameters;
    walk.set(ValueLayout.JAVA_LONG, WalkLayout.SCRATCH, stride > 0 ? scratch.address() : 0);
    walk.set(ValueLayout.JAVA_LONG, WalkLayout.SCRATCH_STRIDE, stride);
    walk.set(ValueLayout.JAVA_INT, WalkLayout.COUNT, items);
    walk.set(ValueLayout.JAVA_INT, WalkLayout.LIST_CAPACITY, sizes.beam());
    walk.set(ValueLayout.JAVA_INT, WalkLayout.FRESH_CAPACITY, sizes.fresh());
    walk.set(ValueLayout.JAVA_INT, WalkLayout.VISITED_SLOTS, choice.slots());
    walk.set(ValueLayout.JAVA_INT, WalkLayout.DIMENSION, sizes.dimension());
    walk.set(ValueLayout.JAVA_INT, WalkLayout.SUBSPACES, sizes.subspaces());
    walk.set(ValueLayout.JAVA_INT, WalkLayout.EXPANDED_CAPACITY, sizes.expanded());
    walk.set(
        ValueLayout.JAVA_INT,
        WalkLayout.FLAGS,
        sideBySide() | (sizes.limited() ? WalkLayout.FLAG_LIMITED : 0));
    driver.launch(choice.kernel(), blocks, choice.threads(), choice.sharedBytes(), walk, stream);
  }

  /** Launches searches of inverted lists. The first two fields are as in walks. */
  private void launchLists(ListSearchShape shape, ChunkSizes sizes, int others) {
    ListBatches.Items alike = alike(shape, sizes);
    if (alike != null && together.takes(alike, kernels.listSharing())) {
      launchTogether(alike);
      return;
    }
    ListKernels.Choice choice = kernels.lists(shape, sizes, items, others);
    long stride = choice.memory().scratchBytes();
    int team = (int) Math.max(1, Math.min(choice.team(), MAX_SCRATCH_BYTES / stride / items));
    int blocks = scratchBlocks(stride, team > 1 ? items * team : choice.blocks());
    MemorySegment search = parameters;
    search.set(ValueLayout.JAVA_LONG, ListSearchLayout.SCRATCH, scratch.address());
    search.set(ValueLayout.JAVA_LONG, ListSearchLayout.SCRATCH_STRIDE, stride);
    search.set(ValueLayout.JAVA_INT, ListSearchLayout.COUNT, items);
    search.set(ValueLayout.JAVA_INT, ListSearchLayout.WIDTH, sizes.beam());
    search.set(ValueLayout.JAVA_INT, ListSearchLayout.LISTS, sizes.lists());
    search.set(ValueLayout.JAVA_INT, ListSearchLayout.PADDED, shape.dimension());
    search.set(ValueLayout.JAVA_INT, ListSearchLayout.DIMENSION, sizes.dimension());
    search.set(ValueLayout.JAVA_INT, ListSearchLayout.SUBSPACES, sizes.subspaces());
    search.set(ValueLayout.JAVA_INT, ListSearchLayout.FLAGS, sideBySide());
    search.set(ValueLayout.JAVA_INT, ListSearchLayout.TEAM, team);
    search.set(ValueLayout.JAVA_LONG, ListSearchLayout.TEAMS, counters + TEAMS_OFFSET);
    driver.launch(
        choice.kernel(), blocks, choice.threads(), choice.memory().sharedBytes(), search, stream);
  }

  /**
   * Returns the common properties of the items if they can be searched together: all of one
   * segment, whose codes have one bit, without filters. Otherwise null.
   */
  private ListBatches.Items alike(ListSearchShape shape, ChunkSizes sizes) {
    ResidentSegment segment = chunks.get(0).segments().get(0);
    for (Chunk chunk : chunks) {
      if (chunk.bits.isEmpty() == false
          || chunk.segments().size() > 1
          || chunk.segments().get(0).descriptor() != segment.descriptor()) {
        return null;
      }
    }
    ListShape lists = segment.view().lists().shape();
    return lists.kind() != CodeKind.RABITQ1
        ? null
        : new ListBatches.Items(
            items,
            shape.bytes(),
            sizes.beam(),
            lists.size(),
            lists.lists(),
            sizes.dimension(),
            lists.padded(),
            segment.descriptor());
  }

  private void launchTogether(ListBatches.Items alike) {
    int blocks = together.blocksOfRest(alike);
    long rest = scratch.ensure(ListBatches.restBytes(alike, blocks));
    together.launch(
        alike,
        new ListBatches.Places(itemsAddress(), sideBySide),
        new ListBatches.Rest(rest, blocks),
        stream);
  }

  /** Returns the address of the only chunk's items, or of the addresses of all items. */
  private long itemsAddress() {
    return sideBySide ? chunks.get(0).block.deviceAddress() : addresses.deviceAddress();
  }

  private int sideBySide() {
    return sideBySide ? WalkLayout.FLAG_SIDE_BY_SIDE : 0;
  }

  /** Makes room for scratch of as many blocks as are wanted, or fit; returns how many. */
  private int scratchBlocks(long stride, int wanted) {
    if (stride == 0) {
      return wanted;
    }
    int blocks = (int) Math.max(1, Math.min(wanted, MAX_SCRATCH_BYTES / stride));
    scratch.ensure(stride * blocks);
    return blocks;
  }

  /** Copies pinned memory to the device before the launch. */
  void copy(long target, MemorySegment source) {
    driver.copyToDevice(target, source, stream);
    copies = true;
    statistics.bitsCopied();
  }

  /** Makes this slot's stream wait for the copies of the other slot's last launch. */
  void waitForCopies(LaunchSlot other) {
    driver.await(other.copied, stream);
  }

  /**
   * Whether the launch is known to have ended. While its results are watched, the driver is asked
   * only now and then: that takes a microsecond.
   *
   * @param now {@link System#nanoTime}
   */
  boolean ended(long now) {
    if (watched == false) {
      return driver.done(ended);
    }
    if (now - asked < ASKED_NANOS) {
      return false;
    }
    asked = now;
    // an event would have to be recorded for every launch
    return driver.idle(stream);
  }

  /** Waits until nothing runs in the stream. The next launch uses fresh counters. */
  void recover() {
    driver.synchronize(stream);
    // a failed launch may have left counters and teams at other values than 0
    launches += COUNTERS - launches % COUNTERS;
  }

  /** Returns the chunks and marks the slot as idle. */
  List<Chunk> take() {
    List<Chunk> taken = chunks;
    chunks = null;
    items = 0;
    return taken;
  }

  /** Frees driver resources. Nothing may be in flight. */
  void free() {
    scratch.free();
    if (counters != 0) {
      driver.free(counters);
    }
    if (copied != 0) {
      driver.destroyEvent(copied);
    }
    if (ended != 0) {
      driver.destroyEvent(ended);
    }
    if (stream != 0) {
      driver.destroyStream(stream);
    }
    addresses.free();
  }
}
