package dev.vamana.cuda.batch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.kernel.WalkShape;
import dev.vamana.search.SegmentView;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * The thread that owns all launches of walks. When the device is idle it launches what is queued;
 * items that arrive while the device is busy form the next batch, or start beside it once they are
 * enough to fill the device. The thread spins while anything is in flight and for a moment after,
 * and then parks.
 */
final class Dispatcher implements Runnable {

  private static final int MAX_FAILURES_IN_A_ROW = 8;
  // longer than most launches take: a nap of 20 microseconds ends after 70, and its caller waits
  // for that
  private static final long SPIN_NANOS = 2_000_000;
  private static final long NAP_NANOS = 20_000;
  private static final long IDLE_SPIN_NANOS = 50_000;

  private final CudaDriver driver;
  private volatile int maxBatch;
  private volatile long lingerNanos;
  private final int overlap;
  private final BatchCounters statistics;
  private final Consumer<GpuException> onLost;
  private final List<LaunchSlot> slots = new ArrayList<>();
  private final ConcurrentLinkedQueue<Chunk> inbox = new ConcurrentLinkedQueue<>();
  private final Set<Chunk> active = ConcurrentHashMap.newKeySet();
  // a chunk may be done before its thread has counted it in
  private final LongAdder pending = new LongAdder();
  private final Map<WalkShape, ArrayDeque<Chunk>> queues = new LinkedHashMap<>();
  private final List<Ended> ended = new ArrayList<>();
  private volatile Thread thread;
  private volatile boolean parked;
  private volatile boolean closing;
  private volatile GpuException lost;
  private final AtomicInteger inFlight = new AtomicInteger();
  private int failuresInARow;
  private long idleSince;
  private GpuException releaseFailure;

  /**
   * A finished launch whose callers have not been told yet.
   *
   * @param failure what went wrong, or null
   */
  private record Ended(List<Chunk> chunks, GpuException failure) {}

  /**
   * Makes a dispatcher. The calling thread is bound to the driver.
   *
   * @param depth most launches in flight
   * @param maxBatch most items of a launch
   * @param overlap queued items required to start a launch while others are in flight
   * @param lingerNanos how long an idle device waits for more items
   * @param onLost called once, by the dispatcher's thread as its last act, if the context is lost
   */
  Dispatcher(
      CudaDriver driver,
      StagingPool staging,
      Tuning tuning,
      int depth,
      int overlap,
      int maxBatch,
      long lingerNanos,
      BatchCounters statistics,
      Consumer<GpuException> onLost) {
    this.driver = driver;
    this.maxBatch = maxBatch;
    this.lingerNanos = lingerNanos;
    this.overlap = overlap;
    this.statistics = statistics;
    this.onLost = onLost;
    Kernels kernels = new Kernels(driver, tuning);
    try {
      for (int i = 0; i < depth; i++) {
        slots.add(new LaunchSlot(driver, kernels, staging, maxBatch, statistics));
      }
    } catch (RuntimeException e) {
      try {
        free();
      } catch (RuntimeException suppressed) {
        e.addSuppressed(suppressed);
      }
      throw e;
    }
  }

  /**
   * Queues a chunk. The dispatcher calls {@link Chunk#complete} for every submitted chunk, even if
   * the context is lost.
   */
  void submit(Chunk chunk) {
    chunk.submitted = System.nanoTime();
    active.add(chunk);
    inbox.add(chunk);
    pending.add(chunk.count());
    if (lost != null) {
      failInbox();
    } else if (parked) {
      LockSupport.unpark(thread);
    }
  }

  /** Changes the batching from now on. Chunks packed before are launched as they are. */
  void adjust(int newMaxBatch, long newLingerNanos) {
    maxBatch = newMaxBatch;
    lingerNanos = newLingerNanos;
  }

  /** Wakes threads that wait for items of a segment that is being closed. */
  void closing(SegmentView view) {
    for (Chunk chunk : active) {
      chunk.closing(view);
    }
  }

