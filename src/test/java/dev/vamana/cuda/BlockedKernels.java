package dev.vamana.cuda;

import dev.vamana.cuda.driver.SimulatedKernels;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Kernels that block until a test releases them, so that the test can act while the device is busy.
 */
final class BlockedKernels implements SimulatedKernels {

  final AtomicInteger started = new AtomicInteger();
  private final SimulatedKernels kernels;
  private final CountDownLatch gate = new CountDownLatch(1);

  BlockedKernels(SimulatedKernels kernels) {
    this.kernels = kernels;
  }

  @Override
  public Body find(String name) {
    Body body = kernels.find(name);
    return (blocks, threads, sharedBytes, parameters) -> {
      started.incrementAndGet();
      try {
        if (gate.await(60, TimeUnit.SECONDS) == false) {
          throw new IllegalStateException("nobody lets the kernel go");
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      body.run(blocks, threads, sharedBytes, parameters);
    };
  }

  void awaitStart() throws InterruptedException {
    while (started.get() == 0) {
      Thread.sleep(1);
    }
  }

  void letGo() {
    gate.countDown();
  }
}
