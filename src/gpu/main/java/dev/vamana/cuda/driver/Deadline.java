package dev.vamana.cuda.driver;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * How long work on the device may take in one context. A {@code cuda.lane.Lane} checks what it has
 * begun; {@link CudaDriver#synchronize} does for uploads, builds and trainings, which have no lane.
 * Whoever finds work late gives the context up for all: its {@link GatedDriver} lets no further
 * call pass, so every other wait ends, too. Thread-safe.
 */
public final class Deadline {

  // a nap of 20 microseconds ends after 70
  private static final long SPIN_NANOS = 4_000_000;
  private static final long NAP_NANOS = 20_000;

  private final long nanos;
  private volatile String givenUp;

  /**
   * Makes the deadline of a context.
   *
   * @param nanos longest time that work on the device may take, at least 1; {@code Long.MAX_VALUE}
   *     for any time
   */
  public Deadline(long nanos) {
    this.nanos = nanos;
  }

  /** Returns the longest time that work may take, in nanoseconds. */
  long nanos() {
    return nanos;
  }

  /**
   * Whether work has taken too long. Whoever finds that asks the driver once more before {@link
   * #check}: the process may have been stopped since it asked, and the work may have ended long
   * ago.
   *
   * @param begun when it began, as {@link System#nanoTime}
   * @param now the present time
   */
  public boolean late(long begun, long now) {
    return now - begun > nanos;
  }

  /**
   * Gives the context up if work has taken too long.
   *
   * @param begun when it began, as {@link System#nanoTime}
   * @param now the present time
   * @throws GpuException with {@link GpuException.Kind#CONTEXT_LOST} if it has
   */
  public void check(long begun, long now) {
    if (late(begun, now)) {
      throw tooLate("work on the device");
    }
  }

  /**
   * Waits until work that began just now has ended.
   *
   * @param ended asks the driver
   * @throws GpuException with {@link GpuException.Kind#CONTEXT_LOST} if it takes too long
   */
  public void await(BooleanSupplier ended) {
    long begun = System.nanoTime();
    for (int step = 0; ended.getAsBoolean() == false; step++) {
      long now = System.nanoTime();
      if (late(begun, now)) {
        if (ended.getAsBoolean()) {
          return;
        }
        check(begun, now);
      }
      if (now - begun < SPIN_NANOS) {
        Spin.once(step);
      } else {
        LockSupport.parkNanos(NAP_NANOS);
      }
    }
  }

  GpuException tooLate(String what) {
    return giveUp(
        what
            + " did not end within "
            + TimeUnit.NANOSECONDS.toMillis(nanos)
            + " ms, so the context was given up");
  }

  GpuException giveUp(String why) {
    givenUp = why;
    return new GpuException(GpuException.Kind.CONTEXT_LOST, why);
  }

  /** Fails if the context was given up. */
  void checkHolds() {
    String why = givenUp;
    if (why != null) {
      throw new GpuException(GpuException.Kind.CONTEXT_LOST, why);
    }
  }
}
