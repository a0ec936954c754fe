package dev.vamana.cuda.scan;

import dev.vamana.cuda.batch.Spin;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.exact.ExactBatch;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.PlanCounters;
import dev.vamana.search.SegmentView;
import dev.vamana.work.Threads;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.function.Consumer;
import org.apache.lucene.util.Bits;

/**
 * Runs exact searches of resident or streamed segments. One thread drives the device, on a stream
 * of its own. Jobs that are submitted while it is busy and match each other are searched together.
 */
public final class ScanLane {

  /** Most hits of a query. */
  public static final int MAX_K = ExactBatch.MAX_K;

  private static final int ALIGNMENT = 16;
  private static final int MAX_BATCH = 16_384;
  private static final long IDLE_SPIN_NANOS = 50_000;

  private final CudaDriver driver;
  private final SessionHostMemory account;
  private final Consumer<GpuException> onLost;
  private final Set<SegmentView> closed = Collections.newSetFromMap(new WeakHashMap<>());
  private final ArrayDeque<ScanTicket> inbox = new ArrayDeque<>();
  private final PlanCounters plans;
  private final Thread thread;
  private List<ScanTicket> running = List.of();
  private ScanBatch batch;
  private boolean started;
  private boolean closing;
  private GpuException lost;
  private volatile int waiting;

  /**
   * Makes an instance. The first job creates its stream, memory and running thread.
   *
   * @param account counts pinned memory; jobs fail with {@code OUT_OF_MEMORY} if it refuses
   * @param plans counts batches
   * @param onLost called once by the driving thread, as its last act, if the context is lost
   */
  public ScanLane(
      CudaDriver driver,
      SessionHostMemory account,
      PlanCounters plans,
      Consumer<GpuException> onLost) {
    this.driver = driver;
    this.account = account;
    this.plans = plans;
    this.onLost = onLost;
    this.thread = new Thread(this::drive, "vamana-gpu-exact");
    thread.setDaemon(true);
  }

  /** Whether rows are aligned as the kernels need them. */
  public static boolean reads(ResidentRows rows) {
    return rows != null && rows.address() % ALIGNMENT == 0 && rows.stride() % ALIGNMENT == 0;
  }

  /**
   * The queue before a job that would be submitted now.
   *
   * @param nanos predicted duration of the jobs that it would wait for
   * @param together number of queued queries that it would be searched with
   */
  public record Ahead(double nanos, int together) {}

  /** Returns the queue before a job for these ordinals of a segment. */
  @SuppressWarnings("ReferenceEquality") // the same bitset object, not an equal one
  public Ahead ahead(SegmentView view, Bits accepted) {
    synchronized (inbox) {
      double nanos = 0;
      int together = 0;
      for (ScanTicket ticket : running) {
        nanos = Math.max(nanos, ticket.job().nanos());
      }
      for (ScanTicket ticket : inbox) {
        ScanJob job = ticket.job();
        if (job.segment().view() == view && job.accepted() == accepted) {
          together += job.queries().size();
        } else {
          nanos += job.nanos();
        }
      }
      return new Ahead(nanos, together);
    }
  }

  /** Returns the number of waiting jobs. */
  public int waiting() {
    return waiting;
  }

  /** Submits a job. Its segment is held until the job is done. */
  public ScanTicket submit(ScanJob job) {
    job.segment().hold();
    ScanTicket ticket = new ScanTicket(job);
    GpuException why;
    synchronized (inbox) {
      if (lost == null && closing == false) {
        if (closed.contains(job.segment().view()) == false) {
          inbox.add(ticket);
          waiting = inbox.size();
          if (started == false) {
            started = true;
            thread.start();
          }
          inbox.notifyAll();
          return ticket;
        }
        why = null;
      } else {
        why =
            lost != null
                ? lost
                : new GpuException(GpuException.Kind.CONTEXT_LOST, "exact searches ended");
      }
    }
    if (why == null) {
      ticket.close();
    } else {
      ticket.fail(why);
    }
    return ticket;
  }

