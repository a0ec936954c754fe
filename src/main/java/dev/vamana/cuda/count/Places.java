package dev.vamana.cuda.count;

/**
 * An array in which each thread has a place for a few numbers of its own, which fill a line of the
 * processor's cache: threads write to their places without waiting for others. Threads whose ids
 * are far apart may share a place.
 */
public final class Places {

  /** Numbers of a place. */
  public static final int NUMBERS = 8;

  /** Threads have a place each if their ids are less apart. */
  private static final int PLACES = 512;

  private Places() {}

  /** Returns an array of zeros. */
  public static long[] make() {
    return new long[PLACES * NUMBERS];
  }

  /** Returns the index of the first number of the calling thread's place. */
  public static int own() {
    return ((int) Thread.currentThread().threadId() & (PLACES - 1)) * NUMBERS;
  }
}
