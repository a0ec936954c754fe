package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import java.io.Closeable;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * Decides which segments are on the device in one context: uploads segments one after the other in
 * the background, within a budget. A segment that does not fit evicts others only if its graph
 * would not be on the device otherwise. Only unused segments are evicted, least recently used
 * first, and only if they were unused for a minute (by default) when the new segment was opened or
 * searched. So two segments that are searched in turns evict each other at most once a minute; if
 * more segments are searched than fit, the first ones stay and the CPU searches the others. When
 * memory is freed, segments without a place are tried again, and then segments whose placement is
 * not the best.
 */
public final class Residency implements DeviceBudget, Closeable {

  /**
   * Least bytes of the raw vectors of a segment without graph and lists: the CPU scans less in the
   * time that a search by the device takes to plan.
   */
  public static final int LEAST_SCANNED_BYTES = 16_384;

  private final LongSupplier clock;
  private final SerialTasks tasks;
  private final Runnable whenGone;
  private final ResidencyCounters counters;
  private final SegmentPlacer placer;
  private final DeviceMemory memory;
  private final Map<SegmentView, SegmentEntry> entries = new ConcurrentHashMap<>();
  private final ResidentSet live = new ResidentSet();
  private final ResidencyListener listener;
  private final long retryNanos;
  private final long hostBytes;
  private final LongAdder scratch = new LongAdder();
  private boolean closed;

  /**
   * Makes an empty residency.
   *
   * @param driver the context, which stays open until {@link #abandon} or {@link #close} has
   *     returned
   * @param executor runs uploads; one thread is kept busy
   * @param whenGone called when no more uploads will be given to the executor
   * @param listener receives events of segments
   * @param counters shared by the residencies of one device, one after the other
   * @param clock nanoseconds, from any origin
   */
  public Residency(
      CudaDriver driver,
      ResidencyOptions options,
      Executor executor,
      Runnable whenGone,
      ResidencyListener listener,
      ResidencyCounters counters,
      LongSupplier clock) {
    this.counters = counters;
    this.clock = clock;
    this.listener = listener;
    this.whenGone = whenGone;
    this.tasks = new SerialTasks(executor);
    this.retryNanos = options.retryAfter().toNanos();
    this.hostBytes = options.hostBytes();
    this.memory =
        new DeviceMemory(
            driver,
            options.deviceLimit().of(driver.device().totalBytes()),
            options.pageCacheLimit().of(hostBytes));
    this.placer =
        new SegmentPlacer(
            options, counters, memory, entries.values(), this::evict, listener::refused);
  }

  /**
   * Whether a segment may be on the device: it has a graph or lists, or vectors to scan of 16 KiB
   * or more.
   */
  public static boolean takes(SegmentView view) {
    return view.isIndexed()
        || (long) view.size() * view.dimension() * view.encoding().byteSize >= LEAST_SCANNED_BYTES;
  }

  /**
   * Registers an opened segment and queues its upload. Returns at once.
   *
   * @param view any segment; ignored unless the device {@linkplain #takes takes} it
   */
  public void opened(SegmentView view) {
    if (takes(view)) {
      entry(view);
    }
  }

  /** Whether the segment was {@linkplain #opened opened}, or opening it would change nothing. */
  public boolean knows(SegmentView view) {
    return entries.containsKey(view) || takes(view) == false;
  }