  /** Returns the number of launches in flight. */
  int inFlight() {
    return inFlight.get();
  }

  /** Items that were handed over and are not done yet. */
  long pending() {
    return Math.max(0, pending.sum());
  }

  /** Lets the thread end once everything submitted is done. */
  void close() {
    closing = true;
    LockSupport.unpark(thread);
  }

  @Override
  public void run() {
    thread = Thread.currentThread();
    idleSince = System.nanoTime();
    try {
      driver.bind();
      loop();
    } catch (GpuException e) {
      lose(e);
    } catch (RuntimeException | Error e) {
      lose(new GpuException(GpuException.Kind.CONTEXT_LOST, "the dispatcher failed: " + e, e));
    }
  }

  private void loop() {
    long progress = System.nanoTime();
    int spins = 0;
    while (true) {
      if (releaseFailure != null) {
        throw releaseFailure;
      }
      boolean moved = receive();
      moved |= reap();
      // launch first, wake callers second: waking many threads takes as long as a short launch
      moved |= launchAll();
      tellCallers();
      long now = System.nanoTime();
      if (moved) {
        progress = now;
        spins = 0;
      } else if (inFlight.get() > 0) {
        if (now - progress < SPIN_NANOS) {
          Spin.once(spins++);
        } else {
          LockSupport.parkNanos(this, NAP_NANOS);
        }
      } else if (queues.isEmpty() == false || now - progress < IDLE_SPIN_NANOS) {
        Spin.once(spins++);
      } else if (closing) {
        if (inbox.isEmpty()) {
          return;
        }
      } else {
        parked = true;
        if (inbox.isEmpty() && closing == false) {
          LockSupport.park(this);
        }
        parked = false;
        progress = System.nanoTime();
      }
    }
  }

  private boolean receive() {
    boolean moved = false;
    Chunk chunk;
    while ((chunk = inbox.poll()) != null) {
      queues.computeIfAbsent(chunk.shape, shape -> new ArrayDeque<>()).add(chunk);
      moved = true;
    }
    return moved;
  }

  private boolean reap() {
    boolean moved = false;
    if (inFlight.get() == 0) {
      return false;
    }
    for (LaunchSlot slot : slots) {
      if (slot.chunks() == null) {
        continue;
      }
      GpuException failure = null;
      try {
        if (slot.ended() == false) {
          continue;
        }
        failuresInARow = 0;
      } catch (GpuException e) {
        failure = failed(slot, e);
      }
      if (inFlight.decrementAndGet() == 0) {
        idleSince = System.nanoTime();
      }
      ended.add(new Ended(slot.take(), failure));
      moved = true;
    }
    return moved;
  }

  private void tellCallers() {
    for (Ended launch : ended) {
      complete(launch.chunks(), launch.failure());
    }
    ended.clear();
  }

  private boolean launchAll() {
    boolean moved = false;
    while (queues.isEmpty() == false && inFlight.get() < slots.size()) {
      WalkShape shape = oldest();
      if (shape == null) {
        return moved;
      }
      List<Chunk> batch = new ArrayList<>();
      int items = take(shape, batch);
      if (batch.isEmpty() == false) {
        launch(shape, batch, items);
      }
      moved = true;
    }
    return moved;
  }

  /** Returns the launchable shape whose first chunk has waited longest, or null. */
  private WalkShape oldest() {
    WalkShape found = null;
    long since = 0;
    for (Map.Entry<WalkShape, ArrayDeque<Chunk>> queue : queues.entrySet()) {
      long submitted = queue.getValue().peek().submitted;
      if ((found == null || submitted - since < 0) && mayLaunch(queue.getValue(), submitted)) {
        found = queue.getKey();
        since = submitted;
      }
    }
    return found;
  }

