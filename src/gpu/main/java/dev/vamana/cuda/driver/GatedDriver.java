package dev.vamana.cuda.driver;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The gate in front of a session's driver. It shuts when the context is given up: every later call
 * fails with {@link GpuException.Kind#CONTEXT_LOST} without reaching the driver, whoever makes it.
 * Whoever waits for the device looks at the {@link Deadline} itself.
 *
 * <p>Freeing memory and closing the context cannot be polled: they wait inside the driver for all
 * kernels of the context. So other threads call them, one for all releases, and the gate waits
 * until the deadline. A context that cannot give memory back is given up, since only closing it
 * does then. If closing takes longer, it goes on in its thread; {@link #closed} is false until it
 * has ended, and memory of the context is not given back before.
 */
public final class GatedDriver extends ForwardingDriver {

  private static final long KEEP_ALIVE_SECONDS = 10;
  private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Deadline deadline;
  private final ExecutorService releases;
  private volatile CompletableFuture<Void> closing;

  /** Makes the open gate of a driver. Closing it closes the driver. */
  public GatedDriver(CudaDriver driver, Deadline deadline) {
    super(driver);
    this.deadline = deadline;
    ThreadPoolExecutor one =
        new ThreadPoolExecutor(
            1,
            1,
            KEEP_ALIVE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> thread(task, "vamana-gpu-release"));
    one.allowCoreThreadTimeOut(true);
    releases = one;
  }

  @Override
  protected CudaDriver target() {
    deadline.checkHolds();
    return driver;
  }

  @Override
  public Deadline deadline() {
    return deadline;
  }

  @Override
  public void free(long address) {
    release("freeing device memory", () -> driver.free(address));
  }

  @Override
  public PinnedMemory allocatePinned(long bytes) {
    PinnedMemory memory = target().allocatePinned(bytes);
    return new PinnedMemory(
        memory.segment(),
        memory.deviceAddress(),
        () -> release("freeing pinned memory", memory::free));
  }

  @Override
  public Registration register(long address, long bytes) {
    Registration registration = target().register(address, bytes);
    return new Registration(
        registration.deviceAddress(),
        () -> release("ending a registration", registration::release));
  }

  private void release(String what, Runnable call) {
    target();
    CompletableFuture<Void> released =
        start(
            () -> {
              driver.bind();
              call.run();
            },
            releases);
    boolean ended;
    try {
      ended = ended(released);
    } catch (GpuException e) {
      if (e.contextLost() == false) {
        deadline.giveUp(what + " failed, so the context was given up: " + e.getMessage());
      }
      throw e.asLoss();
    }
    if (ended == false) {
      throw deadline.tooLate(what);
    }
  }

  private static Thread thread(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /** Calls on another thread; on this one if the machine has no room for another thread. */
  private static CompletableFuture<Void> start(Runnable call, Executor executor) {
    try {
      return CompletableFuture.runAsync(call, executor);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      return CompletableFuture.runAsync(call, Runnable::run);
    }
  }

  /** Waits until the call has ended, at most until the deadline. Throws what the call threw. */
  private boolean ended(CompletableFuture<Void> call) {
    long begun = System.nanoTime();
    long again = 0;
    boolean interrupted = false;
    try {
      while (true) {
        try {
          long left = deadline.nanos() - (System.nanoTime() - begun);
          call.get(Math.max(again, left), TimeUnit.NANOSECONDS);
          return true;
        } catch (InterruptedException e) {
          interrupted = true;
        } catch (TimeoutException e) {
          if (again > 0) {
            return false;
          }
          // if the process was stopped meanwhile, the other thread has just begun to run again
          again = Math.min(deadline.nanos(), AGAIN_NANOS);
        }
      }
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
      // what is being released may hang
      begun = start(driver::close, task -> thread(task, "vamana-gpu-close").start());
      closing = begun;
    }
    releases.shutdown();
    ended(begun);
  }

  /** Whether nothing of the context is left, because {@link #close} has ended. */
  public boolean closed() {
    CompletableFuture<Void> begun = closing;
    return begun != null && begun.isDone();
  }
}
