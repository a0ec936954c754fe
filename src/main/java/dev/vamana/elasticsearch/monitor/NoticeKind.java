package dev.vamana.elasticsearch.monitor;

import java.util.Locale;

/** The kinds of notices; docs/operators/statistics.md explains them. */
public enum NoticeKind {
  /** The node started without a usable GPU although its settings allow one. */
  GPU_UNAVAILABLE,
  /** The GPU's context was lost. */
  GPU_LOST,
  /** The CPU answered queries that the GPU could not; the subject is the reason. */
  GPU_FALLBACK,
  /** The driver refused a placement of a segment, for instance to register its mapped file. */
  PLACEMENT_REFUSED,
  /** A segment could not be uploaded to the device. */
  UPLOAD_FAILED,
  /** The checksum of a segment's file is wrong; the subject is segment and field. */
  DAMAGED_FILE,
  /** A vector field of an opted-in index keeps the stock format. */
  STOCK_FIELD,
  /** An opted-in index keeps the stock format for all its fields. */
  STOCK_INDEX,
  /** A field names a codebook that is not ready, so segments keep or train their own. */
  CODEBOOK_NOT_READY,
  /**
   * A field names a codebook that does not fit its vectors, so segments keep or train their own.
   */
  CODEBOOK_MISMATCH,
  /** An index that is not opted in has segments in the plugin's format. */
  LEFTOVER_SEGMENTS;

  /** The label in statistics. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
