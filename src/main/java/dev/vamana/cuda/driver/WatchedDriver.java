package dev.vamana.cuda.driver;

import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * A driver whose calls wait for the device no longer than a deadline. When work on the device has
 * not ended by then, the context counts as lost, although the driver still answers: every later
 * call fails with {@link GpuException.Kind#CONTEXT_LOST} without reaching the driver.
 *
 * <p>The context is given up, too, when it cannot give memory back: only closing it does then.
 *
 * <p>Three kinds of calls wait. {@link #synchronize} and {@link #done} poll events. Freeing memory
 * waits for all kernels of a context, inside the driver, so another thread calls it. Closing the
 * context waits, too; if it takes longer than the deadline it goes on in a thread of its own, and
 * {@link #closed} is false until it has ended. Memory of the context is not given back before.
 */
public final class WatchedDriver extends ForwardingDriver {

  private static final long SPIN_NANOS = 1_000_000;
  private static final long NAP_NANOS = 20_000;

  private final long deadlineNanos;
  // the time at which each event was last recorded
  private final Map<Long, Long> recorded = new ConcurrentHashMap<>();
  // the event with which a stream is synchronized
  private final Map<Long, Long> ends = new ConcurrentHashMap<>();
  private volatile String givenUp;
  private volatile CompletableFuture<Void> closing;

  /**
   * Watches a driver. Closing this closes the driver.
   *
   * @param deadlineNanos longest time that work on the device may take, at least 1
   */
  public WatchedDriver(CudaDriver driver, long deadlineNanos) {
    super(driver);
    this.deadlineNanos = deadlineNanos;
  }

  /** Lets no call reach the driver of a context that was given up. */
  @Override
  protected CudaDriver target() {
    String why = givenUp;
    if (why != null) {
      throw new GpuException(GpuException.Kind.CONTEXT_LOST, why);
    }
    return driver;
  }

  private GpuException tooLate(String what) {
    givenUp =
        what
            + " did not end within "
            + TimeUnit.NANOSECONDS.toMillis(deadlineNanos)
            + " ms, so the context was given up";
    return new GpuException(GpuException.Kind.CONTEXT_LOST, givenUp);
  }

  @Override
  public void free(long address) {
    release("freeing device memory", () -> driver.free(address));
  }

  @Override
  public PinnedMemory allocatePinned(long bytes) {
    PinnedMemory memory = target().allocatePinned(bytes);
    return new PinnedMemory() {
      @Override
      public MemorySegment segment() {
        return memory.segment();
      }

      @Override
      public long deviceAddress() {
        return memory.deviceAddress();
      }

      @Override
      public void free() {
        release("freeing pinned memory", memory::free);
      }
    };
  }

  @Override
  public Registration register(long address, long bytes) {
    Registration registration = target().register(address, bytes);
    return new Registration() {
      @Override
      public long deviceAddress() {
        return registration.deviceAddress();
      }

      @Override
      public void release() {
        WatchedDriver.this.release("ending a registration", registration::release);
      }
    };
  }

  /** Calls the driver on another thread, which may wait for kernels, until the deadline. */
  private void release(String what, Runnable call) {
    target();
    CompletableFuture<Void> released =
        start(
            "vamana-gpu-release",
            () -> {
              driver.bind();
              call.run();
            });
    boolean ended;
    try {
      ended = ended(released);
    } catch (GpuException e) {
      if (e.contextLost() == false) {
        givenUp = what + " failed, so the context was given up: " + e.getMessage();
      }
      throw e.asLoss();
    }
    if (ended == false) {
      throw tooLate(what);
    }
  }

  private static CompletableFuture<Void> start(String name, Runnable call) {
    return CompletableFuture.runAsync(
        call,
        task -> {
          Thread thread = new Thread(task, name);
          thread.setDaemon(true);
          thread.start();
        });
  }

  /** Waits until the call has ended, at most until the deadline. Throws what the call threw. */
  private boolean ended(CompletableFuture<Void> call) {
    long end = System.nanoTime() + deadlineNanos;
    boolean interrupted = false;
    try {
      while (true) {
        try {
          call.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
          return true;
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException e) {
      if (e.getCause() instanceof Error error) {
        throw error;
      }
      throw (RuntimeException) e.getCause();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  @Override
  public long createStream(Urgency urgency) {
    long stream = target().createStream(urgency);
    try {
      ends.put(stream, driver.createEvent());
      return stream;
    } catch (Throwable e) {
      Cleanup.after(e, () -> driver.destroyStream(stream));
      throw e;
    }
  }

  @Override
  public void destroyStream(long stream) {
    target();
    Long end = ends.remove(stream);
    try {
      if (end != null) {
        destroyEvent(end);
      }
    } finally {
      driver.destroyStream(stream);
    }
  }

  @Override
  public void synchronize(long stream) {
    long end = ends.get(stream);
    record(end, stream);
    long start = System.nanoTime();
    for (int step = 0; done(end) == false; step++) {
      if (System.nanoTime() - start > SPIN_NANOS) {
        LockSupport.parkNanos(NAP_NANOS);
      } else {
        Spin.once(step);
      }
    }
    // nothing is left to wait for; a failure of the work is reported here
    driver.synchronize(stream);
  }

  @Override
  public void destroyEvent(long event) {
    recorded.remove(event);
    super.destroyEvent(event);
  }

  @Override
  public void record(long event, long stream) {
    super.record(event, stream);
    recorded.put(event, System.nanoTime());
  }

  @Override
  public boolean done(long event) {
    if (super.done(event)) {
      return true;
    }
    Long since = recorded.get(event);
    if (since != null && System.nanoTime() - since > deadlineNanos) {
      throw tooLate("work on the device");
    }
    return false;
  }

  /**
   * Closes the driver. Returns when that has ended, or at the deadline; {@link #closed} tells
   * which.
   */
  @Override
  public void close() {
    CompletableFuture<Void> begun;
    synchronized (this) {
      if (closing != null) {
        return;
      }
      begun = start("vamana-gpu-close", driver::close);
      closing = begun;
    }
    ended(begun);
  }

  /** Whether nothing of the context is left, because {@link #close} has ended. */
  public boolean closed() {
    CompletableFuture<Void> begun = closing;
    return begun != null && begun.isDone();
  }
}
