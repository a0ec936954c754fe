package dev.vamana.cuda.memory;

import dev.vamana.search.SegmentView;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.lucene.store.AlreadyClosedException;

/**
 * The state of one open segment: queued, uploading, resident or absent. The entry's monitor guards
 * state changes and is notified of them; searches read without the lock. {@link Residency} has one
 * for each.
 */
final class SegmentEntry {

  private final Lease lease;
  private volatile Resident resident;
  private volatile Absence absence = Absence.QUEUED;
  private volatile boolean closing;
  private volatile long lastUse;
  private volatile long retryAt;
  private volatile long leastBytes;
  private final Set<PlacementPlan> refused = new HashSet<>();
  // earlier places of the segment that launches may still use
  private final List<Resident> former = new ArrayList<>();
  private volatile boolean kept;
  private volatile boolean unwanted;
  private boolean uploading;

  /**
   * Makes the entry of a segment that waits for its upload.
   *
   * @param now time of opening
   */
  SegmentEntry(SegmentView view, long now) {
    this.lease = new Lease(view);
    this.lastUse = now;
  }

  Lease lease() {
    return lease;
  }

  SegmentView view() {
    return lease.view();
  }

  /** Returns the resident segment, or null. */
  Resident resident() {
    return resident;
  }

  /** Returns why the segment is not resident. Meaningless while it is. */
  Absence absence() {
    return absence;
  }

  /** Returns when the segment was opened or last searched. */
  long lastUse() {
    return lastUse;
  }

  void used(long now) {
    lastUse = now;
  }

  /** Returns the device bytes of the smallest placement; 0 until known. */
  long leastBytes() {
    return leastBytes;
  }

  void leastBytes(long bytes) {
    leastBytes = bytes;
  }

  /**
   * Returns the plans that the driver refused, other than for lack of memory. For the upload
   * thread.
   */
  Set<PlacementPlan> refused() {
    return refused;
  }

  /** Whether the segment is kept: it gives way only to other kept segments. */
  boolean kept() {
    return kept;
  }

  void kept(boolean newKept) {
    kept = newKept;
  }

  /** Throws if the segment's upload should stop. */
  void checkWanted() {
    if (closing || unwanted) {
      throw new AlreadyClosedException(
          view().name() + (closing ? " is being closed" : " was taken from the device"));
    }
  }

  /** Begins an upload. Returns false if none is due. */
  synchronized boolean beginUpload() {
    if (closing || resident != null || absence != Absence.QUEUED) {
      return false;
    }
    uploading = true;
    unwanted = false;
    absence = Absence.UPLOADING;
    return true;
  }

  /**
   * Ends an upload.
   *
   * @param uploaded the resident segment, or null
   * @param reason why the upload failed
   * @param retry when a search may queue the segment again
   * @return whether the segment is resident now; false if it was closed or evicted meanwhile, or
   *     the context is lost
   */
  synchronized boolean endUpload(Resident uploaded, Absence reason, long retry) {
    uploading = false;
    notifyAll();
    if (uploaded != null && closing == false && unwanted == false && lost(uploaded) == false) {
      resident = uploaded;
      return true;
    }
    if (closing) {
      absence = Absence.CLOSED;
    } else if (unwanted) {
      absence = Absence.EVICTED;
    } else {
      // the segment was evicted and then requested again before its upload had stopped
      Absence why = reason == Absence.CLOSED ? Absence.EVICTED : reason;
      absence = uploaded != null ? Absence.NO_DEVICE : why;
    }
    retryAt = retry;
    return false;
  }

  private static boolean lost(Resident resident) {
    return resident.memory().lost();
  }

  /**
   * Begins an upload to a better placement.
   *
   * @return the resident segment; null if there is none, or if its former place is still in use
   */
  synchronized Resident beginImprovement() {
    former.removeIf(Resident::idle);
    if (closing || resident == null || former.isEmpty() == false) {
      return null;
    }
    uploading = true;
    unwanted = false;
    return resident;
  }

  /**
   * Ends an upload to a better placement.
   *
   * @param better the new place, or null
   * @return whether the new place is in use from now on; false if there is none, the segment was
   *     closed, or the context is lost
   */
  synchronized boolean endImprovement(Resident better) {
    uploading = false;
    notifyAll();
    if (better == null || closing || resident == null || lost(better)) {
      return false;
    }
    former.add(resident);
    resident = better;
    return true;
  }

  /**
   * Queues the segment again if an upload may succeed now. Returns whether it did.
   *
   * @param freed true if memory has been freed, false if a search asks for the segment
   */
  boolean requeue(long now, boolean freed) {
    Absence seen = absence;
    if (resident != null || due(seen, now, freed) == false) {
      return false;
    }
    synchronized (this) {
      if (closing || resident != null || absence != seen) {
        return false;
      }
      absence = Absence.QUEUED;
      return true;
    }
  }

  /**
   * Queues the segment, also if it is queued already or its last upload failed. Returns false if an
   * upload is not needed or not possible.
   */
  synchronized boolean urge() {
    if (closing || resident != null) {
      return false;
    }
    return switch (absence) {
      case EVICTED, OVER_BUDGET, FAILED, QUEUED -> {
        absence = Absence.QUEUED;
        yield true;
      }
      case UPLOADING -> {
        unwanted = false;
        yield false;
      }
      case UNSUPPORTED, DAMAGED, CLOSED, NO_DEVICE -> false;
    };
  }

  private boolean due(Absence seen, long now, boolean freed) {
    return switch (seen) {
      case EVICTED -> freed == false;
      case OVER_BUDGET -> freed || now - retryAt >= 0;
      case FAILED -> freed == false && now - retryAt >= 0;
      case UNSUPPORTED, DAMAGED, QUEUED, UPLOADING, CLOSED, NO_DEVICE -> false;
    };
  }

  /** Marks the segment as evicted if {@code victim} is its resident segment. */
  synchronized void evicted(Resident victim) {
    if (resident == victim) {
      absence = Absence.EVICTED;
      resident = null;
      notifyAll();
    }
  }

  /**
   * Cancels an upload in progress and removes the resident segment. The segment stays absent until
   * the next search.
   *
   * @return the former resident segment, which the caller retires and frees, or null
   */
  synchronized Resident clear() {
    Resident last = resident;
    if (closing) {
      return null;
    }
    unwanted = uploading;
    if (absence == Absence.QUEUED || last != null) {
      absence = Absence.EVICTED;
    }
    if (last != null) {
      former.removeIf(Resident::idle);
      former.add(last);
      resident = null;
    }
    notifyAll();
    return last;
  }

  /** Forgets the resident segment in a lost context; none is uploaded again. */
  synchronized void abandon() {
    if (resident != null) {
      resident.retire();
      resident = null;
    }
    if (uploading == false && absence != Absence.CLOSED) {
      absence = Absence.NO_DEVICE;
    }
    former.clear();
    notifyAll();
  }

  /** Stops the segment's upload, if any, and returns everything it has on the device. */
  synchronized List<Resident> close() {
    closing = true;
    Waiting.until(this, () -> uploading == false);
    List<Resident> last = new ArrayList<>();
    if (resident != null) {
      last.add(resident);
    }
    last.addAll(former);
    absence = Absence.CLOSED;
    resident = null;
    former.clear();
    notifyAll();
    return last;
  }

  /** Waits until a retired segment is unused. */
  synchronized void awaitIdle(Resident retired) {
    Waiting.until(this, () -> retired.idle() || retired.memory().lost());
  }

  /** Wakes threads that wait on this entry. */
  synchronized void signal() {
    notifyAll();
  }
}
