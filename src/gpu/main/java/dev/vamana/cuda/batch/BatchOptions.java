package dev.vamana.cuda.batch;

import dev.vamana.cuda.kernel.Tuning;

/**
 * Options of batching.
 *
 * @param maxBatch most items of a launch, 1 to {@value #MAX_BATCH}
 * @param lingerNanos how long an idle device waits for more items before it starts, 0 or more
 * @param segmentsAhead whether a query's first segment also sends the query's later segments
 * @param tuning kernel tuning
 */
public record BatchOptions(int maxBatch, long lingerNanos, boolean segmentsAhead, Tuning tuning) {

  public static final int MAX_BATCH = 65_536;

  /**
   * Most items of a launch that searches inverted lists for all of its items together, as a
   * multiple of {@code maxBatch}, up to {@value #MAX_BATCH}: more items read a list fewer times.
   */
  public static final int TOGETHER = 4;

  /** Most launches in flight. */
  public static final int DEPTH = 16;

  /** Launches in flight below which the next one takes whatever waits. */
  public static final int EAGER = 4;

  /** Queued items required to start a launch beside {@link #EAGER} or more. */
  public static final int OVERLAP = 64;

  /** Pinned memory for requests and results. */
  public static final long STAGING_BYTES = 64L << 20;

  /** 16,384 items a launch, no linger, segments ahead. */
  public static final BatchOptions DEFAULT = new BatchOptions(16_384, 0, true, Tuning.DEFAULT);

  public BatchOptions {
    check("maxBatch", maxBatch, 1, MAX_BATCH);
    check("lingerNanos", lingerNanos, 0, Long.MAX_VALUE);
  }

  private static void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + " must be between " + min + " and " + max + ", got " + value);
    }
  }

  /** Returns the most items of a launch that searches inverted lists for all of them together. */
  public int maxTogether() {
    return (int) Math.min(MAX_BATCH, (long) TOGETHER * maxBatch);
  }

  /** Returns these options with other tuning. */
  public BatchOptions withTuning(Tuning newTuning) {
    return new BatchOptions(maxBatch, lingerNanos, segmentsAhead, newTuning);
  }

  /** Returns these options with other batch size and linger. */
  public BatchOptions withBatches(int newMaxBatch, long newLingerNanos) {
    return new BatchOptions(newMaxBatch, newLingerNanos, segmentsAhead, tuning);
  }

  /** Returns these options with segments ahead on or off. */
  public BatchOptions withSegmentsAhead(boolean newSegmentsAhead) {
    return new BatchOptions(maxBatch, lingerNanos, newSegmentsAhead, tuning);
  }
}
