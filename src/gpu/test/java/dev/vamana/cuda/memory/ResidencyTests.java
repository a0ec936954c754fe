package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.lucene.index.VectorSimilarityFunction;

/** Tests the life of a segment from opening to closing. */
public class ResidencyTests extends ResidencyTestCase {

  public void testUploadedInTheBackground() {
    open(null, DEVICE);
    SegmentView view = views.get(0);
    residency.opened(view);
    residency.opened(view);
    assertAbsent(0, Absence.QUEUED);
    assertEquals(1, counter(residency, "segments_waiting"));
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact"), events());
    ResidentSegment use = residency.acquire(view);
    assertSame(view, use.view());
    assertEquals(Placement.EXACT, use.placement());
    assertTrue(use.reranksOnDevice());
    assertEquals(0, use.descriptor() % 256);
    use.release();
    assertEquals(1, counter(residency, "uploads"));
    assertTrue(counter(residency, "upload_bytes") >= 100 * 24 * 4);
    assertTrue(counter(residency, "upload_nanos") > 0);
    assertEquals(1, counter(residency, "hits"));
    assertEquals(1L, counter(residency, "misses_queued"));
    assertEquals(1, counter(residency, "segments_exact"));
    assertEquals(1, sum(residency, "segments_"));
    assertEquals(device.deviceBytes(), counter(residency, "bytes_exact"));
    assertEquals(device.deviceBytes(), counter(residency, "device_bytes"));
    assertEquals(DEVICE, counter(residency, "device_limit_bytes"));
    assertEquals(0, counter(residency, "page_cache_bytes"));
    assertEquals(16 * MEGABYTE, counter(residency, "page_cache_limit_bytes"));
    assertEquals(0, counter(residency, "segments_waiting"));
    residency.closing(view);
    assertEquals(0, device.deviceBytes());
    assertEquals(0, sum(residency, "segments_"));
  }

  public void testSegmentsWithoutGraphAreIgnored() throws IOException {
    try (TestSegments flat =
        new TestSegments(
            true,
            true,
            parameters(8, 4).withThresholds(1000, 1000),
            VectorSimilarityFunction.EUCLIDEAN,
            24,
            50)) {
      open(null, DEVICE);
      SegmentView view = flat.view(0, FLOATS);
      residency.opened(view);
      assertNull(residency.acquire(view));
      executor.runAll();
      assertNull(residency.acquire(view));
      assertEquals(Absence.UNSUPPORTED, residency.absence(view));
      assertEquals(2L, counter(residency, "misses_unsupported"));
      residency.closing(view);
      assertEquals(List.of(), events());
    }
  }

  public void testClosingFreesAfterTheLastUse() {
    open(Placement.EXACT, DEVICE);
    residency.opened(views.get(0));
    executor.runAll();
    ResidentSegment first = residency.acquire(views.get(0));
    ResidentSegment second = residency.acquire(views.get(0));
    // files are not read: does not wait
    residency.closing(views.get(0));
    assertAbsent(0, Absence.CLOSED);
    assertTrue(device.deviceBytes() > 0);
    first.release();
    executor.runAll();
    assertTrue(device.deviceBytes() > 0);
    second.release();
    executor.runAll();
    assertEquals(0, device.deviceBytes());
    assertAbsent(0, Absence.CLOSED);
  }

  public void testClosingWaitsForReadersOfFiles() throws InterruptedException {
    open(Placement.MAPPED_GRAPH, DEVICE);
    residency.opened(views.get(0));
    executor.runAll();
    ResidentSegment use = residency.acquire(views.get(0));
    CountDownLatch closed = new CountDownLatch(1);
    Thread closer =
        new Thread(
            () -> {
              residency.closing(views.get(0));
              closed.countDown();
            });
    closer.start();
    while (closer.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    assertEquals(1, closed.getCount());
    assertTrue(device.registeredBytes() > 0);
    use.release();
    closed.await();
    // the closer has freed all, without the executor
    assertEquals(0, device.registeredBytes());
    assertEquals(0, device.deviceBytes());
    closer.join();
    executor.runAll();
  }

  private void renew() {
    device = new SimulatedDriver(kernels, DEVICE, false);
    driver = new FaultyDriver(device);
  }

  public void testLostContext() {
    open(Placement.MAPPED_GRAPH, DEVICE);
    residency.opened(views.get(0));
    residency.opened(views.get(1));
    executor.runAll();
    ResidentSegment use = residency.acquire(views.get(0));
    device.lose("trapped");
    residency.abandon();
    assertAbsent(1, Absence.NO_DEVICE);
    // files may be closed though a launch that is lost was reading them
    residency.closing(views.get(0));
    use.release();
    executor.runAll();
    assertAbsent(1, Absence.NO_DEVICE);
    executor.runAll();
    assertEquals(0, counter(residency, "device_limit_bytes"));
    driver.close();
    renew();
  }

  /** A task that is still queued when a context is given up leaves the context's driver alone. */
  public void testDriverIsNotUsedAfterItWasGivenUp() throws IOException {
    for (boolean begun : new boolean[] {false, true}) {
      open(Placement.EXACT, DEVICE);
      if (begun) {
        residency.opened(views.get(0));
        executor.runAll();
        events();
      }
      residency.opened(views.get(1));
      device.lose("trapped");
      residency.abandon();
      driver.close();
      executor.runAll();
      assertAbsent(1, Absence.NO_DEVICE);
      executor.runAll();
      assertAbsent(1, Absence.NO_DEVICE);
      assertEquals(List.of(), events());
      residency.close();
      renew();
    }
  }

  public void testExecutorThatTakesNoMore() {
    open(
        Placement.EXACT,
        DEVICE,
        16 * MEGABYTE,
        new Executor() {
          private int taken;

          @Override
          public void execute(Runnable task) {
            if (taken++ > 0) {
              throw new RejectedExecutionException("shut down");
            }
            task.run();
          }
        });
    residency.opened(views.get(0));
    ResidentSegment use = residency.acquire(views.get(0));
    residency.opened(views.get(1));
    assertAbsent(1, Absence.QUEUED);
    residency.closing(views.get(0));
    assertTrue(device.deviceBytes() > 0);
    use.release();
    assertEquals(0, device.deviceBytes());
    residency.closing(views.get(1));
  }
}
