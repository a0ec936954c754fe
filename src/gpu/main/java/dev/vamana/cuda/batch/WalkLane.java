package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.LaunchShape;
import dev.vamana.cuda.kernel.ListSearchShape;
import dev.vamana.cuda.lane.Lane;
import dev.vamana.cuda.lane.SpareProcessors;
import dev.vamana.cuda.lane.Team;
import dev.vamana.cuda.lane.Waker;
import dev.vamana.cuda.lists.ListBatches;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The lane of graph walks: pinned memory, streams, and several launches in flight. When the device
 * is idle it launches what is queued; items that arrive while the device is busy form the next
 * batch, or start beside it once they are enough to fill the device. Calls pack items with a {@link
 * Packer} and submit the chunks.
 */
public final class WalkLane extends Lane<Chunk> {

  private static final int MAX_FAILURES_IN_A_ROW = 8;

  // a caller reads fewer results alone, in at most ten microseconds
  private static final int LEAST_READ = 128;
  // results that a thread takes at a time: a microsecond's work
  private static final int READ_STEP = 16;
  // fewer chunks are ended by the lane itself
  private static final int MANY_CALLERS = 8;
  // threads that help to pack and to read
  private static final int MOST_PACKERS = 3;
  private static final int PROCESSORS_PER_PACKER = 4;

  private final Supplier<BatchOptions> options;
  private final StagingPool staging;
  private final Team team =
      new Team(
          "vamana-gpu-packer",
          Math.min(
              MOST_PACKERS, Runtime.getRuntime().availableProcessors() / PROCESSORS_PER_PACKER));
  private final Waker<Chunk> waker =
      new Waker<>("vamana-gpu-waker", Waker.usualThreads(), spare(), this::finishHandedOver);
  private final ListBatches together;
  private final LaunchRule rule;
  private final BatchCounters statistics;
  private final List<LaunchSlot> slots = new ArrayList<>();
  private final Map<LaunchShape, ArrayDeque<Chunk>> queues = new LinkedHashMap<>();
  private final List<Ended> ended = new ArrayList<>();
  private final AtomicInteger inFlight = new AtomicInteger();
  private int failuresInARow;

  /**
   * Chunks of a launch, whose callers have not been told yet that they have ended.
   *
   * @param failure what went wrong, or null
   */
  private record Ended(List<Chunk> chunks, GpuException failure) {}

  private WalkLane(
      CudaDriver driver,
      Supplier<BatchOptions> options,
      StagingPool staging,
      DeviceBudget budget,
      BatchCounters statistics,
      Consumer<GpuException> onLost) {
    super("vamana-gpu-walks", driver, onLost, new SpareProcessors());
    this.options = options;
    this.staging = staging;
    this.together = new ListBatches(driver, budget);
    this.rule = new LaunchRule(options, together);
    this.statistics = statistics;
  }

  /**
   * Allocates memory and starts the thread. The calling thread is bound to the driver.
   *
   * @param options current options; batch size and linger may change
   * @param account counts pinned memory in use by requests
   * @param budget counts device memory
   * @param onLost called once by the lane's thread, as its last act, if the context is lost
   * @throws GpuException if anything fails; all resources have been freed then
   */
  public static WalkLane open(
      CudaDriver driver,
      Supplier<BatchOptions> options,
      SessionHostMemory account,
      DeviceBudget budget,
      BatchCounters statistics,
      Consumer<GpuException> onLost) {
    BatchOptions first = options.get();
    StagingPool staging = new StagingPool(driver, BatchOptions.STAGING_BYTES, account);
    WalkLane lane = new WalkLane(driver, options, staging, budget, statistics, onLost);
    try {
      Kernels kernels = new Kernels(driver, first.tuning());
      for (int i = 0; i < BatchOptions.DEPTH; i++) {
        lane.slots.add(
            new LaunchSlot(
                driver, kernels, lane.together, staging, budget, first.maxBatch(), statistics));
      }
      lane.start();
    } catch (RuntimeException e) {
      Cleanup.after(e, lane::free);
      throw e;
    }
    return lane;
  }

