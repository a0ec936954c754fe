package dev.vamana.cuda.lane;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.Deadline;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.Spin;
import dev.vamana.work.Threads;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A thread that drives the device for one kind of work, and the inbox through which callers reach
 * it. Every submitted {@link Ticket} ends, also if the context is lost. The thread starts with the
 * first ticket. It spins while anything is in flight and for a moment after, and then parks; where
 * processors are scarce it naps instead of spinning. What the device does not end within the {@link
 * Deadline} means that the context is lost.
 *
 * <p>{@link BatchLane} is for kinds that search one batch after the other; {@code batch.WalkLane}
 * has several launches in flight.
 */
public abstract class Lane<T extends Ticket> {

  // longer than most launches take: a nap of 20 microseconds ends after 70, and its caller waits
  // for that
  private static final long SPIN_NANOS = 2_000_000;
  private static final long NAP_NANOS = 20_000;
  private static final long IDLE_SPIN_NANOS = 50_000;

  private final CudaDriver driver;
  private final Deadline deadline;
  private final Consumer<GpuException> onLost;
  private final Thread thread;
  private final SpareProcessors spare;
  private final Object starting = new Object();
  private volatile boolean begun;
  private final ConcurrentLinkedQueue<T> inbox = new ConcurrentLinkedQueue<>();
  // a ticket may be done before its thread has counted it in
  private final LongAdder pending = new LongAdder();
  private volatile boolean parked;
  private volatile boolean stopping;
  private volatile GpuException lost;
  private volatile GpuException endFailure;

  /**
   * Makes a lane whose thread has not started.
   *
   * @param name of the thread
   * @param onLost called once by the thread, as its last act, if the context is lost
   * @param spare finds out whether the thread may spin
   */
  protected Lane(
      String name, CudaDriver driver, Consumer<GpuException> onLost, SpareProcessors spare) {
    this(Thread::new, name, driver, onLost, spare);
  }

  /** Makes a lane with a thread of the factory. */
  Lane(
      ThreadFactory threads,
      String name,
      CudaDriver driver,
      Consumer<GpuException> onLost,
      SpareProcessors spare) {
    this.driver = driver;
    this.spare = spare;
    this.deadline = driver.deadline();
    this.onLost = onLost;
    this.thread = threads.newThread(this::drive);
    thread.setName(name);
    thread.setDaemon(true);
  }

  /** Returns the driver, which is bound to the thread. */
  protected final CudaDriver driver() {
    return driver;
  }

  /** Returns whether processors are left for threads that spin, as the lane's thread finds. */
  public final SpareProcessors spare() {
    return spare;
  }

  /** Queues a ticket, as {@link #submit(List)} does. */
  public final void submit(T ticket) {
    submit(List.of(ticket));
  }

  /**
   * Queues tickets of one call, of which the thread then sees all or none. If the thread cannot be
   * started, all tickets end with that failure, and the next call tries again.
   */
  public final void submit(List<T> tickets) {
    int count = 0;
    for (T ticket : tickets) {
      ticket.submitted();
      count += ticket.count();
    }
    inbox.addAll(tickets);
    pending.add(count);
    if (lost != null) {
      failInbox();
    } else if (begun || startOrFail()) {
      wake();
    }
  }

  private boolean startOrFail() {
    // until all tickets have ended here, no thread takes any
    synchronized (starting) {
      try {
        start();
        return true;
      } catch (GpuException e) {
        failInbox(e);
        return false;
      }
    }
  }

  /** Wakes the thread if it is parked, as a ticket is about to come. */
  public final void wake() {
    if (parked) {
      LockSupport.unpark(thread);
    }
  }

  /**
   * Starts the thread, unless it has been started.
   *
   * @throws GpuException if the machine has no room for another thread
   */
  protected final void start() {
    synchronized (starting) {
      if (begun == false && Threads.started(thread) == false) {
        throw new GpuException(
            GpuException.Kind.FAILED, "the thread " + thread.getName() + " could not be started");
      }
      begun = true;
    }
  }

  /** Items that were handed over and are not done yet. */
  public final long pending() {
    return Math.max(0, pending.sum());
  }

  /** Stops the thread after everything submitted is done; what comes later fails. */
  public void stop() {
    stopping = true;
    synchronized (starting) {
      if (begun == false) {
        begun = true;
        lost = ended();
        failInbox();
      }
    }
    LockSupport.unpark(thread);
    Threads.join(thread);
  }

  /** Frees driver resources after {@link #stop}. The calling thread is bound to the driver. */
  public abstract void free();