  /** Returns the segment's entry, made and queued if missing; null once this is closed. */
  private SegmentEntry entry(SegmentView view) {
    SegmentEntry entry;
    synchronized (this) {
      entry = entries.get(view);
      if (entry != null || closed) {
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

  /**
   * Returns the segment if it is resident. Otherwise returns null; the CPU has to answer the query,
   * and {@link #presence} has the reason. An evicted segment is queued again.
   */
  public ResidentSegment acquire(SegmentView view) {
    SegmentEntry entry = entries.get(view);
    ResidentSegment segment = entry == null ? null : use(entry);
    if (segment == null) {
      counters.missed(absence(view));
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
    } else {
      tasks.resume();
    }
    return segment;
  }

  /** Whether a segment is not resident because the checksum of one of its files is wrong. */
  public boolean damaged(SegmentView view) {
    return absence(view) == Absence.DAMAGED;
  }

  /** Returns why a segment is not resident. */
  Absence absence(SegmentView view) {
    SegmentEntry entry = entries.get(view);
    if (entry != null) {
      return entry.absence();
    }
    return takes(view) ? Absence.CLOSED : Absence.UNSUPPORTED;
  }

  /** Returns a segment's state. Changes nothing. */
  public DevicePresence presence(SegmentView view) {
    SegmentEntry entry = entries.get(view);
    Resident resident = entry == null ? null : entry.resident();
    if (resident != null) {
      PlacementPlan plan = resident.plan();
      return DevicePresence.resident(plan.placement().settingName(), plan.deviceBytes());
    }
    Absence why = absence(view);
    return switch (why) {
      case QUEUED, UPLOADING -> DevicePresence.waiting(why.text());
      case NO_DEVICE -> DevicePresence.NO_DEVICE;
      default -> DevicePresence.refused(why.text());
    };
  }

  /**
   * Queues a segment before segments that were only opened, even if an earlier upload of it failed.
   * Returns at once.
   */
  public void warm(SegmentView view) {
    SegmentEntry entry = takes(view) ? entry(view) : null;
    if (entry != null) {
      entry.used(now());
      if (entry.urge()) {
        tasks.addUrgent(() -> upload(entry));
      }
    }
  }

  /**
   * Marks a segment as kept, or not: a kept one is queued before others and gives way only to other
   * kept ones. This may be called each time a reader is opened: after a refused or failed upload
   * the segment is queued again only when a search could queue it.
   */
  public void keep(SegmentView view, boolean kept) {
    SegmentEntry entry = takes(view) ? entry(view) : null;
    if (entry == null) {
      return;
    }
    entry.kept(kept);
    if (kept && (entry.absence() == Absence.QUEUED || entry.requeue(now(), false))) {
      tasks.addUrgent(() -> upload(entry));
    }
  }

  /**
   * Removes a segment from the device until the next search of it.
   *
   * @return bytes of device memory that are freed now, or when running launches end
   */
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

  /**
   * Changes limits and the placements of segments uploaded from now on. Resident segments stay
   * where they are as long as they are within the limits.
   *
   * @param placements placements from which one is chosen for each
   */
  public void adjust(MemoryLimit device, MemoryLimit pageCache, Set<Placement> placements) {
    memory.device().limit(device.of(memory.driver().device().totalBytes()));
    memory.pageCache().limit(pageCache.of(hostBytes));
    placer.placements(placements);
    tasks.add(this::retryWaiting, false);
  }

  /** Evicts segments until the rest is within the limits. */
  private void shrink() {
    long leavingDevice = 0;
    long leavingPages = 0;
    for (SegmentEntry entry :
        SegmentPlacer.firstToGo(entries.values(), now(), Residency::isResident)) {
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

  private static boolean isResident(SegmentEntry entry) {
    return entry.resident() != null;
  }

  private void upload(SegmentEntry entry) {
    if (entry.beginUpload() == false) {
      return;
    }
    SegmentPlacer.Outcome outcome = placer.place(entry);
    Resident resident = outcome.resident();
    if (resident != null) {
      occupies(entry, resident);
    }
    if (entry.endUpload(resident, outcome.absence(), now() + retryNanos)) {
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

  private void occupies(SegmentEntry entry, Resident resident) {
    resident.whenIdle(() -> idle(entry, resident));
    live.add(resident);
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
    if (memory.lost()) {
      return;
    }
    shrink();
    Predicate<SegmentEntry> fits =
        entry ->
            entry.absence() == Absence.OVER_BUDGET && entry.leastBytes() <= memory.device().free();
    for (SegmentEntry next : SegmentPlacer.firstToGo(entries.values(), now(), fits).reversed()) {
      if (next.requeue(now(), true)) {
        queue(next);
      }
    }
    tasks.add(this::improveAll, false);
  }

  /** Moves resident segments to better placements if there is room. */
  private void improveAll() {
    SegmentPlacer.firstToGo(entries.values(), now(), Residency::isResident)
        .reversed()
        .forEach(this::improve);
  }

  private void improve(SegmentEntry entry) {
    Resident old = entry.beginImprovement();
    if (old == null) {
      return;
    }
    SegmentPlacer.Outcome outcome = placer.improve(entry, old);
    Resident better = outcome.resident();
    if (better != null) {
      occupies(entry, better);
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
   * Begins to close a segment: no batch begins to read its files, and callers that wait for it are
   * let go. On return no thread of a lane reads its files; a launch may.
   */
  public void closeLease(SegmentView view) {
    SegmentEntry entry = entries.get(view);
    if (entry != null) {
      entry.lease().close();
    }
  }

  /**
   * Forgets a segment that is about to be closed. Returns when nothing on the device reads its
   * files any more. Its memory is freed when the last {@link ResidentSegment} is released.
   *
   * @throws GpuException if the context is found lost; nothing reads the files then
   */
  public void closing(SegmentView view) {
    SegmentEntry entry = entries.get(view);
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

  /** Forgets everything in a lost context, without calling the driver. */
  public void abandon() {
    memory.abandon();
    for (SegmentEntry entry : entries.values()) {
      entry.abandon();
    }
    live.clear();
    whenGone.run();
  }

  @Override
  public boolean reserve(long bytes) {
    if (memory.enter() == false) {
      return false;
    }
    try {
      boolean reserved = bytes <= memory.free() && memory.device().tryReserve(bytes);
      if (reserved) {
        scratch.add(bytes);
      }
      return reserved;
    } finally {
      memory.exit();
    }
  }

  /** {@inheritDoc} Evicts the least recently used first, and none if all together are too few. */
  @Override
  public boolean claim(long bytes) {
    return reserve(bytes) || placer.makeRoom(bytes, now(), () -> reserve(bytes));
  }

  @Override
  public void release(long bytes) {
    scratch.add(-bytes);
    memory.device().release(bytes);
    tasks.add(this::retryWaiting, false);
  }

  public SortedMap<String, Long> counters() {
    SortedMap<String, Long> named = counters.named(entries.values(), memory.lost() ? null : memory);
    named.put("scratch_bytes", memory.lost() ? 0 : scratch.sum());
    return named;
  }

  /** Frees everything after the last {@link ResidentSegment} is released; ignores later ones. */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    for (SegmentEntry entry : entries.values()) {
      close(entry);
    }
    live.awaitEmpty();
    memory.close();
    whenGone.run();
  }
}
