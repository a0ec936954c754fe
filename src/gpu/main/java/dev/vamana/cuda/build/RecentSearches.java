package dev.vamana.cuda.build;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Tells builds whether the device has been searching lately, since they then leave room for the
 * next search. Thread-safe.
 */
public final class RecentSearches {

  private static final long RECENT_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private final LongSupplier searches;
  private final LongSupplier clock;
  private long known;
  private long last;
  private boolean any;

  /**
   * Makes an instance.
   *
   * @param searches number of searches so far
   */
  public RecentSearches(LongSupplier searches) {
    this(searches, System::nanoTime);
  }

  RecentSearches(LongSupplier searches, LongSupplier clock) {
    this.searches = searches;
    this.clock = clock;
    this.known = searches.getAsLong();
  }

  /** Whether a search came within a tenth of a second, as far as earlier calls can tell. */
  synchronized boolean any() {
    long now = clock.getAsLong();
    long count = searches.getAsLong();
    if (count != known) {
      known = count;
      last = now;
      any = true;
    } else if (now - last > RECENT_NANOS) {
      any = false;
    }
    return any;
  }
}