  /**
   * Ends waiting jobs of a segment, and lets no further one begin. Jobs that have begun hold the
   * segment until they end; when this returns, no job reads its file.
   */
  public void closing(SegmentView view) {
    List<ScanTicket> gone = new ArrayList<>();
    synchronized (inbox) {
      closed.add(view);
      for (Iterator<ScanTicket> all = inbox.iterator(); all.hasNext(); ) {
        ScanTicket ticket = all.next();
        if (ticket.job().segment().view().equals(view)) {
          gone.add(ticket);
          all.remove();
        }
      }
      waiting = inbox.size();
      for (ScanTicket ticket : running) {
        if (ticket.job().segment().view().equals(view)) {
          ticket.closing();
        }
      }
    }
    gone.forEach(ScanTicket::close);
    awaitFile(view);
  }

  /** Waits while a running job reads the segment's file. */
  private void awaitFile(SegmentView view) {
    boolean interrupted = false;
    synchronized (inbox) {
      while (running.stream()
          .map(ScanTicket::job)
          .anyMatch(job -> job.file() != null && job.segment().view().equals(view))) {
        try {
          inbox.wait();
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Stops the thread after everything submitted is done. */
  public void stop() {
    synchronized (inbox) {
      closing = true;
      inbox.notifyAll();
    }
    Threads.join(thread);
  }

  /** Frees everything after {@link #stop}. The calling thread is bound to the driver. */
  public void free() {
    if (batch != null) {
      batch.free();
      batch = null;
    }
  }

  private void drive() {
    try {
      driver.bind();
      List<ScanTicket> taken = take();
      while (taken != null) {
        run(taken);
        taken = take();
      }
    } catch (GpuException e) {
      lose(e);
    } catch (RuntimeException | Error e) {
      lose(new GpuException(GpuException.Kind.CONTEXT_LOST, "exact search failed: " + e, e));
    }
  }

  /** Returns the next jobs, all matching; null when the lane has stopped. */
  private List<ScanTicket> take() {
    long idleSince = System.nanoTime();
    for (int step = 0; waiting == 0 && System.nanoTime() - idleSince < IDLE_SPIN_NANOS; step++) {
      Spin.once(step);
    }
    synchronized (inbox) {
      while (inbox.isEmpty()) {
        if (closing) {
          return null;
        }
        try {
          inbox.wait();
        } catch (InterruptedException e) {
          // no code interrupts this thread
        }
      }
      List<ScanTicket> taken = new ArrayList<>();
      ScanJob first = inbox.peek().job();
      int queries = 0;
      for (Iterator<ScanTicket> all = inbox.iterator(); all.hasNext(); ) {
        ScanTicket ticket = all.next();
        int own = ticket.job().queries().size();
        if (ticket.job().alike(first) && (taken.isEmpty() || queries + own <= MAX_BATCH)) {
          taken.add(ticket);
          queries += own;
          all.remove();
        }
      }
      waiting = inbox.size();
      running = taken;
      return taken;
    }
  }

  private void run(List<ScanTicket> tickets) {
    List<ScanTicket> wanted = new ArrayList<>();
    for (ScanTicket ticket : tickets) {
      if (ticket.abandoned()) {
        ticket.close();
      } else {
        wanted.add(ticket);
      }
    }
    if (wanted.isEmpty()) {
      ended();
      return;
    }
    GpuException failure;
    try {
      if (batch == null) {
        batch = new ScanBatch(driver, account);
      }
      batch.search(wanted);
      plans.searched(wanted.get(0).job().gather() ? Plan.GATHER : Plan.SCAN);
      ended();
      batch.deliver(wanted);
      return;
    } catch (GpuException e) {
      failure = e;
    } catch (RuntimeException | Error e) {
      failure = new GpuException(GpuException.Kind.CONTEXT_LOST, "exact search failed: " + e, e);
    }
    ended();
    for (ScanTicket ticket : wanted) {
      if (ticket.done() == false) {
        ticket.fail(failure);
      }
    }
    if (failure.contextLost()) {
      throw failure;
    }
  }

  /**
   * Marks the lane as idle. Called before tickets are completed, so that callers see no running
   * jobs afterwards.
   */
  private void ended() {
    synchronized (inbox) {
      running = List.of();
      inbox.notifyAll();
    }
  }

  private void lose(GpuException e) {
    List<ScanTicket> left;
    synchronized (inbox) {
      lost = e;
      left = new ArrayList<>(inbox);
      inbox.clear();
      running = List.of();
      inbox.notifyAll();
    }
    left.forEach(ticket -> ticket.fail(e));
    onLost.accept(e);
  }
}
