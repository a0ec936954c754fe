package dev.vamana.cuda;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.SegmentView;
import dev.vamana.work.Threads;
import java.util.Collections;
import java.util.Set;
import java.util.SortedMap;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Keeps a {@link GpuSession} open: its thread replaces a lost session after a back-off and uploads
 * the open segments to the new one. It asks every session what is known before it is used, and then
 * now and then. It also tracks which segments are open.
 */
final class SessionKeeper implements Runnable {

  // compiling kernels for a device without images takes longer; searches go to the CPU meanwhile
  private static final long FIRST_ANSWER_SECONDS = 10;

  private final GpuOptions options;
  private final SessionOpener opener;
  private final Counters counters;
  private final GpuListener listener;
  private final Questioner questioner;
  private final CountDownLatch firstAnswered = new CountDownLatch(1);
  private final Set<SegmentView> open = ConcurrentHashMap.newKeySet();
  private final Set<SegmentView> kept = ConcurrentHashMap.newKeySet();
  // a late search must not reopen a closed segment; the weak set keeps a view as long as anything
  // refers to it
  private final Set<SegmentView> closed = Collections.newSetFromMap(new WeakHashMap<>());
  private final Thread thread;
  private volatile GpuSession session;
  private volatile String reason;
  private volatile boolean distrusted;
  private volatile DynamicOptions adjusted;
  // the first session until it has answered
  private GpuSession unproven;
  private GpuSession failed;
  // the last one, when the keeper closes: a segment that is closed meanwhile waits for it
  private GpuSession leaving;
  private GpuException failure;
  private boolean stopping;

