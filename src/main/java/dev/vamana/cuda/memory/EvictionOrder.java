package dev.vamana.cuda.memory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/** Orders segments for eviction and for upload. */
final class EvictionOrder {

  // a snapshot, because kept and lastUse change during the sort
  private record Candidate(SegmentEntry entry, boolean kept, long unused) {}

  private static final Comparator<Candidate> FIRST_TO_GO =
      Comparator.comparing(Candidate::kept)
          .thenComparing(Comparator.comparingLong(Candidate::unused).reversed());

  private EvictionOrder() {}

  /**
   * Returns entries in order of eviction: least recently used first, kept segments after all
   * others.
   */
  static List<SegmentEntry> firstToGo(
      Collection<SegmentEntry> entries, long now, Predicate<SegmentEntry> which) {
    return sorted(entries, now, which, FIRST_TO_GO);
  }

  /** Returns entries in order of upload: kept segments first, then most recently used. */
  static List<SegmentEntry> firstToGet(
      Collection<SegmentEntry> entries, long now, Predicate<SegmentEntry> which) {
    return sorted(entries, now, which, FIRST_TO_GO.reversed());
  }

  private static List<SegmentEntry> sorted(
      Collection<SegmentEntry> entries,
      long now,
      Predicate<SegmentEntry> which,
      Comparator<Candidate> order) {
    List<Candidate> candidates = new ArrayList<>();
    for (SegmentEntry entry : entries) {
      if (which.test(entry)) {
        candidates.add(new Candidate(entry, entry.kept(), now - entry.lastUse()));
      }
    }
    candidates.sort(order);
    return candidates.stream().map(Candidate::entry).toList();
  }
}