  private boolean mayLaunch(ArrayDeque<Chunk> queue, long submitted) {
    if (inFlight.get() == 0 && lingered(submitted)) {
      return true;
    }
    int enough = inFlight.get() == 0 ? maxBatch : Math.min(overlap, maxBatch);
    int items = 0;
    for (Chunk chunk : queue) {
      items += chunk.count();
      if (items >= enough) {
        return true;
      }
    }
    return closing && inFlight.get() == 0;
  }

  /**
   * Whether an idle device has waited long enough for more items. Items that queued while the
   * device was busy wait too, because the callers that were just answered may send their next items
   * and would miss the launch otherwise.
   */
  private boolean lingered(long submitted) {
    long linger = lingerNanos;
    long now = System.nanoTime();
    return linger == 0 || (now - submitted >= linger && now - idleSince >= linger);
  }

  private int take(WalkShape shape, List<Chunk> batch) {
    ArrayDeque<Chunk> queue = queues.get(shape);
    int items = 0;
    Chunk chunk;
    // a chunk may have been packed under a larger limit
    while ((chunk = queue.peek()) != null && (items == 0 || items + chunk.count() <= maxBatch)) {
      queue.poll();
      if (chunk.abandoned() || chunk.segmentClosed()) {
        complete(List.of(chunk), null);
      } else {
        batch.add(chunk);
        items += chunk.count();
      }
    }
    if (queue.isEmpty()) {
      queues.remove(shape);
    }
    return items;
  }

  private void launch(WalkShape shape, List<Chunk> batch, int items) {
    LaunchSlot slot = idleSlot();
    long now = System.nanoTime();
    for (Chunk chunk : batch) {
      statistics.waited(now - chunk.submitted);
    }
    int others = 0;
    for (LaunchSlot other : slots) {
      others += other.items();
    }
    try {
      slot.launch(shape, batch, items, others);
      inFlight.incrementAndGet();
    } catch (GpuException e) {
      statistics.launchFailed();
      GpuException failure = failed(slot, e);
      slot.take();
      complete(batch, failure);
    }
  }

  private LaunchSlot idleSlot() {
    for (LaunchSlot slot : slots) {
      if (slot.chunks() == null) {
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
    slot.chunks().forEach(chunk -> chunk.bits.forEach(bits -> bits.forgetCopy(slot)));
    try {
      slot.recover();
    } catch (GpuException again) {
      again.addSuppressed(e);
      throw again.contextLost()
          ? again
          : new GpuException(GpuException.Kind.CONTEXT_LOST, again.getMessage(), again);
    }
    return e;
  }

  private void complete(List<Chunk> chunks, GpuException failure) {
    complete(chunks, failure, false);
  }

  private void complete(List<Chunk> chunks, GpuException failure, boolean running) {
    for (Chunk chunk : chunks) {
      active.remove(chunk);
      pending.add(-chunk.count());
      if (chunk.abandoned()) {
        statistics.abandoned();
      }
      if (running) {
        chunk.leave(failure);
      } else {
        chunk.complete(failure);
      }
      if (chunk.releaseFailure() != null && chunk.releaseFailure().contextLost()) {
        releaseFailure = chunk.releaseFailure();
      }
    }
  }

  private void lose(GpuException e) {
    lost = e;
    inFlight.set(0);
    tellCallers();
    for (LaunchSlot slot : slots) {
      if (slot.chunks() != null) {
        complete(slot.take(), e, true);
      }
    }
    for (ArrayDeque<Chunk> queue : queues.values()) {
      complete(new ArrayList<>(queue), e);
    }
    queues.clear();
    failInbox();
    onLost.accept(e);
  }

  private void failInbox() {
    GpuException e = lost;
    Chunk chunk;
    while ((chunk = inbox.poll()) != null) {
      complete(List.of(chunk), e);
    }
  }

  /**
   * Frees driver resources after the thread has ended. The calling thread is bound to the driver.
   */
  void free() {
    Iterator<LaunchSlot> all = slots.iterator();
    while (all.hasNext()) {
      LaunchSlot slot = all.next();
      all.remove();
      slot.free();
    }
  }
}
