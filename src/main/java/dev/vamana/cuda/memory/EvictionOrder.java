package dev.vamana.cuda.memory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.function.Predicate;

/** In which order segments get places and lose them. */
final class EvictionOrder {

  // marks and times change while others are sorted, so both are read once
  private record Candidate(SegmentEntry entry, boolean kept, long unused) {}

  private static final Comparator<Candidate> FIRST_TO_GO =
      Comparator.comparing(Candidate::kept)
          .thenComparing(Comparator.comparingLong(Candidate::unused).reversed());

  private EvictionOrder() {}

  /** Least recently used first, those that are kept last. */
  static List<SegmentEntry> firstToGo(
      Collection<SegmentEntry> entries, long now, Predicate<SegmentEntry> which) {
    return sorted(entries, now, which, FIRST_TO_GO);
  }

  /** Those that are kept first, and of each kind those last asked for. */
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
