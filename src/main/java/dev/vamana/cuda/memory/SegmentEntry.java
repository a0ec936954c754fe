package dev.vamana.cuda.memory;

import dev.vamana.search.SegmentView;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.lucene.store.AlreadyClosedException;

/**
 * What is known of one open segment. Its monitor guards changes of state and is notified of them;
 * searches read without it.
 */
final class SegmentEntry {

  private static final long WAIT_MILLIS = 10;

  private final SegmentView view;
  private volatile Resident resident;
  private volatile Absence absence = Absence.QUEUED;
  private volatile boolean closing;
  private volatile long lastUse;
  private volatile long retryAt;
  private volatile long leastBytes;
  private final Set<PlacementPlan> refused = new HashSet<>();
  // former places that launches may still be using
  private final List<Resident> former = new ArrayList<>();
  private volatile boolean kept;
  private volatile boolean unwanted;
  private boolean uploading;

  /**
   * Makes the entry of a segment that waits to be uploaded.
   *
   * @param now when it was opened
   */
  SegmentEntry(SegmentView view, long now) {
    this.view = view;
    this.lastUse = now;
  }

  SegmentView view() {
    return view;
  }

  /** What lies on the device, or null. */
  Resident resident() {
    return resident;
  }

  /** Why nothing lies on the device; of no meaning while something does. */
  Absence absence() {
    return absence;
  }

  /** When it was opened or last asked for. */
  long lastUse() {
    return lastUse;
  }

  void used(long now) {
    lastUse = now;
  }

  /** Bytes of device memory that the smallest placement takes, once that is known. */
  long leastBytes() {
    return leastBytes;
  }

  void leastBytes(long bytes) {
    leastBytes = bytes;
  }

  /** Plans that turned out not to work, other than for want of room. For the uploading thread. */
  Set<PlacementPlan> refused() {
    return refused;
  }

  /** Whether it gives way only to others that are kept. */
  boolean kept() {
    return kept;
  }

  void kept(boolean newKept) {
    kept = newKept;
  }

  /** Throws if an upload is of no use any more. */
  void checkWanted() {
    if (closing || unwanted) {
      throw new AlreadyClosedException(
          view.name() + (closing ? " is being closed" : " was taken from the device"));
    }
  }

  /** The upload begins; false if there is none to do. */
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
   * The upload has ended.
   *
   * @param uploaded what lies on the device, or null
   * @param reason why nothing does
   * @param retry when a search may queue it again
   * @return whether the segment is resident now; false if it was closed or taken from the device,
   *     or the context lost
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
      // it was taken from the device and asked for again before its upload had stopped
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
   * An upload to a better place begins.
   *
   * @return what lies on the device, or null if there is nothing, or the last change is not over
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
   * The upload to a better place has ended.
   *
   * @param better what is to be used from now on, or null
   * @return whether it is; false if there is none, the segment was closed, or the context lost
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
   * Queues it once more, if that may help; false if not.
   *
   * @param freed whether memory has been freed, or else a search asks
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

  /** Queues it, or moves it to the front of the queue, whatever came of it before; false if not. */
  synchronized boolean urge() {
    if (closing || resident != null) {
      return false;
    }
    return switch (absence) {
      case EVICTED, OVER_BUDGET, FAILED, NO_DEVICE, QUEUED -> {
        absence = Absence.QUEUED;
        yield true;
      }
      case UPLOADING -> {
        unwanted = false;
        yield false;
      }
      case UNSUPPORTED, CLOSED -> false;
    };
  }

  private boolean due(Absence seen, long now, boolean freed) {
    return switch (seen) {
      case EVICTED -> freed == false;
      case OVER_BUDGET -> freed || now - retryAt >= 0;
      case FAILED, NO_DEVICE -> freed == false && now - retryAt >= 0;
      case UNSUPPORTED, QUEUED, UPLOADING, CLOSED -> false;
    };
  }

  /** Forgets what lies on the device, if it is this. */
  synchronized void evicted(Resident victim) {
    if (resident == victim) {
      absence = Absence.EVICTED;
      resident = null;
      notifyAll();
    }
  }

  /**
   * Ends what is on its way, and forgets what lies on the device, so that nothing does until
   * somebody asks for it.
   *
   * @return what lay on the device, for the caller to retire and free, or null
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

  /** Forgets what lies in a lost context; the next search queues it again. */
  synchronized void abandon(long now) {
    if (resident != null) {
      absence = Absence.NO_DEVICE;
      resident.retire();
      resident = null;
    }
    former.clear();
    retryAt = now;
    notifyAll();
  }

  /** Ends its upload, if there is one, and takes from it what lies on the device. */
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

  /** Waits until nobody uses a retired segment. */
  synchronized void awaitIdle(Resident retired) {
    Waiting.until(this, () -> retired.idle() || retired.memory().lost());
  }

  /** Wakes who waits here. */
  synchronized void signal() {
    notifyAll();
  }

  /**
   * Waits while it is queued or being uploaded.
   *
   * @param cancelled asked every few milliseconds; true ends the wait
   * @return what lies on the device then, or null
   */
  synchronized Resident awaitUpload(BooleanSupplier cancelled) throws InterruptedException {
    while (resident == null
        && (absence == Absence.QUEUED || absence == Absence.UPLOADING)
        && cancelled.getAsBoolean() == false) {
      wait(WAIT_MILLIS);
    }
    return resident;
  }
}
