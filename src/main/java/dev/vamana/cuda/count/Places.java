package dev.vamana.cuda.count;

/**
 * An array in which each thread has a place for a few numbers of its own. No two places have a line
 * of the processor's cache in common, so threads write to their places without waiting for others.
 * Threads whose ids are far apart may share a place.
 */
public final class Places {

  /** Numbers of a place: 64 bytes, as a line of the cache. */
  public static final int NUMBERS = 8;

  /**
   * From the first number of a place to the next place's first. An array may begin anywhere in a
   * line, so the numbers of a place lie in two lines, and a line is left out before the next place.
   */
  public static final int APART = 2 * NUMBERS;

  /** Threads have a place each if their ids are less apart. */
  private static final int PLACES = 512;

  private Places() {}

  /** Returns an array of zeros. */
  public static long[] make() {
    return new long[PLACES * APART];
  }

  /** Returns the index of the first number of the calling thread's place. */
  public static int own() {
    return ((int) Thread.currentThread().threadId() & (PLACES - 1)) * APART;
  }
}
