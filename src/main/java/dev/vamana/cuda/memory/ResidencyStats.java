package dev.vamana.cuda.memory;

import java.util.Map;

/**
 * Counters of a residency at one moment; those of events count from its start.
 *
 * @param uploads segments that were brought to the device
 * @param uploadBytes bytes that were copied for them
 * @param uploadNanos time that it took
 * @param failures uploads that failed, for want of room or otherwise
 * @param evictions segments that made room for others
 * @param hits acquisitions of a resident segment
 * @param misses acquisitions that failed, by reason
 * @param segments open segments that are resident, by placement
 * @param bytes device bytes of these
 * @param waiting open segments that are queued or being uploaded
 * @param deviceBytes device memory in use for segments, uploads in progress included
 * @param deviceLimit most of it; 0 without a device
 * @param pinnedBytes page cache that is pinned for the device
 * @param pinnedLimit most of it; 0 without a device
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
}
