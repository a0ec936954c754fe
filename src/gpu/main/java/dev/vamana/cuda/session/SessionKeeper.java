package dev.vamana.cuda.session;

import dev.vamana.cuda.api.DynamicOptions;
import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.Deadline;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GatedDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.work.Threads;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Keeps a {@link GpuSession} open: its thread replaces a lost session after a back-off and uploads
 * the open segments to the new one. It runs the self-test in every session before it is used, and
 * then now and then.
 */
public final class SessionKeeper implements Runnable {

  private static final long NANOS_PER_MILLI = 1_000_000;

  // compiling kernels for a device without images takes longer; searches go to the CPU meanwhile
  private static final long FIRST_TEST_SECONDS = 10;

  private volatile GpuOptions options;
  private final Supplier<CudaDriver> drivers;
  private final Supplier<ExecutorService> uploads;
  private final ExecutorCounters counters;
  private final GpuListener listener;
  private final SelfTester tester;
  private final CountDownLatch firstTested = new CountDownLatch(1);
  private final OpenSegments segments = new OpenSegments(this);
  private final Thread thread;
  private volatile GpuSession session;
  // of the last session
  private volatile DeviceInfo device;
  private GatedDriver lastDriver;
  private volatile String reason;
  private volatile boolean distrusted;
  // the first session until it has been tested
  private GpuSession unproven;
  private GpuSession failed;
  // the last one, when the keeper closes: a segment that is closed meanwhile waits for it
  private GpuSession leaving;
  private GpuException failure;
  private boolean stopping;

  /**
   * Opens the first session on the calling thread, and waits some seconds for its self-test.
   *
   * @param uploads makes an executor for the uploads of each session, which uses one thread of it
   * @throws GpuException if there is no usable device
   */
  public SessionKeeper(
      GpuOptions options,
      Supplier<CudaDriver> drivers,
      Supplier<ExecutorService> uploads,
      ExecutorCounters counters,
      GpuListener listener) {
    this.options = options;
    this.counters = counters;
    this.listener = listener;
    this.drivers = drivers;
    this.uploads = uploads;
    this.tester = new SelfTester(options, counters);
    GpuSession first = open();
    synchronized (this) {
      unproven = first;
      reason = "the self-test is running";
    }
    if (tester.tests()) {
      counters.whenSuspicious(this::suspect);
    }
    this.thread = new Thread(this, "vamana-gpu-recovery");
    thread.setDaemon(true);
    if (Threads.started(thread) == false) {
      first.retire();
      throw new GpuException(
          GpuException.Kind.UNAVAILABLE,
          "the thread " + thread.getName() + " could not be started");
    }
    awaitFirstTest();
  }

  /**
   * Opens a session.
   *
   * @throws GpuException if there is no usable device
   */
  private GpuSession open() {
    Deadline deadline = new Deadline(options.times().deadline());
    GatedDriver driver = new GatedDriver(drivers.get(), deadline);
    lastDriver = driver;
    CompletableFuture<GpuSession> made = new CompletableFuture<>();
    GpuSession opened =
        new GpuSession(
            driver, uploads.get(), this::options, counters, failure -> lost(made, failure));
    device = driver.device();
    counters.opened.increment();
    made.complete(opened);
    return opened;
  }

  /** Tells of a loss, at once or when the session has been made. */
  @SuppressWarnings("FutureReturnValueIgnored") // what is told does not fail
  private void lost(CompletableFuture<GpuSession> made, GpuException e) {
    made.thenAccept(opened -> lose(opened, e));
  }

