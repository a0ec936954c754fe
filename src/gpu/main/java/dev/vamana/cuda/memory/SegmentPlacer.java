package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.AlreadyClosedException;

/**
 * Finds room for a segment, evicting others if needed, and uploads it. {@link Residency} calls it
 * on the upload thread.
 */
final class SegmentPlacer {

  /**
   * Inverse share of the limit that stays free beside plans of more than searches need. A merge of
   * all segments that have got such places then finds room for its graph and for the new segment
   * beside the old ones.
   */
  private static final int AMPLE = 2;

  private volatile PlacementPlanner planner;
  private final ResidencyCounters counters;
  private final DeviceMemory memory;
  private final Collection<SegmentEntry> entries;
  private final BiConsumer<SegmentEntry, Resident> evict;
  private final BiConsumer<SegmentView, GpuException> refused;
  private final long evictAfter;

  /**
   * The result of an upload.
   *
   * @param resident the resident segment, or null
   * @param absence why it is not resident
   * @param failure the failure to report, or null
   */
  record Outcome(Resident resident, Absence absence, Throwable failure) {}

  /**
   * Makes a placer.
   *
   * @param entries all segments, of which some may be evicted
   * @param evict frees a segment that has been retired unused
   * @param refused called for placements that the driver refuses
   */
  SegmentPlacer(
      ResidencyOptions options,
      ResidencyCounters counters,
      DeviceMemory memory,
      Collection<SegmentEntry> entries,
      BiConsumer<SegmentEntry, Resident> evict,
      BiConsumer<SegmentView, GpuException> refused) {
    this.planner = new PlacementPlanner(options.placements());
    this.evictAfter = options.evictAfter().toNanos();
    this.counters = counters;
    this.memory = memory;
    this.entries = entries;
    this.evict = evict;
    this.refused = refused;
  }

  /** Sets the placements from which one is chosen for each segment from now on. */
  void placements(Set<Placement> allowed) {
    planner = new PlacementPlanner(allowed);
  }

  /** Work on the device. */
  private interface Work {
    Outcome run() throws IOException;
  }

  /** Uploads a segment, or returns why that failed. */
  Outcome place(SegmentEntry entry) {
    return inside(() -> placeInside(entry));
  }

  private Outcome inside(Work work) {
    boolean entered = false;
    try {
      entered = memory.enter();
      return entered ? work.run() : new Outcome(null, Absence.NO_DEVICE, null);
    } catch (AlreadyClosedException e) {
      return new Outcome(null, Absence.CLOSED, null);
    } catch (Throwable e) {
      if (memory.lost()) {
        // abandoned by another thread, which has reported the loss
        return new Outcome(null, Absence.NO_DEVICE, null);
      }
      counters.failed();
      return new Outcome(null, absence(e), e);
    } finally {
      if (entered) {
        memory.exit();
      }
    }
  }

  private static Absence absence(Throwable failure) {
    if (failure instanceof CorruptIndexException) {
      return Absence.DAMAGED;
    }
    boolean lost = failure instanceof GpuException gpu && gpu.contextLost();
    return lost ? Absence.NO_DEVICE : Absence.FAILED;
  }

  private Outcome placeInside(SegmentEntry entry) throws IOException {
    SegmentShape shape = SegmentShape.of(entry.view());
    List<PlacementPlan> candidates = candidates(entry, shape);
    if (candidates.isEmpty()) {
      return new Outcome(null, Absence.UNSUPPORTED, null);
    }
    GpuException failure = null;
    for (; ; ) {
      PlacementPlan plan = makeRoom(entry, candidates);
      if (plan == null) {
        break;
      }
      try {
        return new Outcome(upload(entry, plan), null, null);
      } catch (GpuException e) {
        boolean another =
            e.kind() == GpuException.Kind.OUT_OF_MEMORY
                || e.kind() == GpuException.Kind.NOT_SUPPORTED;
        if (another == false) {
          throw e;
        }
        failure = e;
        candidates.remove(plan);
        if (e.kind() == GpuException.Kind.NOT_SUPPORTED) {
          entry.refused().add(plan);
          if (plan.ifRoom()) {
            continue;
          }
        }
        // the device may have no memory where the budget has; that is worth knowing, too
        refused.accept(entry.view(), e);
        if (memory.registrations().supported() == false) {
          candidates.removeIf(candidate -> candidate.mappedBytes() > 0);
        }
      }
    }
    counters.failed();
    if (candidates.isEmpty()
        && failure != null
        && failure.kind() == GpuException.Kind.NOT_SUPPORTED) {
      return new Outcome(null, Absence.FAILED, failure);
    }
    entry.leastBytes(candidates.stream().mapToLong(PlacementPlan::deviceBytes).min().orElse(0));
    return new Outcome(null, Absence.OVER_BUDGET, failure);
  }

  private List<PlacementPlan> candidates(SegmentEntry entry, SegmentShape shape)
      throws IOException {
    SegmentView view = entry.view();
    boolean whole =
        shape.hasGraph()
            && shape.rawVectors()
            && CopyCenter.whole(view.vectorsRegion(), shape, view.similarity(), entry::checkWanted);
    List<PlacementPlan> candidates =
        new ArrayList<>(planner.candidates(shape, memory.registrations().supported(), whole));
    candidates.removeAll(entry.refused());
    return candidates;
  }

