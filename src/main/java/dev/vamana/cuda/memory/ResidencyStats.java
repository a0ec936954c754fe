package dev.vamana.cuda.memory;

import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A snapshot of a residency's counters and current values.
 *
 * @param uploads segments uploaded
 * @param uploadBytes bytes copied by uploads
 * @param uploadNanos duration of uploads
 * @param failures failed uploads, for lack of memory or other reasons
 * @param evictions evicted segments
 * @param hits acquisitions of a resident segment
 * @param misses acquisitions that failed, by reason
 * @param segments resident segments now, by placement
 * @param bytes device bytes of resident segments now, by placement
 * @param waiting segments now queued or being uploaded
 * @param deviceBytes device memory in use for segments, including uploads in progress
 * @param deviceLimit limit of device memory; 0 without a device
 * @param pinnedBytes page cache pinned for the device
 * @param pinnedLimit limit of pinned page cache; 0 without a device
 */
public record ResidencyStats(
    long uploads,
    long uploadBytes,
    long uploadNanos,
    long failures,
    long evictions,
    long hits,
    Map<Absence, Long> misses,
    Map<Placement, Integer> segments,
    Map<Placement, Long> bytes,
    int waiting,
    long deviceBytes,
    long deviceLimit,
    long pinnedBytes,
    long pinnedLimit) {

  public ResidencyStats {
    misses = Map.copyOf(misses);
    segments = Map.copyOf(segments);
    bytes = Map.copyOf(bytes);
  }

  /** Returns all numbers by name, as {@link Residency#counters}. */
  public SortedMap<String, Long> counters() {
    SortedMap<String, Long> counters = new TreeMap<>();
    counters.put("uploads", uploads);
    counters.put("upload_bytes", uploadBytes);
    counters.put("upload_nanos", uploadNanos);
    counters.put("upload_failures", failures);
    counters.put("evictions", evictions);
    counters.put("hits", hits);
    counters.put("segments_waiting", (long) waiting);
    if (deviceLimit > 0) {
      counters.put("device_bytes", deviceBytes);
      counters.put("device_limit_bytes", deviceLimit);
      counters.put("page_cache_bytes", pinnedBytes);
      counters.put("page_cache_limit_bytes", pinnedLimit);
    }
    misses.forEach(
        (why, count) -> counters.put("misses_" + why.name().toLowerCase(Locale.ROOT), count));
    segments.forEach(
        (how, count) -> counters.put("segments_" + how.settingName(), count.longValue()));
    bytes.forEach((how, own) -> counters.put("bytes_" + how.settingName(), own));
    return counters;
  }
}
