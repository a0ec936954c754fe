package dev.vamana.cuda.exact;

/**
 * Limits of an exact search.
 *
 * @param scratchBytes device memory for scores, copies and buffers, 16 MiB or more; searches that
 *     need more are done in parts
 * @param tileBytes pinned and device memory of each of the two tiles through which rows in host
 *     memory are streamed, 64 KiB to 1 GiB
 * @param leastProducts number of candidates from which large batches use tensor cores, at least 1
 */
public record ExactOptions(long scratchBytes, long tileBytes, int leastProducts) {

  /** Defaults; enough for a million vectors of 128 dimensions at once. */
  public static final ExactOptions DEFAULT = new ExactOptions(512L << 20, 32L << 20, 4096);

  private static final long LEAST_SCRATCH = 16L << 20;
  private static final long LEAST_TILE = 64L << 10;
  private static final long MOST_TILE = 1L << 30;

  /** Checks the ranges. */
  public ExactOptions {
    if (scratchBytes < LEAST_SCRATCH) {
      throw new IllegalArgumentException(
          "scratchBytes must be at least " + LEAST_SCRATCH + ", got " + scratchBytes);
    }
    if (tileBytes < LEAST_TILE || tileBytes > MOST_TILE) {
      throw new IllegalArgumentException(
          "tileBytes must be " + LEAST_TILE + " to " + MOST_TILE + ", got " + tileBytes);
    }
    if (leastProducts < 1) {
      throw new IllegalArgumentException("leastProducts must be at least 1, got " + leastProducts);
    }
  }
}