  /**
   * Uploads a segment to a better placement than it has, if one fits without evictions. Its old
   * place stays as it is.
   */
  Outcome improve(SegmentEntry entry, Resident old) {
    return inside(() -> improveInside(entry, old));
  }

  private Outcome improveInside(SegmentEntry entry, Resident old) throws IOException {
    List<PlacementPlan> candidates = candidates(entry, old.plan().shape());
    int rank = candidates.indexOf(old.plan());
    PlacementPlan plan = PlacementPlanner.choose(candidates.subList(0, Math.max(0, rank)), room());
    try {
      return new Outcome(plan == null ? null : upload(entry, plan), null, null);
    } catch (GpuException e) {
      if (e.kind() == GpuException.Kind.NOT_SUPPORTED) {
        entry.refused().add(plan);
        if (plan.ifRoom()) {
          return new Outcome(null, null, null);
        }
        refused.accept(entry.view(), e);
      }
      throw e;
    }
  }

  private Resident upload(SegmentEntry entry, PlacementPlan plan) throws IOException {
    Runnable abort =
        () -> {
          entry.checkWanted();
          if (memory.lost()) {
            throw new GpuException(GpuException.Kind.CONTEXT_LOST, "the context was given up");
          }
        };
    SegmentUpload upload = new SegmentUpload(entry.lease(), plan, memory, abort);
    long start = System.nanoTime();
    Resident resident = upload.run();
    counters.uploaded(upload.copiedBytes(), System.nanoTime() - start);
    return resident;
  }

  private PlacementPlanner.Room room() {
    long free = memory.free();
    return new PlacementPlanner.Room(
        free, memory.pageCache().free(), free - memory.device().limit() / AMPLE);
  }

  /**
   * Returns the best plan that fits. Evicts other segments only if the best plan without evictions
   * puts neither graph nor lists on the device, and never for a segment that has none.
   */
  private PlacementPlan makeRoom(SegmentEntry entry, List<PlacementPlan> candidates) {
    PlacementPlanner.Room room = room();
    PlacementPlan plan = PlacementPlanner.choose(candidates, room);
    if ((plan != null && plan.indexOnDevice()) || entry.view().isIndexed() == false) {
      return plan;
    }
    List<SegmentEntry> victims =
        firstToGo(entries, entry.lastUse(), other -> givesWay(other, entry));
    long evictable = 0;
    long mappedEvictable = 0;
    for (SegmentEntry victim : victims) {
      Resident resident = victim.resident();
      if (resident != null) {
        evictable += resident.plan().deviceBytes();
        mappedEvictable += resident.plan().mappedBytes();
      }
    }
    PlacementPlan better =
        PlacementPlanner.choose(
            candidates,
            new PlacementPlanner.Room(
                room.device() + evictable, room.mapped() + mappedEvictable, 0));
    if (better == null || (plan != null && better.indexOnDevice() == false)) {
      return plan;
    }
    for (SegmentEntry victim : victims) {
      if (room().fits(better)) {
        break;
      }
      Resident resident = victim.resident();
      if (resident != null && resident.retireUnused()) {
        evict.accept(victim, resident);
      }
    }
    return PlacementPlanner.choose(candidates, room());
  }

  /** Whether a segment may be evicted for another. A kept one may evict what was just used. */
  private boolean givesWay(SegmentEntry other, SegmentEntry entry) {
    Resident resident = other.resident();
    return resident != null
        && resident.inUse() == false
        && (entry.kept() == other.kept()
            ? entry.lastUse() - other.lastUse() >= evictAfter
            : entry.kept());
  }

  /**
   * Returns entries in order of eviction: least recently used first, kept segments after all
   * others. The reverse is the order of upload.
   */
  static List<SegmentEntry> firstToGo(
      Collection<SegmentEntry> entries, long now, Predicate<SegmentEntry> which) {
    // a snapshot, because kept and lastUse change during the sort
    record Candidate(SegmentEntry entry, boolean kept, long unused) {}
    return entries.stream()
        .filter(which)
        .map(entry -> new Candidate(entry, entry.kept(), now - entry.lastUse()))
        .sorted(
            Comparator.comparing(Candidate::kept)
                .thenComparing(Comparator.comparingLong(Candidate::unused).reversed()))
        .map(Candidate::entry)
        .toList();
  }

  /**
   * Evicts unused segments, the least recently used first, until there is room; none if all
   * together are too few.
   *
   * @param reserved reserves the bytes if there is room
   * @return whether the bytes are reserved
   */
  boolean makeRoom(long bytes, long now, BooleanSupplier reserved) {
    List<SegmentEntry> unused = firstToGo(entries, now, SegmentPlacer::mayGo);
    long room = memory.device().free();
    for (SegmentEntry entry : unused) {
      Resident resident = entry.resident();
      room += resident == null ? 0 : resident.plan().deviceBytes();
    }
    if (room < bytes) {
      return false;
    }
    for (SegmentEntry entry : unused) {
      Resident resident = entry.resident();
      if (resident != null && resident.retireUnused()) {
        evict.accept(entry, resident);
        if (reserved.getAsBoolean()) {
          return true;
        }
      }
    }
    return false;
  }

  private static boolean mayGo(SegmentEntry entry) {
    Resident resident = entry.resident();
    return resident != null && resident.inUse() == false && entry.kept() == false;
  }
}
