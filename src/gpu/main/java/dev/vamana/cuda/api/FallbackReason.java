package dev.vamana.cuda.api;

import java.util.Locale;

/** Why the CPU answered an item. */
public enum FallbackReason {
  /**
   * Scoring every accepted vector is faster than a walk, because the segment is small or the filter
   * accepts few vectors.
   */
  SCAN(false),
  /** The segment has inverted lists, and no kernel searches their codes, or with so many hits. */
  LISTS(false),
  /** The cost model predicts that the CPU is faster, or the plan setting pins the CPU. */
  PLANNED(false),
  /** The item's visit limit is below the number of neighbour slots of one node. */
  VISIT_LIMIT(false),
  /** The segment is not on the device, or not yet. */
  NOT_RESIDENT(false),
  /** No kernel supports the item, for instance its placement or its number of entry points. */
  UNSUPPORTED(false),
  /** The walk ended with fewer hits than the segment has, or with negative inner products. */
  FEW_HITS(false),
  /** All pinned staging memory was in use. */
  STAGING_FULL(true),
  /** The walk expanded more nodes than it had room to record. */
  OVERFLOW(true),
  /** A kernel read a value out of range from the segment's files. */
  CORRUPT(true),
  /** The checksum of one of the segment's files is wrong, so the segment is not on the device. */
  DAMAGED(true),
  /** Device or pinned memory ran out. */
  OUT_OF_MEMORY(true),
  /** A driver call failed, or reading a file for the device. */
  LAUNCH_FAILED(true),
  /** The context was lost while the device worked on the item. */
  CONTEXT_LOST(true),
  /** There is no context now: the last one answered wrong. */
  WRONG_ANSWER(true),
  /** There is no context now: it was lost, and no new one has been opened yet. */
  NO_DEVICE(true);

  private final boolean failure;

  FallbackReason(boolean failure) {
    this.failure = failure;
  }

  /** Whether this reason is a failure rather than a plan. */
  public boolean failure() {
    return failure;
  }

  /** Returns the name of this reason in statistics. */
  public String statisticsName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
