package dev.vamana.cuda.session;

import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.SegmentView;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The segments that are open, over all sessions. Only this class knows which segments have been
 * closed. {@link SessionKeeper} has the one instance and opens the segments in each new session;
 * calls acquire segments through it. docs/internals/gpu-lanes.md says how a segment is closed.
 */
public final class OpenSegments {

  private final SessionKeeper keeper;
  // whether each open segment is kept on the device
  private final Map<SegmentView, Boolean> open = new ConcurrentHashMap<>();
  // a late search must not reopen a closed segment; the weak set keeps a view as long as anything
  // refers to it
  private final Set<SegmentView> closed = Collections.newSetFromMap(new WeakHashMap<>());
  // open segments that another device has; a late search must not bring them back
  private final Set<SegmentView> left = ConcurrentHashMap.newKeySet();

  OpenSegments(SessionKeeper keeper) {
    this.keeper = keeper;
  }

  /** Registers a segment unless it is registered already or closed. */
  public void opened(SegmentView view) {
    if (open.containsKey(view) == false) {
      comesBack(view);
    }
  }

  /** Registers a segment, also one that this device has left. */
  private synchronized boolean comesBack(SegmentView view) {
    left.remove(view);
    return register(view);
  }

  // under the lock; otherwise a segment closed concurrently could be opened after its closing
  private synchronized boolean register(SegmentView view) {
    if (closed.contains(view) || left.contains(view)) {
      return false;
    }
    if (open.putIfAbsent(view, false) == null) {
      keeper.with(entered -> entered.open(view, false));
    }
    return true;
  }

  /** Sets whether a segment is kept on the device, now and after each loss. */
  public synchronized void keep(SegmentView view, boolean wanted) {
    if (comesBack(view)) {
      boolean changed = open.put(view, wanted) != wanted;
      // a kept segment may have been evicted since
      if (changed || wanted) {
        keeper.with(entered -> entered.residency.keep(view, wanted));
      }
    }
  }

  /**
   * Leaves an open segment to another device: the CPU answers what is still asked of this one, in
   * this session and in later ones, until the segment is opened, warmed or kept here again.
   */
  public synchronized void leave(SegmentView view) {
    open.remove(view);
    left.add(view);
  }

  /** Uploads a segment before others. */
  public synchronized void warm(SegmentView view) {
    if (comesBack(view)) {
      keeper.with(entered -> entered.residency.warm(view));
    }
  }

  /** Opens a segment in a session unless it is open there. Returns false if it may not be. */
  private boolean isOpen(GpuSession entered, SegmentView view) {
    if (left.contains(view)) {
      return false;
    }
    return entered.residency.knows(view) || open(entered, view);
  }

  private synchronized boolean open(GpuSession entered, SegmentView view) {
    if (register(view) == false) {
      return false;
    }
    entered.open(view, open.get(view));
    return true;
  }

  /** Acquires a resident segment for one call, or returns null if it is not resident. */
  public ResidentSegment acquire(GpuSession entered, SegmentView view) {
    ResidentSegment place;
    try {
      place = isOpen(entered, view) ? entered.residency.acquire(view) : null;
    } catch (GpuException e) {
      keeper.failed(entered, e);
      return null;
    }
    if (place != null && place.lease().closing()) {
      place.release();
      return null;
    }
    return place;
  }

  /** Uploads an evicted segment again that its own format has searched meanwhile. */
  public void missed(SegmentView view) {
    keeper.with(
        entered -> {
          ResidentSegment place = acquire(entered, view);
          if (place != null) {
            place.release();
          }
        });
  }

  /**
   * Opens all segments in a new session.
   *
   * @return false if the session has been lost meanwhile
   */
  boolean openIn(GpuSession opened, GpuListener listener) {
    for (SegmentView view : open.keySet()) {
      if (opened.enter() == false) {
        return false;
      }
      try {
        synchronized (this) {
          Boolean kept = open.get(view);
          if (kept != null) {
            opened.open(view, kept);
          }
        }
      } catch (GpuException e) {
        keeper.failed(opened, e);
        if (e.contextLost()) {
          return false;
        }
      } catch (RuntimeException e) {
        // one segment must not keep the others from the device
        listener.uploadFailed(view.name(), e);
      } finally {
        opened.exit();
      }
    }
    return true;
  }

  /** Forgets a segment. When this returns, nothing reads the segment's files any more. */
  public void closing(SegmentView view) {
    synchronized (this) {
      open.remove(view);
      left.remove(view);
      closed.add(view);
    }
    GpuSession last = keeper.last();
    if (last == null) {
      return;
    }
    last.residency.closeLease(view);
    if (last.enter() == false) {
      last.awaitGone();
      return;
    }
    GpuException lost = null;
    try {
      last.residency.closing(view);
    } catch (GpuException e) {
      lost = e.asLoss();
      keeper.failed(last, lost);
    } finally {
      last.exit();
    }
    if (lost != null) {
      last.awaitGone();
    }
  }
}
