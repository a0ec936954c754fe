package dev.vamana.cuda.call;

import dev.vamana.search.SegmentView;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The open segments that the same queries search, {@link SegmentView#family}. {@link CallPlanner}
 * asks how many they are: walks over all of them share a launch, and scans by few queries another.
 * {@code GpuExecutor} tells of segments that open and close, wherever they are. Thread-safe.
 */
public final class Families {

  private final Map<Object, Set<SegmentView>> open = new ConcurrentHashMap<>();

  /** Adds a segment, unless it is there. */
  public void opened(SegmentView segment) {
    open.compute(
        segment.family(),
        (family, before) -> {
          Set<SegmentView> segments = before == null ? ConcurrentHashMap.newKeySet() : before;
          segments.add(segment);
          return segments;
        });
  }

  /** Removes a segment, if it is there. Returns whether no segment of its family is open now. */
  public boolean closing(SegmentView segment) {
    return open.computeIfPresent(
            segment.family(),
            (family, segments) -> {
              segments.remove(segment);
              return segments.isEmpty() ? null : segments;
            })
        == null;
  }

  /** Returns how many segments of a segment's family are open, at least 1. */
  public int size(SegmentView segment) {
    Set<SegmentView> segments = open.get(segment.family());
    return segments == null ? 1 : Math.max(1, segments.size());
  }
}