  private GpuException ended() {
    return new GpuException(GpuException.Kind.CONTEXT_LOST, thread.getName() + " has ended");
  }

  /** Whether {@link #stop} was called: what has been submitted is the last. */
  protected final boolean stopping() {
    return stopping;
  }

  /** Returns the tickets that no {@link #advance} has taken. Only the thread removes any. */
  protected final ConcurrentLinkedQueue<T> inbox() {
    return inbox;
  }

  /**
   * Does what can be done now, on the lane's thread.
   *
   * @return whether anything was done
   * @throws GpuException if the context is lost
   */
  protected abstract boolean advance();

  /** Whether work on the device is under way, for which {@link #advance} does not wait. */
  protected boolean busy() {
    return false;
  }

  /** Returns when the oldest such work began, as {@link System#nanoTime}. */
  protected long busySince() {
    return System.nanoTime();
  }

  /** Whether tickets have been taken from the inbox that wait for a later {@link #advance}. */
  protected boolean holding() {
    return false;
  }

  /** Ends everything that was taken from the inbox, in a lost context. */
  protected abstract void abandon(GpuException why);

  /** Called when a ticket ends whose caller has left. */
  protected void abandoned() {}

  private void drive() {
    try {
      driver.bind();
      loop();
      lost = ended();
      failInbox();
    } catch (GpuException e) {
      lose(e);
    } catch (RuntimeException | Error e) {
      lose(unexpected(e));
    }
  }

  /** Returns the loss that an unexpected error in this lane means. */
  protected final GpuException unexpected(Throwable e) {
    return new GpuException(GpuException.Kind.CONTEXT_LOST, thread.getName() + " failed: " + e, e);
  }

  private void loop() {
    long progress = System.nanoTime();
    int spins = 0;
    while (true) {
      if (endFailure != null) {
        throw endFailure;
      }
      boolean moved = advance();
      long now = System.nanoTime();
      if (busy() && deadline.late(busySince(), now)) {
        moved |= advance();
        if (busy()) {
          deadline.check(busySince(), now);
        }
      }
      boolean busy = busy();
      boolean waits = busy || holding();
      // a held ticket becomes due at a time that only advance knows
      long patience = busy ? SPIN_NANOS : waits ? Long.MAX_VALUE : IDLE_SPIN_NANOS;
      if (moved) {
        progress = now;
        spins = 0;
      } else if (spare.scarce() == false && now - progress < patience) {
        spare.spinning(now);
        Spin.once(spins++);
      } else if (waits) {
        spare.waiting(now);
        LockSupport.parkNanos(this, NAP_NANOS);
      } else if (stopping) {
        if (inbox.isEmpty()) {
          return;
        }
      } else {
        spare.waiting(now);
        parked = true;
        if (inbox.isEmpty() && stopping == false) {
          LockSupport.park(this);
        }
        parked = false;
        progress = System.nanoTime();
      }
    }
  }

  /**
   * Begins a ticket that was taken from the inbox. Returns false if nobody waits for it any more;
   * it has ended then.
   */
  protected final boolean begin(T ticket) {
    boolean closing = ticket.closing();
    if (ticket.begin() == false) {
      pending.add(-ticket.count());
      abandoned();
      return false;
    }
    if (closing) {
      // its caller finds that out by itself
      end(List.of(ticket), null);
      return false;
    }
    return true;
  }

  /** Ends tickets that have begun. */
  protected final void end(Collection<T> tickets, GpuException failure) {
    for (T ticket : tickets) {
      if (failure != null || handOver(ticket) == false) {
        finish(ticket, failure);
      }
    }
  }

  /** Has another thread call {@link #finishHandedOver}. Returns whether it will. */
  protected boolean handOver(T ticket) {
    return false;
  }

  /** Ends a ticket, for the lane's thread, which loses the context if that fails unexpectedly. */
  protected final void finishHandedOver(T ticket) {
    try {
      finish(ticket, null);
    } catch (RuntimeException | Error e) {
      endFailure = unexpected(e);
      LockSupport.unpark(thread);
    }
  }

  private void finish(T ticket, GpuException failure) {
    pending.add(-ticket.count());
    if (ticket.left()) {
      abandoned();
    }
    ticket.end(failure);
  }

  private void lose(GpuException e) {
    lost = e;
    abandon(e);
    failInbox();
    onLost.accept(e);
  }

  private void failInbox() {
    failInbox(lost);
  }

  private void failInbox(GpuException e) {
    T ticket;
    while ((ticket = inbox.poll()) != null) {
      if (begin(ticket)) {
        end(List.of(ticket), e);
      }
    }
  }
}
