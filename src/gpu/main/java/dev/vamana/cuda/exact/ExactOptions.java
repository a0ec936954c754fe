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

  /** Enough for a million vectors of 128 dimensions at once. */
  public static final ExactOptions DEFAULT = new ExactOptions(512L << 20, 32L << 20, 4096);
}
