package dev.vamana.cuda.memory;

import dev.vamana.cuda.count.Counters;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts events of residencies. Each context has its own residency; the counters are shared, so
 * counts survive the loss of a context. Thread-safe.
 */
public final class ResidencyCounters {

  private final Counters counters = new Counters();
  private final LongAdder uploads = counters.add("uploads");
  private final LongAdder uploadBytes = counters.add("upload_bytes");
  private final LongAdder uploadNanos = counters.add("upload_nanos");
  private final LongAdder failures = counters.add("upload_failures");
  private final LongAdder evictions = counters.add("evictions");
  private final LongAdder hits = counters.add("hits");
  private final Map<Absence, LongAdder> misses =
      counters.addAll(Absence.class, why -> "misses_" + why.name().toLowerCase(Locale.ROOT));

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

  /** Returns the event counters by name, while there is no residency. */
  public SortedMap<String, Long> withoutContext() {
    return named(List.of(), null);
  }

  /**
   * Returns all counters and current values by name.
   *
   * @param entries the open segments
   * @param memory memory of the context, or null
   */
  SortedMap<String, Long> named(Collection<SegmentEntry> entries, DeviceMemory memory) {
    SortedMap<String, Long> named = counters.sums();
    long waiting = 0;
    for (SegmentEntry entry : entries) {
      Resident resident = entry.resident();
      if (resident != null) {
        String placement = resident.plan().placement().settingName();
        named.merge("segments_" + placement, 1L, Long::sum);
        named.merge("bytes_" + placement, resident.plan().deviceBytes(), Long::sum);
      } else if (entry.absence() == Absence.QUEUED || entry.absence() == Absence.UPLOADING) {
        waiting++;
      }
    }
    named.put("segments_waiting", waiting);
    if (memory != null && memory.device().limit() > 0) {
      named.put("device_bytes", memory.device().used());
      named.put("device_limit_bytes", memory.device().limit());
      named.put("page_cache_bytes", memory.pageCache().used());
      named.put("page_cache_limit_bytes", memory.pageCache().limit());
    }
    return named;
  }
}
