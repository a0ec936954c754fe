package dev.vamana.cuda.session;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.batch.WalkLane;
import dev.vamana.cuda.build.DeviceBuilder;
import dev.vamana.cuda.build.RecentSearches;
import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.hostfetch.FetchLane;
import dev.vamana.cuda.hostfetch.FetchOptions;
import dev.vamana.cuda.lane.Lane;
import dev.vamana.cuda.lane.SpareProcessors;
import dev.vamana.cuda.lane.Ticket;
import dev.vamana.cuda.lane.Waiters;
import dev.vamana.cuda.memory.Residency;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.cuda.plan.PlanChooser;
import dev.vamana.cuda.scan.ScanLane;
import dev.vamana.cuda.selftest.Samples;
import dev.vamana.cuda.selftest.SelfTest;
import dev.vamana.cuda.training.TrainingDevice;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * One context and everything that lives in it. A thread calls {@link #enter} before it uses any
 * part of the session; {@link #retire} tears the session down after the last thread has left.
 * {@link SessionKeeper} opens and replaces sessions.
 */
public final class GpuSession {

  private static final int RETIRED = Integer.MIN_VALUE;

  /** Which segments are on the device. */
  public final Residency residency;

  /** The lane of graph walks. */
  public final WalkLane walks;

  /** The lane of walks whose neighbours the CPU fetches. */
  public final FetchLane fetches;

  /** The lane of exact searches. */
  public final ScanLane scans;

  /** Where callers of all lanes wait. */
  public final Waiters waiters;

  /** Chooses plans by the costs of this device. */
  public final PlanChooser chooser;

  /** Host memory in use by batches. */
  public final SessionHostMemory hostMemory;

  final CudaDriver driver;
  final TrainingDevice training;
  final DeviceBuilder builder;
  private final List<Lane<?>> lanes;
  private final Samples samples = new Samples();
  private final ExecutorCounters counters;
  private final Consumer<GpuException> onLost;
  private final AtomicInteger users = new AtomicInteger();
  private final CompletableFuture<Void> unused = new CompletableFuture<>();
  private final CompletableFuture<Void> gone = new CompletableFuture<>();
  private volatile GpuException lost;
  private volatile boolean distrusted;
  private volatile boolean alive;

  /**
   * Opens everything in a fresh context. The session owns the context from then on.
   *
   * @param uploads runs the uploads of segments
   * @param current the current options; some of them may change
   * @param onLost called when the context is found lost, possibly more than once
   * @throws GpuException if anything fails; the driver has been closed then
   */
  GpuSession(
      CudaDriver driver,
      ExecutorService uploads,
      Supplier<GpuOptions> current,
      ExecutorCounters counters,
      Consumer<GpuException> onLost) {
    this.driver = driver;
    this.counters = counters;
    this.onLost = onLost;
    GpuOptions options = current.get();
    hostMemory = new SessionHostMemory(options.hostMemory());
    Residency memory = null;
    WalkLane opened = null;
    try {
      driver.bind();
      memory = residency(driver, options, uploads, counters, onLost);
      residency = memory;
      opened =
          WalkLane.open(
              driver,
              () -> current.get().batches(),
              hostMemory,
              residency,
              counters.batches,
              onLost);
      walks = opened;
      waiters = new Waiters(Waiters.usualSpinners(), walks.spare());
      long deviceBytes = driver.device().totalBytes();
      FetchOptions fetch = FetchOptions.of(Runtime.getRuntime().availableProcessors(), deviceBytes);
      fetches = new FetchLane(driver, fetch, hostMemory, residency, onLost);
      scans =
          new ScanLane(
              driver, hostMemory, residency, counters.plans, new SpareProcessors(), onLost);
      lanes = List.of(walks, fetches, scans);
      training = new TrainingDevice(driver, hostMemory, residency);
      RecentSearches searches = new RecentSearches(counters.requested::sum);
      builder = new DeviceBuilder(driver, training, residency, onLost, searches);
      chooser =
          new PlanChooser(options.plans().costs().scaledTo(driver.device().multiprocessors()));
    } catch (Throwable e) {
      if (opened != null) {
        Cleanup.after(e, opened::stop, opened::free);
      }
      if (memory != null) {
        Cleanup.after(e, memory::close);
      }
      Cleanup.after(e, driver::close);
      throw e;
    }
  }

  private static Residency residency(
      CudaDriver driver,
      GpuOptions options,
      ExecutorService uploads,
      ExecutorCounters counters,
      Consumer<GpuException> onLost) {
    return new Residency(
        driver,
        options.residency(),
        uploads,
        uploads::shutdown,
        counters.uploads(onLost),
        counters.residency,
        System::nanoTime);
  }

  /** Whether the context has not been reported lost. */
  public boolean usable() {
    return lost == null;
  }

  /**
   * Enters the session. Returns false if it must not be used; otherwise the caller has to call
   * {@link #exit}.
   */
  public boolean enter() {
    if (lost != null || distrusted) {
      return false;
    }
    if (users.incrementAndGet() > 0) {
      return true;
    }
    exit();
    return false;
  }

  /** Leaves the session after a successful {@link #enter}. */
  public void exit() {
    if (users.decrementAndGet() == RETIRED) {
      unused.complete(null);
    }
  }

  /**
   * Opens a segment unless it is open. The keeper calls this, and excludes that the segment is
   * closed meanwhile.
   */
  void open(SegmentView view, boolean kept) {
    if (kept) {
      residency.keep(view, true);
    } else {
      residency.opened(view);
    }
  }

  /** Returns what the self-test searches with. */
  SelfTest.Lanes lanes() {
    return new SelfTest.Lanes(driver, walks, scans, waiters);
  }

  /**
   * Marks all answers of the session as wrong, also the answers of calls that are running.
   *
   * @param wrong what is wrong
   * @param cause where that was found, or null
   * @return the loss of the session, which the caller reports
   */
  GpuException distrust(String wrong, Throwable cause) {
    counters.wrongAnswers.increment();
    distrusted = true;
    alive = true;
    return new GpuException(
        GpuException.Kind.CONTEXT_LOST, "the device answers wrong: " + wrong, cause);
  }

  /**
   * Distrusts the session, which is lost then, if something is wrong.
   *
   * @param wrong what is wrong, or null
   */
  void check(String wrong) {
    if (wrong != null) {
      onLost.accept(distrust(wrong, null));
    }
  }

  /**
   * Scores the hits of one of many items again, and distrusts the session if they are wrong.
   *
   * @param ticket items that the device has answered
   * @param batch the items of the call
   * @param results the results of the call; null where the device has not given one
   */
  public void answered(Ticket ticket, List<WorkItem> batch, WorkResult[] results)
      throws IOException {
    if (samples.due(ticket.count()) == false) {
      return;
    }
    int index = ticket.item(ticket.count() / 2);
    if (results[index] != null) {
      check(Samples.wrongAnswer(batch.get(index), results[index]));
    }
  }

  /** Says that the driver still works, although the session will be lost. */
  void alive() {
    alive = true;
  }

  /** Whether the context has answered wrong. */
  public boolean distrusted() {
    return distrusted;
  }

  /**
   * Throws if the context has answered wrong, so that whatever it computed is thrown away.
   *
   * @throws GpuException with a lost context
   */
  void checkTrusted() {
    if (distrusted) {
      throw new GpuException(GpuException.Kind.CONTEXT_LOST, "the device answers wrong");
    }
  }

  /** Returns an abort check that also stops work of a session that is {@link #distrusted}. */
  AbortCheck whileTrusted(AbortCheck abort) {
    return () -> {
      abort.check();
      checkTrusted();
    };
  }

  /**
   * Marks the session as lost, after which {@link #enter} fails. Returns whether this is the first
   * report of a loss.
   */
  synchronized boolean lose(GpuException e) {
    if (lost != null) {
      return false;
    }
    lost = e;
    return true;
  }

  /**
   * Waits until all users have left, and tears everything down.
   *
   * @throws GpuException if the driver fails to close; the session is gone nevertheless
   */
  void retire() {
    if (users.getAndAdd(RETIRED) == 0) {
      unused.complete(null);
    }
    unused.join();
    boolean freed = false;
    try {
      if (lost == null || alive) {
        lanes.forEach(Lane::stop);
        driver.bind();
        try {
          residency.close();
        } finally {
          training.free();
          lanes.forEach(Lane::free);
        }
        freed = true;
      }
    } catch (GpuException e) {
      lose(e);
    } finally {
      try {
        if (lost != null && freed == false) {
          residency.abandon();
          lanes.forEach(Lane::stop);
        }
      } finally {
        hostMemory.close();
        try {
          driver.close();
        } finally {
          // also if the driver fails: threads that close segments wait for this
          gone.complete(null);
        }
      }
    }
  }

  /** Waits until {@link #retire} has ended. */
  void awaitGone() {
    gone.join();
  }
}
