package dev.vamana.elasticsearch.search;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.elasticsearch.core.TimeValue;

/**
 * The time since this object was made, by the system's clock. The thread pool's clock is not used,
 * because Elasticsearch reads it only every 200 ms. Thread-safe.
 */
public final class Elapsed {
  private final LongSupplier nanos;
  private final long start;

  /**
   * Starts to measure.
   *
   * @param nanos a clock in nanoseconds that never goes back
   */
  Elapsed(LongSupplier nanos) {
    this.nanos = nanos;
    this.start = nanos.getAsLong();
  }

  /** Starts to measure by the system's clock. */
  public static Elapsed now() {
    return new Elapsed(System::nanoTime);
  }

  /** The time so far, in whole milliseconds, rounded down. */
  public TimeValue time() {
    return TimeValue.timeValueMillis(TimeUnit.NANOSECONDS.toMillis(nanos()));
  }

  /** Whether at least this time has passed; never for null and for negative times. */
  boolean reached(TimeValue limit) {
    return limit != null && limit.nanos() >= 0 && nanos() >= limit.nanos();
  }

  /** The time so far, in nanoseconds. */
  long nanos() {
    return nanos.getAsLong() - start;
  }
}
