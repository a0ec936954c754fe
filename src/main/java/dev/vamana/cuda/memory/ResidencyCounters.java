package dev.vamana.cuda.memory;

import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts events of residencies. Each context has its own residency; the counters are shared, so
 * counts survive the loss of a context. Thread-safe.
 */
public final class ResidencyCounters {

  private final LongAdder uploads = new LongAdder();
  private final LongAdder uploadBytes = new LongAdder();
  private final LongAdder uploadNanos = new LongAdder();
  private final LongAdder failures = new LongAdder();
  private final LongAdder evictions = new LongAdder();
  private final LongAdder hits = new LongAdder();
  private final Map<Absence, LongAdder> misses = new EnumMap<>(Absence.class);

  /** Makes counters of value 0. */
  public ResidencyCounters() {
    for (Absence absence : Absence.values()) {
      misses.put(absence, new LongAdder());
    }
  }

  void uploaded(long bytes, long nanos) {
    uploads.increment();
    uploadBytes.add(bytes);
    uploadNanos.add(nanos);
  }

  void failed() {
    failures.increment();
  }

  void evicted() {
    evictions.increment();
  }

  void hit() {
    hits.increment();
  }

  void missed(Absence absence) {
    misses.get(absence).increment();
  }

  /** Returns the event counters while there is no residency. */
  public ResidencyStats withoutContext() {
    return snapshot(List.of(), null);
  }

  /**
   * Returns all counters.
   *
   * @param entries the open segments
   * @param memory memory of the context, or null
   */
  ResidencyStats snapshot(Collection<SegmentEntry> entries, DeviceMemory memory) {
    Map<Absence, Long> missed = new EnumMap<>(Absence.class);
    misses.forEach((absence, count) -> missed.put(absence, count.sum()));
    Map<Placement, Integer> segments = new EnumMap<>(Placement.class);
    Map<Placement, Long> bytes = new EnumMap<>(Placement.class);
    int waiting = 0;
    for (SegmentEntry entry : entries) {
      Resident resident = entry.resident();
      if (resident != null) {
        segments.merge(resident.plan().placement(), 1, Integer::sum);
        bytes.merge(resident.plan().placement(), resident.plan().deviceBytes(), Long::sum);
      } else if (entry.absence() == Absence.QUEUED || entry.absence() == Absence.UPLOADING) {
        waiting++;
      }
    }
    return new ResidencyStats(
        uploads.sum(),
        uploadBytes.sum(),
        uploadNanos.sum(),
        failures.sum(),
        evictions.sum(),
        hits.sum(),
        missed,
        segments,
        bytes,
        waiting,
        memory == null ? 0 : memory.device().used(),
        memory == null ? 0 : memory.device().limit(),
        memory == null ? 0 : memory.pageCache().used(),
        memory == null ? 0 : memory.pageCache().limit());
  }
}
