package dev.vamana.cuda.lane;

import dev.vamana.cuda.FewThreads;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.lane.LaneTests.Place;
import dev.vamana.cuda.lane.LaneTests.Request;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests lanes whose threads are stopped for a while, or cannot be started. */
public class LaneThreadTests extends LuceneTestCase {

  /** A lane whose batches do nothing. */
  private static final class PlainLane extends BatchLane<Request> {
    PlainLane(ThreadFactory threads, CudaDriver driver, Consumer<GpuException> onLost) {
      super(threads, "test-plain", driver, onLost, SpareProcessors.always());
    }

    @Override
    protected boolean alike(Request first, Request ticket) {
      return true;
    }

    @Override
    protected int maxBatch() {
      return 3;
    }

    @Override
    protected void search(List<Request> batch) {}

    @Override
    public void free() {}
  }

  /**
   * A lane whose process was stopped between its question to the driver and its look at the clock.
   */
  private static final class StoppedLane extends Lane<Request> {
    private final List<Request> running = new ArrayList<>();
    private long since;
    private int asked;

    StoppedLane(CudaDriver driver, Consumer<GpuException> onLost) {
      super("test-stopped", driver, onLost, SpareProcessors.always());
    }

    @Override
    protected boolean advance() {
      Request next = inbox().poll();
      if (next != null && begin(next)) {
        running.add(next);
        since = System.nanoTime();
        return true;
      }
      if (running.isEmpty()) {
        return false;
      }
      if (asked++ == 0) {
        since -= TimeUnit.MINUTES.toNanos(1);
        return false;
      }
      end(running, null);
      running.clear();
      return true;
    }

    @Override
    protected boolean busy() {
      return running.isEmpty() == false;
    }

    @Override
    protected long busySince() {
      return since;
    }

    @Override
    protected void abandon(GpuException why) {
      end(running, why);
    }

    @Override
    public void free() {}
  }

  private final SimulatedDriver driver = new SimulatedDriver(SimulatedKernels.NONE, 1 << 20, true);
  private final AtomicReference<GpuException> lost = new AtomicReference<>();
  private final Waiters waiters = new Waiters(Waiters.usualSpinners(), SpareProcessors.always());
  private final Place place = new Place();

  private Request submitted(Lane<Request> lane) {
    Request request = new Request(0, place);
    lane.submit(request);
    return request;
  }

  /** Callers are told if the lane's thread cannot be started, and the next call tries again. */
  public void testThreadThatCannotBeStarted() {
    PlainLane lane = new PlainLane(new FewThreads(2), driver, lost::set);
    for (int i = 0; i < 2; i++) {
      Request request = submitted(lane);
      assertTrue(request.done());
      assertEquals(GpuException.Kind.FAILED, request.failure().kind());
      assertEquals("the thread test-plain could not be started", request.failure().getMessage());
      request.leave();
      assertEquals(1, request.freed.get());
      assertEquals(0, lane.pending());
    }
    Request request = submitted(lane);
    assertTrue(waiters.await(request, () -> false));
    assertNull(request.failure());
    request.leave();
    lane.stop();
    assertNull(lost.get());
    place.release();
    assertEquals(1, place.released.get());
    driver.close();
  }
}
