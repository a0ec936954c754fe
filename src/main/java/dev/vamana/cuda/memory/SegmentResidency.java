package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The {@link Residency} of one context: uploads segments one after the other in the background,
 * within a budget. A segment that does not fit evicts others only if its graph would not be on the
 * device otherwise. Only unused segments are evicted, least recently used first, and only if they
 * were unused for a minute (by default) when the new segment was opened or searched. So two
 * segments that are searched in turns evict each other at most once a minute; if more segments are
 * searched than fit, the first ones stay and the CPU searches the others. When memory is freed,
 * segments without a place are tried again, and then segments whose placement is not the best.
 *
 * <p>Kept segments are uploaded before others and are not evicted for others, and they evict others
 * regardless of their last use. Among kept segments the same rules apply.
 *
 * <p>Uploads run in a given executor, one at a time. Closing a segment frees memory on the calling
 * thread. After {@link #abandon} of a lost context, the next search of a segment queues it again,
 * with the driver that is supplied then.
 */
public final class SegmentResidency implements Residency {

  private volatile ResidencyOptions options;
  private final LongSupplier clock;
  private final SerialTasks tasks;
  private final ResidencyCounters counters;
  private final SegmentPlacer placer;
  private final CurrentMemory memories;
  private final Map<SegmentView, SegmentEntry> entries = new ConcurrentHashMap<>();
  // a late search must not make an entry for these again
  private final Set<SegmentView> closedViews = Collections.newSetFromMap(new WeakHashMap<>());
  private final Object entriesLock = new Object();
  private final ResidentSet live = new ResidentSet();
  private final ResidencyListener listener;
  private boolean closed;

  /**
   * Makes an empty residency.
   *
   * @param drivers supplies the driver, or null while there is none. The driver's context stays
   *     open until {@link #abandon} or {@link #close} has returned. During {@link #abandon} this
   *     supplies the abandoned driver or null; later an abandoned driver is ignored
   * @param executor runs uploads; one thread is kept busy
   * @param listener receives events of segments
   */
  public SegmentResidency(
      Supplier<CudaDriver> drivers,
      ResidencyOptions options,
      Executor executor,
      ResidencyListener listener) {
    this(drivers, options, executor, listener, new ResidencyCounters());
  }

  /**
   * Makes an empty residency with given counters.
   *
   * @param counters shared by the residencies of one device, one after the other
   */
  public SegmentResidency(
      Supplier<CudaDriver> drivers,
      ResidencyOptions options,
      Executor executor,
      ResidencyListener listener,
      ResidencyCounters counters) {
    this(drivers, options, executor, listener, counters, System::nanoTime);
  }

  /**
   * Makes an empty residency with a given clock.
   *
   * @param clock nanoseconds, from any origin
   */
  SegmentResidency(
      Supplier<CudaDriver> drivers,
      ResidencyOptions options,
      Executor executor,
      ResidencyListener listener,
      LongSupplier clock) {
    this(drivers, options, executor, listener, new ResidencyCounters(), clock);
  }

  private SegmentResidency(
      Supplier<CudaDriver> drivers,
      ResidencyOptions options,
      Executor executor,
      ResidencyListener listener,
      ResidencyCounters counters,
      LongSupplier clock) {
    this.counters = Objects.requireNonNull(counters, "counters");
    this.options = Objects.requireNonNull(options, "options");
    this.clock = Objects.requireNonNull(clock, "clock");
    this.listener = Objects.requireNonNull(listener, "listener");
    this.tasks = new SerialTasks(Objects.requireNonNull(executor, "executor"));
    this.memories = new CurrentMemory(Objects.requireNonNull(drivers, "drivers"), options);
    this.placer =
        new SegmentPlacer(options, counters, entries.values(), this::evict, listener::refused);
  }

  @Override
  public void opened(SegmentView view) {
    if (view.hasGraph()) {
      entry(view);
    }
  }

  /** Returns the segment's entry, made and queued if missing; null if the segment is closed. */
  private SegmentEntry entry(SegmentView view) {
    SegmentEntry entry;
    synchronized (entriesLock) {
      entry = entries.get(view);
      if (entry != null || closed || closedViews.contains(view)) {
        return entry;
      }
      entry = new SegmentEntry(view, now());
      entries.put(view, entry);
    }
    queue(entry);
    return entry;
  }

  private long now() {
    return clock.getAsLong();
  }

  private void queue(SegmentEntry entry) {
    tasks.add(() -> upload(entry), false);
  }

  @Override
  public ResidentSegment acquire(SegmentView view) {
    SegmentEntry entry = entries.get(view);
    if (entry == null) {
      entry = view.hasGraph() ? entry(view) : null;
      if (entry == null) {
        counters.missed(view.hasGraph() ? Absence.CLOSED : Absence.UNSUPPORTED);
        return null;
      }
    }
    ResidentSegment segment = use(entry);
    if (segment == null) {
      counters.missed(entry.absence());
    }
    return segment;
  }

  private ResidentSegment use(SegmentEntry entry) {
    long now = now();
    entry.used(now);
    Resident resident = entry.resident();
    ResidentSegment segment = resident == null ? null : resident.use();
    if (segment != null) {
      counters.hit();
    } else if (entry.requeue(now, false)) {
      queue(entry);
    }
    return segment;
  }

  /**
   * As {@link #acquire}, but waits while the segment is queued or being uploaded.
   *
   * @param cancelled asked every few milliseconds; true ends the wait
   * @return null if the segment is not resident after the wait
   */
  public ResidentSegment await(SegmentView view, BooleanSupplier cancelled) {
    ResidentSegment segment = acquire(view);
    SegmentEntry entry = segment == null ? entries.get(view) : null;
    try {
      // the segment may be evicted between its upload and its use
      while (segment == null && entry != null && entry.awaitUpload(cancelled) != null) {
        segment = use(entry);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return segment;
  }

  @Override
  public String absence(SegmentView view) {
    return why(view).text();
  }

  private Absence why(SegmentView view) {
    SegmentEntry entry = entries.get(view);
    if (entry != null) {
      return entry.absence();
    }
    return view.hasGraph() ? Absence.CLOSED : Absence.UNSUPPORTED;
  }

  @Override
  public boolean arriving(SegmentView view) {
    Absence why = why(view);
    return why == Absence.QUEUED || why == Absence.UPLOADING;
  }

  @Override
  public DevicePresence presence(SegmentView view) {
    SegmentEntry entry = entries.get(view);
    Resident resident = entry == null ? null : entry.resident();
    if (resident != null) {
      PlacementPlan plan = resident.plan();
      return DevicePresence.resident(plan.placement().settingName(), plan.deviceBytes());
    }
    Absence why = why(view);
    return switch (why) {
      case QUEUED, UPLOADING -> DevicePresence.waiting(why.text());
      case NO_DEVICE -> DevicePresence.NO_DEVICE;
      default -> DevicePresence.refused(why.text());
    };
  }

  @Override
  public void warm(SegmentView view) {
    SegmentEntry entry = view.hasGraph() ? entry(view) : null;
    if (entry != null) {
      entry.used(now());
      if (entry.urge()) {
        tasks.addUrgent(() -> upload(entry));
      }
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>This may be called each time a reader is opened: after a refused or failed upload the
   * segment is queued again only when a search could queue it.
   */
  @Override
  public void keep(SegmentView view, boolean kept) {
    SegmentEntry entry = view.hasGraph() ? entry(view) : null;
    if (entry == null) {
      return;
    }
    entry.kept(kept);
    if (kept && (entry.absence() == Absence.QUEUED || entry.requeue(now(), false))) {
      tasks.addUrgent(() -> upload(entry));
    }
  }

  @Override
  public long evict(SegmentView view) {
    SegmentEntry entry = entries.get(view);
    return entry == null ? 0 : evict(entry);
  }

  private long evict(SegmentEntry entry) {
    Resident last = entry.clear();
    if (last == null) {
      return 0;
    }
    counters.evicted();
    if (last.retire()) {
      freeOrTell(entry, last);
    }
    listener.evicted(entry.view());
    return last.plan().deviceBytes();
  }

  @Override
  public void adjust(MemoryLimit device, MemoryLimit pageCache, Set<Placement> placements) {
    ResidencyOptions adjusted = options.withLimits(device, pageCache).withPlacements(placements);
    options = adjusted;
    memories.limits(adjusted);
    placer.placements(placements);
    tasks.add(this::retryWaiting, false);
  }

  /** Evicts segments until the rest is within the limits. */
  private void shrink(DeviceMemory memory) {
    long leavingDevice = 0;
    long leavingPages = 0;
    for (SegmentEntry entry :
        EvictionOrder.firstToGo(entries.values(), now(), isResident(memory))) {
      Resident resident = entry.resident();
      boolean helps =
          memory.device().excess() > leavingDevice
              || (memory.pageCache().excess() > leavingPages
                  && resident != null
                  && resident.readsFiles());
      if (helps && evict(entry) > 0 && resident != null && resident.inUse()) {
        leavingDevice += resident.plan().deviceBytes();
        leavingPages += resident.plan().mappedBytes();
      }
    }
  }

  private static Predicate<SegmentEntry> isResident(DeviceMemory memory) {
    return entry -> {
      Resident resident = entry.resident();
      return resident != null && resident.memory() == memory;
    };
  }

  private void upload(SegmentEntry entry) {
    if (entry.beginUpload() == false) {
      return;
    }
    SegmentPlacer.Outcome outcome = placer.place(entry, memories);
    Resident resident = outcome.resident();
    if (resident != null) {
      resident.whenIdle(() -> idle(entry, resident));
      live.add(resident);
    }
    long retry = now();
    if (outcome.absence() != Absence.NO_DEVICE || outcome.failure() != null) {
      retry += options.retryAfter().toNanos();
    }
    if (entry.endUpload(resident, outcome.absence(), retry)) {
      PlacementPlan plan = resident.plan();
      listener.uploaded(entry.view(), plan.placement(), plan.deviceBytes());
    } else if (resident != null) {
      resident.retire();
      freeOrTell(entry, resident);
    } else if (outcome.failure() != null) {
      listener.failed(entry.view(), outcome.failure());
    }
  }

  /** Queues the freeing of a retired segment, on the thread that ended its last use. */
  private void idle(SegmentEntry entry, Resident resident) {
    entry.signal();
    tasks.add(() -> freeOrTell(entry, resident), true);
  }

  private void freeOrTell(SegmentEntry entry, Resident resident) {
    try {
      free(resident);
    } catch (GpuException e) {
      listener.failed(entry.view(), e);
    }
  }

  private void free(Resident resident) {
    boolean held;
    try {
      resident.free();
    } finally {
      held = live.remove(resident);
    }
    if (held) {
      tasks.add(this::retryWaiting, false);
    }
  }

  private void evict(SegmentEntry entry, Resident victim) {
    entry.evicted(victim);
    try {
      victim.free();
    } finally {
      live.remove(victim);
    }
    counters.evicted();
    listener.evicted(entry.view());
  }

  /** Evicts segments above the limits, and queues segments that may fit now. */
  private void retryWaiting() {
    DeviceMemory memory = memories.current();
    if (memory == null) {
      return;
    }
    shrink(memory);
    Predicate<SegmentEntry> fits =
        entry ->
            entry.absence() == Absence.OVER_BUDGET && entry.leastBytes() <= memory.device().free();
    for (SegmentEntry next : EvictionOrder.firstToGet(entries.values(), now(), fits)) {
      if (next.requeue(now(), true)) {
        queue(next);
      }
    }
    tasks.add(this::improveAll, false);
  }

  /** Moves resident segments to better placements if there is room. */
  private void improveAll() {
    DeviceMemory memory = memories.current();
    EvictionOrder.firstToGet(entries.values(), now(), isResident(memory)).forEach(this::improve);
  }

  private void improve(SegmentEntry entry) {
    Resident old = entry.beginImprovement();
    if (old == null) {
      return;
    }
    SegmentPlacer.Outcome outcome = placer.improve(entry, old);
    Resident better = outcome.resident();
    if (better != null) {
      better.whenIdle(() -> idle(entry, better));
      live.add(better);
    }
    boolean replaced = entry.endImprovement(better);
    Resident unwanted = replaced ? old : better;
    // running searches continue in the old place; closing the segment waits for them
    if (unwanted != null && unwanted.retire()) {
      freeOrTell(entry, unwanted);
    }
    if (replaced) {
      listener.uploaded(entry.view(), better.plan().placement(), better.plan().deviceBytes());
    } else if (outcome.failure() != null) {
      listener.failed(entry.view(), outcome.failure());
    }
  }

  /**
   * {@inheritDoc}
   *
   * @throws GpuException if the context is found lost; nothing reads the files then
   */
  @Override
  public void closing(SegmentView view) {
    SegmentEntry entry;
    synchronized (entriesLock) {
      closedViews.add(view);
      entry = entries.get(view);
    }
    if (entry != null) {
      close(entry);
    }
  }

  private void close(SegmentEntry entry) {
    List<Resident> residents = entry.close();
    try {
      for (Resident resident : residents) {
        boolean idle = resident.retire();
        if (idle == false && resident.readsFiles()) {
          entry.awaitIdle(resident);
          idle = true;
        }
        if (idle) {
          free(resident);
        }
      }
    } finally {
      entries.remove(entry.view());
    }
  }

  @Override
  public void abandon() {
    DeviceMemory lost = memories.abandon();
    long now = now();
    for (SegmentEntry entry : entries.values()) {
      entry.abandon(now);
    }
    if (lost != null) {
      live.removeAll(lost);
    }
  }

  @Override
  public boolean reserve(long bytes) {
    return memories.reserve(bytes);
  }

  @Override
  public void release(long bytes) {
    memories.release(bytes);
    tasks.add(this::retryWaiting, false);
  }

  /** Returns the counters and current values. */
  public ResidencyStats stats() {
    return counters.snapshot(entries.values(), memories.current());
  }

  /** Frees everything after the last {@link ResidentSegment} is released; ignores later ones. */
  @Override
  public void close() {
    synchronized (entriesLock) {
      closed = true;
    }
    for (SegmentEntry entry : entries.values()) {
      close(entry);
    }
    live.awaitEmpty();
    memories.close();
  }
}
