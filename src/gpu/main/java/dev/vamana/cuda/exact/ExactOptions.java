package dev.vamana.cuda.exact;

/**
 * Limits of an exact search.
 *
 * @param scratchBytes device memory for scores, copies and buffers, 16 MiB or more; searches that
 *     need more are done in parts
 * @param leastProducts number of candidates from which large batches use tensor cores, at least 1
 */
public record ExactOptions(long scratchBytes, int leastProducts) {

  /** Enough for a million vectors of 128 dimensions at once. */
  public static final ExactOptions DEFAULT = new ExactOptions(512L << 20, 4096);
}
