package dev.vamana.cuda.memory;

import dev.vamana.search.SegmentView;

/**
 * One open segment in one context. It says whether the segment is being closed, and counts the
 * batches whose threads read the segment's files. {@link Residency} has one for each segment; calls
 * and tickets find it through {@link ResidentSegment}. Thread-safe.
 */
public final class Lease {

  private final SegmentView view;
  private volatile boolean closing;
  private int readers;

  /** Makes the lease of an open segment. */
  public Lease(SegmentView view) {
    this.view = view;
  }

  /** Returns the segment. */
  public SegmentView view() {
    return view;
  }

  /** Whether the segment is being closed, or is closed. Never becomes false again. */
  public boolean closing() {
    return closing;
  }

  /**
   * Begins to read the segment's files on a lane's threads. Returns false if the segment is being
   * closed; otherwise {@link #endReading} has to follow.
   */
  public synchronized boolean beginReading() {
    if (closing) {
      return false;
    }
    readers++;
    return true;
  }

  /** Ends a successful {@link #beginReading}. */
  public synchronized void endReading() {
    readers--;
    notifyAll();
  }

  /**
   * Lets nothing begin to read the segment's files, lets callers leave their tickets, and waits
   * until no thread of a lane reads the files.
   */
  public synchronized void close() {
    closing = true;
    Waiting.until(this, () -> readers == 0);
  }
}
