package dev.vamana.cuda.memory;

import java.util.Locale;

/** Why a segment is not resident. */
public enum Absence {
  /** It has no graph, or one that kernels do not take. */
  UNSUPPORTED,
  /** Its upload waits for others. */
  QUEUED,
  /** It is being uploaded. */
  UPLOADING,
  /** There is no room, and nothing that could be evicted. */
  OVER_BUDGET,
  /** Its upload failed. */
  FAILED,
  /** It made room for another one. */
  EVICTED,
  /** The context was lost, or there is none. */
  NO_DEVICE,
  /** It is being closed, or was. */
  CLOSED;

  /** As counters spell it, for instance {@code over budget}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