  /** Makes a packer for the items of one call, for use by the calling thread. */
  public Packer packer(List<WorkItem> batch, ItemPlan[] plans) {
    BatchOptions now = options.get();
    int first = pending() == 0 && together(batch, now) == false ? Packer.FIRST_ITEMS : 0;
    return new Packer(staging, team, batch, plans, now.maxBatch(), first);
  }

  /** Whether the items of a call are to be searched together, of which few would be too few. */
  private static boolean together(List<WorkItem> batch, BatchOptions now) {
    SegmentView view = batch.get(0).segment();
    return view.hasLists()
        && ListBatches.wanted(
            batch.size(),
            view.lists().shape().size(),
            view.lists().shape().lists(),
            now.tuning().listSharing());
  }

  /** Whether a block that searches items of this plan fits the device's shared memory. */
  public boolean fits(ItemPlan plan) {
    return !(plan.shape() instanceof ListSearchShape lists)
        || lists.mostSharedBytes() <= driver().device().sharedBytesPerBlock();
  }

  /**
   * Reads results with the help of threads that are awake.
   *
   * @param count number of results
   * @return false if it did not, since the caller reads as fast alone
   */
  public boolean read(int count, Team.Work work) {
    if (count < LEAST_READ || team.awake() == false) {
      return false;
    }
    team.forEach(count, READ_STEP, work);
    return true;
  }

  /** Returns the number of launches in flight. */
  public int inFlight() {
    return inFlight.get();
  }

  /** Returns the bytes of pinned memory in use. */
  public long stagingUsed() {
    return staging.used();
  }

  StagingPool staging() {
    return staging;
  }

  @Override
  protected boolean advance() {
    boolean moved = reap();
    // last, so that a launch that takes a freed slot has all that was submitted before
    moved |= receive();
    // launch first, wake callers second: waking many threads takes as long as a short launch
    moved |= launchAll();
    tellCallers();
    return moved;
  }

  @Override
  protected boolean handOver(Chunk chunk) {
    return waker.take(chunk);
  }

  @Override
  protected boolean busy() {
    return inFlight.get() > 0;
  }

  @Override
  protected long busySince() {
    LaunchSlot oldest = null;
    for (LaunchSlot slot : slots) {
      if (slot.chunks != null && (oldest == null || slot.begun - oldest.begun < 0)) {
        oldest = slot;
      }
    }
    return oldest.begun;
  }

  @Override
  protected boolean holding() {
    return queues.isEmpty() == false;
  }

  @Override
  protected void abandoned() {
    statistics.abandoned();
  }

  private boolean receive() {
    boolean moved = false;
    Chunk chunk;
    while ((chunk = inbox().poll()) != null) {
      queues.computeIfAbsent(chunk.shape, shape -> new ArrayDeque<>()).add(chunk);
      moved = true;
    }
    return moved;
  }

  private boolean reap() {
    if (inFlight.get() == 0) {
      return false;
    }
    boolean moved = false;
    long now = System.nanoTime();
    for (LaunchSlot slot : slots) {
      if (slot.chunks == null) {
        continue;
      }
      List<Chunk> written = slot.takeWritten();
      if (written.isEmpty() == false) {
        ended.add(new Ended(written, null));
        moved = true;
      }
      GpuException failure = null;
      try {
        // when all results are written, the next launch into the stream need not wait for its end
        if (slot.waiting() > 0 && slot.ended(now) == false) {
          continue;
        }
        failuresInARow = 0;
      } catch (GpuException e) {
        failure = failed(slot, e);
      }
      inFlight.decrementAndGet();
      ended.add(new Ended(slot.take(), failure));
      moved = true;
    }
    if (moved && inFlight.get() == 0) {
      rule.idle(now);
    }
    return moved;
  }

  private void tellCallers() {
    if (ended.isEmpty()) {
      return;
    }
    int callers = 0;
    for (Ended part : ended) {
      callers += part.chunks().size();
    }
    for (LaunchSlot slot : slots) {
      callers += slot.waiting();
    }
    if (callers >= MANY_CALLERS) {
      waker.expect();
    }
    for (Ended part : ended) {
      end(part.chunks(), part.failure());
    }
    ended.clear();
  }

