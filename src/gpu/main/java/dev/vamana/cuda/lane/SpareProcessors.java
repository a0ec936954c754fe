package dev.vamana.cuda.lane;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.LongSupplier;

/**
 * Whether processors are left for threads that spin while they wait for a device. A lane's thread
 * finds out while it spins: if other threads keep it from its processor for more than a tenth of
 * the time, its spinning keeps them from theirs. Then nobody spins for 25 milliseconds, after which
 * the lane tries again. Each time that processors turn out to be scarce soon after, nobody spins
 * for twice as long, up to 400 milliseconds.
 *
 * <p>Example: a node of 16 processors that answers 64 clients over HTTP has none to spare. Three
 * spinning threads would cost it a fifth of its requests.
 */
public final class SpareProcessors {

  private static final long WINDOW_NANOS = 5_000_000;
  private static final long SHORTEST_NANOS = 25_000_000;
  private static final long LONGEST_NANOS = 400_000_000;
  // so many windows without a shortage end a row of shortages
  private static final int ENOUGH = 20;
  private static final double LEAST_SHARE = 0.9;
  // the garbage collector stops the thread, too, but rarely in two windows one after the other
  private static final int WINDOWS = 2;

  private final LongSupplier processorTime;
  private volatile boolean scarce;
  private boolean measuring;
  private int kept;
  private int fine = ENOUGH;
  private long pause;
  private long since;
  private long processorSince;

  /** Makes an instance whose lane's thread has not measured anything. */
  public SpareProcessors() {
    this(processorTime());
  }

  /**
   * Makes an instance with another clock.
   *
   * @param processorTime the calling thread's time on a processor in nanoseconds; less than 0 if it
   *     is not known, and then threads always spin
   */
  SpareProcessors(LongSupplier processorTime) {
    this.processorTime = processorTime;
  }

  /** Returns an instance for which processors are never scarce. */
  public static SpareProcessors always() {
    return new SpareProcessors(() -> -1);
  }

  private static LongSupplier processorTime() {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    return threads.isCurrentThreadCpuTimeSupported() ? threads::getCurrentThreadCpuTime : () -> -1;
  }

  /** Whether a thread that waits should leave its processor to others. */
  public boolean scarce() {
    return scarce;
  }

  /**
   * Measures, while the lane's thread neither parks nor naps. By that thread.
   *
   * @param now {@link System#nanoTime}
   */
  void spinning(long now) {
    if (measuring && now - since < WINDOW_NANOS) {
      return;
    }
    long processor = processorTime.getAsLong();
    if (measuring && processor >= 0) {
      boolean own = processor - processorSince >= LEAST_SHARE * (now - since);
      kept = own ? 0 : kept + 1;
      fine += own ? 1 : 0;
      if (kept >= WINDOWS) {
        pause = fine < ENOUGH ? Math.min(2 * pause, LONGEST_NANOS) : SHORTEST_NANOS;
        fine = 0;
        scarce = true;
      }
    }
    measuring = scarce == false;
    since = now;
    processorSince = processor;
  }

  /**
   * Forgets what was measured, as the lane's thread is about to park or to nap; after a while lets
   * threads spin again. By that thread.
   *
   * @param now {@link System#nanoTime}
   */
  void waiting(long now) {
    measuring = false;
    if (scarce && now - since >= pause) {
      kept = 0;
      scarce = false;
    }
  }
}
