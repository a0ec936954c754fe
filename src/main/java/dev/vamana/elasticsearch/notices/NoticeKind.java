package dev.vamana.elasticsearch.notices;

import java.util.Locale;

/** Kinds of notices, by which docs/operators/statistics.md explains them. */
public enum NoticeKind {
  /** The node started without a usable GPU although its settings ask for one. */
  GPU_UNAVAILABLE,
  /** The GPU's context was lost. */
  GPU_LOST,
  /** The CPU answered what the GPU could not; the subject is the reason. */
  GPU_FALLBACK,
  /** The driver refused a placement of a segment, for instance to register its mapped file. */
  PLACEMENT_REFUSED,
  /** A segment could not be brought to the device. */
  UPLOAD_FAILED,
  /** A vector field of an opted-in index keeps the stock format. */
  STOCK_FIELD,
  /** An opted-in index keeps the stock format for all its fields. */
  STOCK_INDEX,
  /** A field names a codebook that is not ready, so that segments train their own. */
  CODEBOOK_NOT_READY,
  /** A field names a codebook that does not fit its vectors, so that segments train their own. */
  CODEBOOK_MISMATCH;

  /** As the statistics spell it. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
