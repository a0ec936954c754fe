package dev.vamana.cuda;

import dev.vamana.cuda.driver.SimulatedKernels;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Kernels that block until a test releases them, so that the test can act while the device is busy.
 */
final class BlockedKernels implements SimulatedKernels {

  private static final long MOST_NANOS = TimeUnit.MINUTES.toNanos(2);

  private final SimulatedKernels kernels;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private boolean shut = true;
  private int started;

  BlockedKernels(SimulatedKernels kernels) {
    this.kernels = kernels;
  }

  @Override
  public Body find(String name) {
    Body body = kernels.find(name);
    return (blocks, threads, sharedBytes, parameters) -> {
      pass();
      body.run(blocks, threads, sharedBytes, parameters);
    };
  }

  private void pass() {
    lock.lock();
    try {
      started++;
      changed.signalAll();
      long left = MOST_NANOS;
      while (shut) {
        if (left <= 0) {
          throw new IllegalStateException("nobody lets the kernel go");
        }
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until a kernel has begun. */
  void awaitStart() throws InterruptedException {
    lock.lock();
    try {
      long left = MOST_NANOS;
      while (started == 0) {
        if (left <= 0) {
          throw new AssertionError("no kernel begins");
        }
        left = changed.awaitNanos(left);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Lets kernels that begin from now on wait again. */
  void shut() {
    lock.lock();
    try {
      shut = true;
    } finally {
      lock.unlock();
    }
  }

  void letGo() {
    lock.lock();
    try {
      shut = false;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }
}
