package dev.vamana.cuda.hostfetch;

import dev.vamana.search.SegmentView;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.lucene.store.AlreadyClosedException;

/** Tracks which segments' files the driving thread reads, and which must not be read any more. */
final class OpenSegments {

  private final Set<SegmentView> closed = Collections.newSetFromMap(new WeakHashMap<>());
  private final Set<SegmentView> reading = Collections.newSetFromMap(new IdentityHashMap<>());
  private volatile boolean changed;

  /** Begins to read a segment. Returns false if it is closed. */
  synchronized boolean begin(SegmentView view) {
    if (closed.contains(view)) {
      return false;
    }
    reading.add(view);
    return true;
  }

  /** Ends reading of all segments. */
  synchronized void end() {
    reading.clear();
    notifyAll();
  }

  /** Closes a segment for reading, and waits until it is not read any more. */
  synchronized void close(SegmentView view) {
    closed.add(view);
    changed = true;
    boolean interrupted = false;
    while (reading.contains(view)) {
      try {
        wait();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Fails slots whose segments are being closed. Called while no thread reads files. */
  void drop(FetchSlot[] slots) {
    if (changed == false) {
      return;
    }
    List<SegmentView> gone = new ArrayList<>();
    synchronized (this) {
      changed = false;
      for (SegmentView view : reading) {
        if (closed.contains(view)) {
          gone.add(view);
        }
      }
    }
    if (gone.isEmpty()) {
      return;
    }
    for (FetchSlot slot : slots) {
      SegmentView view = slot.item().segment();
      if (gone.contains(view)) {
        slot.fail(new AlreadyClosedException(view.name() + " was closed while it was searched"));
      }
    }
    synchronized (this) {
      gone.forEach(reading::remove);
      notifyAll();
    }
  }
}