  private void awaitFirstTest() {
    try {
      firstTested.await(FIRST_TEST_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void suspect() {
    if (tester.suspect()) {
      synchronized (this) {
        notifyAll();
      }
    }
  }

  /** Enters the current session, or returns null if there is none. */
  public GpuSession enter() {
    GpuSession current = session;
    return current != null && current.enter() ? current : null;
  }

  /** Returns the device in use, or the last one. */
  public DeviceInfo device() {
    return device;
  }

  /** Returns the residency counters of all sessions, for use while there is none. */
  public SortedMap<String, Long> residencyCounters() {
    return counters.residency.withoutContext();
  }

  /** Returns why there is no session, or null. */
  public String reason() {
    return reason;
  }

  /** Whether the first session is still being tested. */
  public boolean isTesting() {
    return firstTested.getCount() > 0;
  }

  /** Returns the reason under which searches count while there is no session. */
  public FallbackReason absence() {
    return distrusted ? FallbackReason.WRONG_ANSWER : FallbackReason.NO_DEVICE;
  }

  /** Does something in the current session, if there is one. */
  void with(Consumer<GpuSession> action) {
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

  /** Returns the segments that are open. */
  public OpenSegments segments() {
    return segments;
  }

  /** Returns the current options. */
  public GpuOptions options() {
    return options;
  }

  /** Changes options of this session and of later ones. */
  public synchronized void adjust(DynamicOptions changed) {
    options = options.with(changed);
    with(this::adjust);
  }

  private void adjust(GpuSession entered) {
    ResidencyOptions now = options.residency();
    entered.residency.adjust(now.deviceLimit(), now.pageCacheLimit(), now.placements());
  }

  /** Returns the session in which segments that are closed now may be open, or null. */
  synchronized GpuSession last() {
    return session != null ? session : failed != null ? failed : leaving;
  }

  /** Handles a failure outside a launch; if the context is lost, so is the session. */
  void failed(GpuSession which, GpuException e) {
    if (e.contextLost()) {
      lose(which, e);
    } else {
      counters.fallback(ExecutorCounters.reason(e), 0, e.getMessage());
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

  /** Tests the first session, and uses it if it answers right. */
  private void proveFirst() {
    GpuSession first = unproven;
    try {
      GpuException wrong = tester.test(first, true);
      if (wrong == null) {
        publish(first);
      } else {
        lose(first, wrong);
      }
    } finally {
      synchronized (this) {
        unproven = null;
      }
      firstTested.countDown();
    }
  }

  @Override
  public void run() {
    long wait = options.times().firstRetry();
    long openedAt = System.nanoTime();
    try {
      proveFirst();
      while (true) {
        GpuSession broken = awaitFailure();
        if (broken == null) {
          return;
        }
        if (System.nanoTime() - openedAt > options.times().maxRetry()) {
          wait = options.times().firstRetry();
        }
        long millis = wait / NANOS_PER_MILLI;
        told(() -> listener.lost(failure, millis));
        discard(broken);
        GpuSession opened = null;
        while (opened == null) {
          if (pause(wait) == false) {
            return;
          }
          wait = Math.min(2 * wait, options.times().maxRetry());
          opened = attempt(wait);
        }
        openedAt = System.nanoTime();
        if (publish(opened)) {
          DeviceInfo device = opened.driver.device();
          told(() -> listener.recovered(device));
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Tells the listener something; if it throws, the thread must survive. */
  private static void told(Runnable event) {
    try {
      event.run();
    } catch (RuntimeException | Error e) {
      Thread.UncaughtExceptionHandler handler =
          Thread.currentThread().getUncaughtExceptionHandler();
      handler.uncaughtException(Thread.currentThread(), e);
    }
  }

  private void discard(GpuSession broken) {
    tearDown(broken);
    synchronized (this) {
      if (failed == broken) {
        failed = null;
      }
    }
  }

  private void tearDown(GpuSession last) {
    try {
      last.retire();
    } catch (RuntimeException | Error e) {
      GpuException why =
          new GpuException(GpuException.Kind.FAILED, "a context was not torn down: " + e, e);
      told(() -> listener.stillLost(why, 0));
    }
  }

  private GpuSession attempt(long nextWait) {
    try {
      if (lastDriver.closed() == false) {
        throw new GpuException(
            GpuException.Kind.UNAVAILABLE,
            "a kernel of the last context still runs; if it never ends, only a restart of the"
                + " process helps");
      }
      GpuSession opened = open();
      GpuException wrong = tester.test(opened, true);
      if (wrong == null || opened.lose(wrong) == false) {
        return opened;
      }
      tell(opened, wrong);
      discard(opened);
      told(() -> listener.stillLost(wrong, nextWait / NANOS_PER_MILLI));
    } catch (RuntimeException | Error e) {
      // whatever it is: only this thread can open a context
      GpuException why =
          e instanceof GpuException gpu
              ? gpu
              : new GpuException(
                  GpuException.Kind.UNAVAILABLE, "a context was not opened: " + e, e);
      distrusted = false;
      reason = why.getMessage();
      told(() -> listener.stillLost(why, nextWait / NANOS_PER_MILLI));
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
        // they may have changed since it was opened
        adjust(opened);
      }
    }
    return segments.openIn(opened, listener);
  }

  /** Waits for a failure, and tests the session from time to time. Returns null to stop. */
  private GpuSession awaitFailure() throws InterruptedException {
    while (true) {
      GpuSession current;
      synchronized (this) {
        while (failed == null && stopping == false && testsNow() == false) {
          if (tester.tests()) {
            TimeUnit.NANOSECONDS.timedWait(this, Math.max(1, tester.nanosUntilDue()));
          } else {
            wait();
          }
        }
        if (failed != null || stopping) {
          return failed;
        }
        current = session;
      }
      GpuException wrong = tester.test(current, false);
      if (wrong != null) {
        lose(current, wrong);
      }
    }
  }

  private boolean testsNow() {
    return tester.tests() && session != null && tester.nanosUntilDue() <= 0;
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
  public void close() {
    GpuSession last;
    synchronized (this) {
      stopping = true;
      notifyAll();
    }
    Threads.join(thread);
    synchronized (this) {
      last = session != null ? session : failed != null ? failed : unproven;
      session = null;
      failed = null;
      leaving = last != null ? last : leaving;
      reason = "the executor is closed";
    }
    if (last != null) {
      tearDown(last);
    }
  }
}
