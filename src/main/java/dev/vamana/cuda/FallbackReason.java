package dev.vamana.cuda;

import java.util.Locale;

/** Why the CPU answered an item. */
public enum FallbackReason {
  /** Scoring every accepted vector is the better plan: a small segment, or few are accepted. */
  SCAN(false),
  /** The CPU is predicted to be faster, or the setting says that it answers. */
  PLANNED(false),
  /** The item allows so few distances that a walk would hardly begin. */
  VISIT_LIMIT(false),
  /** The segment is not on the device, or not yet. */
  NOT_RESIDENT(false),
  /** No kernel takes the item: its placement, its entry points. */
  UNSUPPORTED(false),
  /** The walk ended with fewer hits than the segment has, or with negative inner products. */
  FEW_HITS(false),
  /** Pinned memory for requests was all in use. */
  STAGING_FULL(true),
  /** More nodes were expanded than there was room for. */
  OVERFLOW(true),
  /** A kernel read something out of range from the segment's files. */
  CORRUPT(true),
  /** Device or pinned memory ran out. */
  OUT_OF_MEMORY(true),
  /** A driver call failed. */
  LAUNCH_FAILED(true),
  /** The context was lost while the device worked on the item. */
  CONTEXT_LOST(true),
  /** There is no context now: it was lost, and the next attempt is still to come. */
  NO_DEVICE(true);

  private final boolean failure;

  FallbackReason(boolean failure) {
    this.failure = failure;
  }

  /** Whether something went wrong, rather than as planned. */
  public boolean failure() {
    return failure;
  }

  /** As statistics spell it. */
  public String statisticsName() {
    return name().toLowerCase(Locale.ROOT);
  }
}
