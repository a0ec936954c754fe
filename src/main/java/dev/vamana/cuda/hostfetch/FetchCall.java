package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.driver.GpuException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** The items of one call of {@link HostFetch#submit}. The caller waits for it. */
public final class FetchCall {

  private final FetchSlot[] slots;
  private final CountDownLatch open;
  private volatile GpuException failure;

  FetchCall(FetchSlot[] slots, int jobs) {
    this.slots = slots;
    this.open = new CountDownLatch(jobs);
  }

  /**
   * Ends one of the call's jobs.
   *
   * @param why the failure, or null
   */
  void complete(GpuException why) {
    if (why != null) {
      failure = why;
    }
    open.countDown();
  }

  /** Waits until all items have ended, after success or failure. */
  public void join() {
    boolean interrupted = false;
    while (true) {
      try {
        open.await();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Waits for the results. The driving thread checks meanwhile whether items are cancelled.
   *
   * @return one result per item, in order
   * @throws GpuException if the device failed; the CPU has to answer all items then
   * @throws IOException if a segment cannot be read
   * @throws org.apache.lucene.store.AlreadyClosedException if a segment was closed meanwhile
   */
  public List<FetchResult> await() throws IOException {
    join();
    if (failure != null) {
      throw new GpuException(failure.kind(), failure.getMessage(), failure);
    }
    List<FetchResult> results = new ArrayList<>(slots.length);
    for (FetchSlot slot : slots) {
      if (slot.failure() != null) {
        rethrow(slot.failure());
      }
      results.add(slot.result());
    }
    return results;
  }

  private static void rethrow(Exception e) throws IOException {
    if (e instanceof UncheckedIOException unchecked) {
      throw unchecked.getCause();
    }
    if (e instanceof IOException io) {
      throw io;
    }
    if (e instanceof RuntimeException runtime) {
      throw runtime;
    }
    throw new IllegalStateException("a walk failed", e);
  }
}
