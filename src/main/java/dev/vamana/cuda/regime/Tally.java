package dev.vamana.cuda.regime;

import dev.vamana.cuda.count.Counters;
import java.util.Arrays;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts what a {@link Controller} did. Thread-safe. */
final class Tally {

  /** Numbers of callers by powers of two; the last has all that are larger. */
  private static final int LOADS = 12;

  private static final long NANOS_PER_MICRO = 1_000;

  private final Counters counters = new Counters();
  final LongAdder trials = counters.add("trials");
  final LongAdder changes = counters.add("changes");
  final LongAdder regrets = counters.add("regrets");
  final LongAdder disturbed = counters.add("disturbed");
  final LongAdder exploredNanos = new LongAdder();
  private final LongAdder watchedNanos = new LongAdder();
  private final Map<Arm, LongAdder[]> windows = new EnumMap<>(Arm.class);
  private volatile SortedMap<String, Long> loads = new TreeMap<>();

  Tally() {
    for (Arm arm : Arm.values()) {
      LongAdder[] own = new LongAdder[LOADS];
      Arrays.setAll(own, load -> new LongAdder());
      windows.put(arm, own);
    }
  }

  void watched(long nanos) {
    watchedNanos.add(nanos);
  }

  /** Counts a window outside of trials. */
  void window(Arm arm, double inFlight) {
    int load = Math.clamp(Math.getExponent(inFlight), -1, LOADS - 2) + 1;
    windows.get(arm)[load].increment();
  }

  /** Publishes at how many loads each arm is better. */
  void learned(Collection<Lesson> lessons) {
    SortedMap<String, Long> learned = new TreeMap<>();
    for (Lesson lesson : lessons) {
      if (lesson.measured()) {
        learned.merge(lesson.arm().statisticsName(), 1L, Long::sum);
      }
    }
    loads = learned;
  }

  /**
   * Returns all by group and name. {@code contested} has the number of trials, of {@code changes}
   * of what is better at a load, of {@code regrets} among these, which no trial decided, of {@code
   * disturbed} trials, the microseconds that were watched, and the part that trials spent on the
   * arm that lost. {@code contested_loads} has the number of loads at which an arm was found
   * better. {@code contested_windows_} followed by an arm's name has the windows outside of trials
   * in which it was chosen, by callers in flight: less than the number in the name.
   */
  SortedMap<String, SortedMap<String, Long>> totals() {
    SortedMap<String, SortedMap<String, Long>> groups = new TreeMap<>();
    SortedMap<String, Long> sums = counters.sums();
    sums.put("watched_micros", watchedNanos.sum() / NANOS_PER_MICRO);
    sums.put("explored_micros", exploredNanos.sum() / NANOS_PER_MICRO);
    groups.put("contested", sums);
    groups.put("contested_loads", loads);
    windows.forEach(
        (arm, own) -> {
          SortedMap<String, Long> named = new TreeMap<>();
          for (int load = 0; load < LOADS; load++) {
            if (own[load].sum() > 0) {
              named.put("below_" + (1 << load), own[load].sum());
            }
          }
          groups.put("contested_windows_" + arm.statisticsName(), named);
        });
    return groups;
  }
}
