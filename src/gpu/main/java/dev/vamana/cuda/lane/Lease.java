package dev.vamana.cuda.lane;

import dev.vamana.cuda.memory.Waiting;
import dev.vamana.search.SegmentView;

/**
 * One open segment in one context. It says whether the segment is being closed, and counts the
 * batches whose threads read the segment's files. Tickets refer to it through {@link HeldSegment}.
 * The session makes one lease for each segment. Thread-safe.
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