  /**
   * Opens the first session on the calling thread, and waits some seconds for its answers.
   *
   * @throws GpuException if there is no usable device
   */
  SessionKeeper(
      GpuOptions options,
      Supplier<CudaDriver> drivers,
      ResidencyFactory residencies,
      Counters counters,
      GpuListener listener) {
    this.options = options;
    this.counters = counters;
    this.listener = listener;
    this.opener = new SessionOpener(options, drivers, residencies, counters, this::lose);
    this.questioner = new Questioner(options, counters);
    GpuSession first = opener.open();
    synchronized (this) {
      if (questioner.asks()) {
        unproven = first;
        reason = "known questions are being asked";
        counters.whenSuspicious(this::suspect);
      } else {
        session = failed == first ? null : first;
      }
    }
    this.thread = new Thread(this, "vamana-gpu-recovery");
    thread.setDaemon(true);
    thread.start();
    try {
      firstAnswered.await(FIRST_ANSWER_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void suspect() {
    if (questioner.suspect()) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  /** Enters the current session, or returns null if there is none. */
  GpuSession enter() {
    GpuSession current = session;
    return current != null && current.enter() ? current : null;
  }

  /** Returns the device in use, or the last one. */
  DeviceInfo device() {
    return opener.device();
  }

  /** Returns the residency counters of all sessions, for use while there is none. */
  SortedMap<String, Long> residencyCounters() {
    return opener.residencyCounters();
  }

  /** Returns why there is no session, or null. */
  String reason() {
    return reason;
  }

  /** Returns the reason under which searches count while there is no session. */
  FallbackReason absence() {
    return distrusted ? FallbackReason.WRONG_ANSWER : FallbackReason.NO_DEVICE;
  }

  /** Registers a segment unless it is registered already. Returns false if it has been closed. */
  boolean know(SegmentView view) {
    if (open.contains(view)) {
      return true;
    }
    // under the lock; otherwise a segment closed concurrently could be opened after its closing
    synchronized (this) {
      if (closed.contains(view)) {
        return false;
      }
      open.add(view);
      GpuSession current = enter();
      if (current != null) {
        try {
          current.residency.opened(view);
        } catch (GpuException e) {
          failed(current, e);
        } finally {
          current.exit();
        }
      }
    }
    return true;
  }

  /** Sets whether a segment is kept on the device, now and after each loss. */
  void keep(SegmentView view, boolean wanted) {
    if (know(view) == false) {
      return;
    }
    synchronized (this) {
      if (open.contains(view)) {
        boolean changed = wanted ? kept.add(view) : kept.remove(view);
        // a kept segment may have been evicted since
        if (changed || wanted) {
          with(entered -> entered.residency.keep(view, wanted));
        }
      }
    }
  }

  /** Does not upload an open segment to later sessions. */
  void leave(SegmentView view) {
    kept.remove(view);
    open.remove(view);
  }

  /** Uploads a segment before others. */
  void warm(SegmentView view) {
    if (know(view)) {
      with(entered -> entered.residency.warm(view));
    }
  }

  private void with(Consumer<GpuSession> action) {
    GpuSession current = enter();
    if (current != null) {
      try {
        action.accept(current);
      } catch (GpuException e) {
        failed(current, e);
      } finally {
        current.exit();
      }
    }
  }

  /** Changes options of this session and of later ones. */
  synchronized void adjust(DynamicOptions options) {
    adjusted = options;
    with(entered -> entered.adjust(options));
  }

  /** Whether items wait for segments that are being uploaded. */
  boolean waitForUpload() {
    DynamicOptions now = adjusted;
    return now == null ? options.waitForUpload() : now.waitForUpload();
  }

  /** Returns the pinned plan, or {@link PlanMode#AUTO}. */
  PlanMode planMode() {
    DynamicOptions now = adjusted;
    return now == null ? options.plans().mode() : now.plan();
  }

  /** Acquires a resident segment for one call, or returns null if it is not resident. */
  ResidentSegment acquire(GpuSession entered, SegmentView view) {
    if (know(view) == false) {
      return null;
    }
    ResidentSegment segment;
    try {
      segment = entered.residency.acquire(view);
    } catch (GpuException e) {
      failed(entered, e);
      return null;
    }
    if (open.contains(view) == false) {
      // closed meanwhile; the residency may have registered it as a new segment
      if (segment != null) {
        segment.release();
      }
      entered.residency.closing(view);
      return null;
    }
    return segment;
  }

  /** Forgets a segment. When this returns, nothing reads the segment's files any more. */
  void forget(SegmentView view) {
    GpuSession current;
    boolean entered;
    synchronized (this) {
      open.remove(view);
      kept.remove(view);
      closed.add(view);
      current = session != null ? session : failed != null ? failed : leaving;
      entered = current != null && current.enter();
    }
    if (current == null) {
      return;
    }
    if (entered == false) {
      current.awaitGone();
      return;
    }
    try {
      current.device.closing(view);
      current.fetch.closing(view);
      current.scans.closing(view);
      current.residency.closing(view);
    } catch (GpuException e) {
      lose(current, e.asLoss());
      current.exit();
      current.awaitGone();
      return;
    }
    current.exit();
  }

  /** Handles a failure outside a launch; if the context is lost, so is the session. */
  void failed(GpuSession which, GpuException e) {
    if (e.contextLost()) {
      lose(which, e);
    } else {
      counters.fallback(Counters.reason(e), 0, e.getMessage());
    }
  }

  private void lose(GpuSession which, GpuException e) {
    if (which.lose(e) == false) {
      return;
    }
    counters.lost.increment();
    synchronized (this) {
      if (session == which) {
        session = null;
      }
      tell(which, e);
      failed = which;
      failure = e;
      notifyAll();
    }
  }

  /** Sets why there is no session. */
  private void tell(GpuSession last, GpuException e) {
    distrusted = last.distrusted();
    reason = (distrusted ? "" : "the context was lost: ") + e.getMessage();
  }

  /** Asks the first session, and uses it if it answers right. */
  private void proveFirst() {
    GpuSession first = unproven;
    try {
      if (first == null) {
        return;
      }
      GpuException wrong = questioner.ask(first, true);
      if (wrong == null) {
        publish(first);
      } else {
        lose(first, wrong);
      }
    } finally {
      synchronized (this) {
        unproven = null;
      }
      firstAnswered.countDown();
    }
  }

  @Override
  public void run() {
    long wait = options.firstRetryNanos();
    long openedAt = System.nanoTime();
    try {
      proveFirst();
      while (true) {
        GpuSession broken = awaitFailure();
        if (broken == null) {
          return;
        }
        if (System.nanoTime() - openedAt > options.maxRetryNanos()) {
          wait = options.firstRetryNanos();
        }
        listener.lost(failure, TimeUnit.NANOSECONDS.toMillis(wait));
        discard(broken);
        GpuSession opened = null;
        while (opened == null) {
          if (pause(wait) == false) {
            return;
          }
          wait = Math.min(2 * wait, options.maxRetryNanos());
          opened = attempt(wait);
        }
        openedAt = System.nanoTime();
        if (publish(opened)) {
          listener.recovered(opened.driver.device());
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void discard(GpuSession broken) throws InterruptedException {
    tearDown(broken);
    synchronized (this) {
      if (failed == broken) {
        failed = null;
      }
    }
  }

  private void tearDown(GpuSession last) throws InterruptedException {
    try {
      last.retire();
    } catch (RuntimeException e) {
      listener.stillLost(
          new GpuException(GpuException.Kind.FAILED, "a context was not torn down: " + e, e), 0);
    }
  }

  private GpuSession attempt(long nextWait) throws InterruptedException {
    try {
      if (opener.lastClosed() == false) {
        throw new GpuException(
            GpuException.Kind.UNAVAILABLE,
            "a kernel of the last context still runs; if it never ends, only a restart of the"
                + " process helps");
      }
      GpuSession opened = opener.open();
      GpuException wrong = questioner.ask(opened, true);
      if (wrong == null || opened.lose(wrong) == false) {
        return opened;
      }
      tell(opened, wrong);
      discard(opened);
      listener.stillLost(wrong, TimeUnit.NANOSECONDS.toMillis(nextWait));
    } catch (GpuException e) {
      distrusted = false;
      reason = e.getMessage();
      listener.stillLost(e, TimeUnit.NANOSECONDS.toMillis(nextWait));
    }
    counters.failedAttempts.increment();
    return null;
  }

  /** Uses a session, and brings the open segments to it. Returns whether it is still there. */
  private boolean publish(GpuSession opened) {
    synchronized (this) {
      if (failed != opened) {
        session = opened;
        distrusted = false;
        reason = null;
        if (adjusted != null) {
          opened.adjust(adjusted);
        }
      }
    }
    for (SegmentView view : open) {
      if (opened.enter() == false) {
        return false;
      }
      try {
        synchronized (this) {
          if (kept.contains(view)) {
            opened.residency.keep(view, true);
          } else if (open.contains(view)) {
            opened.residency.opened(view);
          }
        }
      } catch (GpuException e) {
        // the thread must survive, because only it can replace this session
        failed(opened, e);
        if (e.contextLost()) {
          return false;
        }
      } finally {
        opened.exit();
      }
    }
    return true;
  }

  /** Waits for a failure, and asks the session from time to time. Returns null to stop. */
  private GpuSession awaitFailure() throws InterruptedException {
    while (true) {
      GpuSession current;
      synchronized (this) {
        while (failed == null && stopping == false && asksNow() == false) {
          if (questioner.asks()) {
            TimeUnit.NANOSECONDS.timedWait(this, Math.max(1, questioner.nanosUntilDue()));
          } else {
            wait();
          }
        }
        if (failed != null || stopping) {
          return failed;
        }
        current = session;
      }
      GpuException wrong = questioner.ask(current, false);
      if (wrong != null) {
        lose(current, wrong);
      }
    }
  }

  private boolean asksNow() {
    return questioner.asks() && session != null && questioner.nanosUntilDue() <= 0;
  }

  /** Sleeps for a time. Returns false if the keeper is stopping. */
  private synchronized boolean pause(long nanos) throws InterruptedException {
    long end = System.nanoTime() + nanos;
    while (stopping == false) {
      long left = end - System.nanoTime();
      if (left <= 0) {
        return true;
      }
      TimeUnit.NANOSECONDS.timedWait(this, left);
    }
    return false;
  }

  /** Stops the recovery thread, waits until all users have left the session, and tears it down. */
  void close() {
    GpuSession last;
    synchronized (this) {
      stopping = true;
      notifyAll();
    }
    Threads.join(thread);
    boolean interrupted = false;
    synchronized (this) {
      last = session != null ? session : failed != null ? failed : unproven;
      session = null;
      failed = null;
      leaving = last != null ? last : leaving;
      reason = "the executor is closed";
    }
    while (last != null) {
      try {
        tearDown(last);
        last = null;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
