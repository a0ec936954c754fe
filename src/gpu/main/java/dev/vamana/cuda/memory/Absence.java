package dev.vamana.cuda.memory;

import java.util.Locale;

/** The reason why a segment is not resident on the device. */
public enum Absence {
  /** The segment has no graph, or one that the kernels do not support. */
  UNSUPPORTED,
  /** Its upload is queued. */
  QUEUED,
  /** It is being uploaded. */
  UPLOADING,
  /** No placement fits, and no other segment can be evicted. */
  OVER_BUDGET,
  /** Its upload failed. */
  FAILED,
  /** The checksum of one of its files does not match. */
  DAMAGED,
  /** It was evicted to make room for another segment, or on request. */
  EVICTED,
  /** The context was lost, or there is none. */
  NO_DEVICE,
  /** It is being closed, or is closed. */
  CLOSED;

  /** Returns the reason as text, for instance {@code over budget}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
