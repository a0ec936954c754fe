package dev.vamana.cuda.batch;

import dev.vamana.cuda.kernel.Tuning;

/**
 * Options of batching.
 *
 * @param maxBatch most items of a launch, 1 to {@value #MAX_BATCH}
 * @param lingerNanos how long an idle device waits for more items before it starts, 0 or more
 * @param depth most launches in flight, 1 to {@value #MAX_DEPTH}
 * @param overlap queued items required to start a launch while others are in flight, 1 to {@value
 *     #MAX_BATCH}
 * @param firstItems items with which an idle device begins while the others are packed, 1 to
 *     {@value #MAX_BATCH}
 * @param packers most threads that help callers to pack, 0 to {@value #MAX_PACKERS}
 * @param segmentsAhead whether a query's first segment also sends the query's later segments
 * @param stagingBytes pinned memory for requests and results, {@value #MIN_STAGING} to 1 GiB
 * @param acceptBytes device memory for bitsets of accepted ordinals, at least 4 KiB
 * @param tuning kernel tuning
 */
public record BatchOptions(
    int maxBatch,
    long lingerNanos,
    int depth,
    int overlap,
    int firstItems,
    int packers,
    boolean segmentsAhead,
    long stagingBytes,
    long acceptBytes,
    Tuning tuning) {

  public static final int MAX_BATCH = 65_536;
  public static final int MAX_DEPTH = 16;
  public static final int MAX_PACKERS = 16;
  public static final long MIN_STAGING = 8L << 20;

  /**
   * 16,384 items a launch, no linger, 4 launches in flight, 32 queued items for another launch
   * beside them, 192 items first, 3 threads that help to pack, segments ahead, 64 MiB pinned, 64
   * MiB for bitsets.
   */
  public static final BatchOptions DEFAULT =
      new BatchOptions(
          16_384, 0, 4, 32, Packer.FIRST_ITEMS, 3, true, 64L << 20, 64L << 20, Tuning.DEFAULT);

  public BatchOptions {
    check("maxBatch", maxBatch, 1, MAX_BATCH);
    check("lingerNanos", lingerNanos, 0, Long.MAX_VALUE);
    check("depth", depth, 1, MAX_DEPTH);
    check("overlap", overlap, 1, MAX_BATCH);
    check("firstItems", firstItems, 1, MAX_BATCH);
    check("packers", packers, 0, MAX_PACKERS);
    check("stagingBytes", stagingBytes, MIN_STAGING, 1L << 30);
    check("acceptBytes", acceptBytes, 4096, Long.MAX_VALUE);
  }

  private static void check(String name, long value, long min, long max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + " must be between " + min + " and " + max + ", got " + value);
    }
  }

  /** Returns these options with other tuning. */
  public BatchOptions withTuning(Tuning newTuning) {
    return with(maxBatch, lingerNanos, firstItems, packers, segmentsAhead, newTuning);
  }

  /** Returns these options with other batch size and linger. */
  public BatchOptions withBatches(int newMaxBatch, long newLingerNanos) {
    return with(newMaxBatch, newLingerNanos, firstItems, packers, segmentsAhead, tuning);
  }

  /** Returns these options with segments ahead on or off. */
  public BatchOptions withSegmentsAhead(boolean newSegmentsAhead) {
    return with(maxBatch, lingerNanos, firstItems, packers, newSegmentsAhead, tuning);
  }

  /** Returns these options with another way to pack. */
  public BatchOptions withPacking(int newFirstItems, int newPackers) {
    return with(maxBatch, lingerNanos, newFirstItems, newPackers, segmentsAhead, tuning);
  }

  private BatchOptions with(
      int newMaxBatch,
      long newLingerNanos,
      int newFirstItems,
      int newPackers,
      boolean newSegmentsAhead,
      Tuning newTuning) {
    return new BatchOptions(
        newMaxBatch,
        newLingerNanos,
        depth,
        overlap,
        newFirstItems,
        newPackers,
        newSegmentsAhead,
        stagingBytes,
        acceptBytes,
        newTuning);
  }
}
