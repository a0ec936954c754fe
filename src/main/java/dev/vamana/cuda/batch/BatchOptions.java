package dev.vamana.cuda.batch;

import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.lane.Waiters;
import java.util.function.Consumer;

/**
 * Options of batching.
 *
 * @param maxBatch most items of a launch, 1 to {@value #MAX_BATCH}
 * @param lingerNanos how long an idle device waits for more items before it starts, 0 or more
 * @param depth most launches in flight, 1 to {@value #MAX_DEPTH}
 * @param eager launches in flight below which the next one takes whatever waits, 1 to {@value
 *     #MAX_DEPTH}
 * @param overlap queued items required to start a launch beside as many or more, 1 to {@value
 *     #MAX_BATCH}
 * @param firstItems items with which an idle device begins while the others are packed, 1 to
 *     {@value #MAX_BATCH}
 * @param packers most threads that help callers to pack, 0 to {@value #MAX_PACKERS}
 * @param spinners most callers that spin while they wait; if more wait, all park. 0 to {@value
 *     #MAX_SPINNERS}
 * @param segmentsAhead whether a query's first segment also sends the query's later segments
 * @param stagingBytes pinned memory for requests and results, {@value #MIN_STAGING} to 1 GiB
 * @param tuning kernel tuning
 */
public record BatchOptions(
    int maxBatch,
    long lingerNanos,
    int depth,
    int eager,
    int overlap,
    int firstItems,
    int packers,
    int spinners,
    boolean segmentsAhead,
    long stagingBytes,
    Tuning tuning) {

  public static final int MAX_BATCH = 65_536;

  /**
   * How many times {@code maxBatch} items a launch has at most that searches inverted lists for all
   * of them together, up to {@value #MAX_BATCH}: the more items, the fewer times a list is read.
   */
  public static final int TOGETHER = 4;

  public static final int MAX_DEPTH = 16;
  public static final int MAX_PACKERS = 16;
  public static final int MAX_SPINNERS = 1024;
  public static final long MIN_STAGING = 8L << 20;

  /**
   * 16,384 items a launch, no linger, 16 launches in flight, of which four take whatever waits,
   * four more begin with 64 queued items or six calls, and the others with 512 items, 192 items
   * first, 3 threads that help to pack, segments ahead, 64 MiB pinned.
   */
  public static final BatchOptions DEFAULT =
      new BatchOptions(
          16_384,
          0,
          16,
          4,
          64,
          Packer.FIRST_ITEMS,
          3,
          Waiters.usualSpinners(),
          true,
          64L << 20,
          Tuning.DEFAULT);

  public BatchOptions {
    check("maxBatch", maxBatch, 1, MAX_BATCH);
    check("lingerNanos", lingerNanos, 0, Long.MAX_VALUE);
    check("depth", depth, 1, MAX_DEPTH);
    check("eager", eager, 1, MAX_DEPTH);
    check("overlap", overlap, 1, MAX_BATCH);
    check("firstItems", firstItems, 1, MAX_BATCH);
    check("packers", packers, 0, MAX_PACKERS);
    check("spinners", spinners, 0, MAX_SPINNERS);
    check("stagingBytes", stagingBytes, MIN_STAGING, 1L << 30);
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
    return with(draft -> draft.tuning = newTuning);
  }

  /** Returns these options with other batch size and linger. */
  public BatchOptions withBatches(int newMaxBatch, long newLingerNanos) {
    return with(
        draft -> {
          draft.maxBatch = newMaxBatch;
          draft.lingerNanos = newLingerNanos;
        });
  }

  /** Returns these options with other rules for launches in flight. */
  public BatchOptions withLaunches(int newDepth, int newEager, int newOverlap) {
    return with(
        draft -> {
          draft.depth = newDepth;
          draft.eager = newEager;
          draft.overlap = newOverlap;
        });
  }

  /** Returns these options with segments ahead on or off. */
  public BatchOptions withSegmentsAhead(boolean newSegmentsAhead) {
    return with(draft -> draft.segmentsAhead = newSegmentsAhead);
  }

  /** Returns these options with another way to pack. */
  public BatchOptions withPacking(int newFirstItems, int newPackers) {
    return with(
        draft -> {
          draft.firstItems = newFirstItems;
          draft.packers = newPackers;
        });
  }

  /** Returns these options with another number of callers that spin. */
  public BatchOptions withSpinners(int newSpinners) {
    return with(draft -> draft.spinners = newSpinners);
  }

  private BatchOptions with(Consumer<Draft> change) {
    Draft draft = new Draft(this);
    change.accept(draft);
    return draft.done();
  }

  /** The components of options that differ in some of them. */
  private static final class Draft {
    private final BatchOptions from;
    private int maxBatch;
    private long lingerNanos;
    private int depth;
    private int eager;
    private int overlap;
    private int firstItems;
    private int packers;
    private int spinners;
    private boolean segmentsAhead;
    private Tuning tuning;

    Draft(BatchOptions from) {
      this.from = from;
      maxBatch = from.maxBatch;
      lingerNanos = from.lingerNanos;
      depth = from.depth;
      eager = from.eager;
      overlap = from.overlap;
      firstItems = from.firstItems;
      packers = from.packers;
      spinners = from.spinners;
      segmentsAhead = from.segmentsAhead;
      tuning = from.tuning;
    }

    BatchOptions done() {
      return new BatchOptions(
          maxBatch,
          lingerNanos,
          depth,
          eager,
          overlap,
          firstItems,
          packers,
          spinners,
          segmentsAhead,
          from.stagingBytes,
          tuning);
    }
  }
}