  private boolean launchAll() {
    boolean moved = false;
    while (queues.isEmpty() == false && inFlight.get() < slots.size()) {
      LaunchShape shape = oldest();
      if (shape == null) {
        return moved;
      }
      LaunchSlot slot = idleSlot();
      List<Chunk> batch = new ArrayList<>();
      int items = take(shape, slot, batch);
      if (batch.isEmpty() == false) {
        launch(shape, slot, batch, items);
      }
      moved = true;
    }
    return moved;
  }

  /** Returns the launchable shape whose first chunk has waited longest, or null. */
  private LaunchShape oldest() {
    LaunchShape found = null;
    long since = 0;
    for (Map.Entry<LaunchShape, ArrayDeque<Chunk>> queue : queues.entrySet()) {
      long submitted = queue.getValue().peek().since();
      if ((found == null || submitted - since < 0)
          && rule.mayLaunch(queue.getValue(), inFlight.get(), stopping())) {
        found = queue.getKey();
        since = submitted;
      }
    }
    return found;
  }

  private int take(LaunchShape shape, LaunchSlot slot, List<Chunk> batch) {
    ArrayDeque<Chunk> queue = queues.get(shape);
    int most = slot.room(rule.most(queue));
    int items = 0;
    Chunk chunk;
    // a chunk may have been packed under a larger limit
    while ((chunk = queue.peek()) != null && (items == 0 || items + chunk.count() <= most)) {
      queue.poll();
      if (begin(chunk)) {
        batch.add(chunk);
        items += chunk.count();
      }
    }
    if (queue.isEmpty()) {
      queues.remove(shape);
    }
    return items;
  }

  private void launch(LaunchShape shape, LaunchSlot slot, List<Chunk> batch, int items) {
    long now = System.nanoTime();
    for (Chunk chunk : batch) {
      statistics.waited(now - chunk.since());
    }
    int others = 0;
    for (LaunchSlot other : slots) {
      others += other.items;
    }
    try {
      slot.launch(shape, batch, items, others);
      inFlight.incrementAndGet();
    } catch (GpuException e) {
      statistics.launchFailed();
      GpuException failure = failed(slot, e);
      slot.take();
      end(batch, failure);
    }
  }

  private LaunchSlot idleSlot() {
    for (LaunchSlot slot : slots) {
      if (slot.chunks == null) {
        return slot;
      }
    }
    throw new IllegalStateException("no slot is idle");
  }

  /**
   * Waits until nothing of a failed launch runs any more.
   *
   * @return the failure to report to callers
   * @throws GpuException if the context is lost
   */
  private GpuException failed(LaunchSlot slot, GpuException e) {
    if (e.contextLost()) {
      throw e;
    }
    if (e.kind() != GpuException.Kind.OUT_OF_MEMORY && ++failuresInARow >= MAX_FAILURES_IN_A_ROW) {
      throw new GpuException(
          GpuException.Kind.CONTEXT_LOST, failuresInARow + " launches failed in a row", e);
    }
    slot.chunks.forEach(chunk -> chunk.bits.forEach(bits -> bits.forgetCopy(slot)));
    try {
      slot.recover();
    } catch (GpuException again) {
      again.addSuppressed(e);
      throw again.asLoss();
    }
    return e;
  }

  @Override
  protected void abandon(GpuException why) {
    inFlight.set(0);
    tellCallers();
    for (LaunchSlot slot : slots) {
      if (slot.chunks != null) {
        List<Chunk> running = slot.take();
        running.forEach(Chunk::keepMemory);
        end(running, why);
      }
    }
    for (ArrayDeque<Chunk> queue : queues.values()) {
      queue.removeIf(chunk -> begin(chunk) == false);
      end(queue, why);
    }
    queues.clear();
  }

  @Override
  public void stop() {
    super.stop();
    team.stop();
    waker.stop();
  }

  @Override
  public void free() {
    freeSlots();
    together.close();
    staging.free();
  }

  private void freeSlots() {
    Iterator<LaunchSlot> all = slots.iterator();
    while (all.hasNext()) {
      LaunchSlot slot = all.next();
      all.remove();
      slot.free();
    }
  }
}
