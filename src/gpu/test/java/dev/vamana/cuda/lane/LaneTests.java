package dev.vamana.cuda.lane;

import dev.vamana.cuda.FewThreads;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.Deadline;
import dev.vamana.cuda.driver.GatedDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.memory.Lease;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentBits;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.ResidentSegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests who gets what, and who gives it back, whatever callers, lane and closers do at once. */
public class LaneTests extends LuceneTestCase {

  /** A place on the device that knows when its last use ended. */
  static final class Place implements ResidentSegment {
    final AtomicInteger released = new AtomicInteger();
    private final AtomicInteger uses = new AtomicInteger(1);
    private final Lease lease = new Lease(null);
    volatile boolean broken;

    @Override
    public ResidentBits bits() {
      return null;
    }

    @Override
    public Lease lease() {
      return lease;
    }

    @Override
    public Placement placement() {
      return Placement.EXACT;
    }

    @Override
    public long descriptor() {
      return 1;
    }

    @Override
    public boolean wholeCopies() {
      return false;
    }

    @Override
    public boolean reranksOnDevice() {
      return true;
    }

    @Override
    public ResidentRows rows() {
      return null;
    }

    @Override
    public void hold() {
      uses.incrementAndGet();
    }

    @Override
    public void release() {
      if (uses.decrementAndGet() == 0) {
        released.incrementAndGet();
        if (broken) {
          throw new IllegalStateException("a bug");
        }
      }
    }
  }

  /** A ticket for one item, which gets the number of its batch as its result. */
  static final class Request extends Ticket {
    final int kind;
    final AtomicInteger freed = new AtomicInteger();
    private int batch = -1;

    Request(int kind, ResidentSegment segment) {
      super(hold(List.of(segment)), new int[] {0});
      this.kind = kind;
    }

    @Override
    public DeviceResult result(int i) {
      return new DeviceResult(new int[] {batch}, new float[1], 1, 1, true, false, null);
    }

    @Override
    protected void free() {
      freed.incrementAndGet();
    }
  }

  /** A lane whose batches do what the test says. */
  private static class TestLane extends BatchLane<Request> {
    final List<List<Request>> batches = new ArrayList<>();
    final AtomicInteger left = new AtomicInteger();
    private final Consumer<List<Request>> work;

    TestLane(CudaDriver driver, Consumer<List<Request>> work, Consumer<GpuException> onLost) {
      super("test-lane", driver, onLost, new SpareProcessors());
      this.work = work;
    }

    TestLane(ThreadFactory threads, CudaDriver driver, Consumer<GpuException> onLost) {
      super(threads, "test-lane", driver, onLost, new SpareProcessors());
      this.work = batch -> {};
    }

    @Override
    protected boolean alike(Request first, Request ticket) {
      return first.kind == ticket.kind;
    }

    @Override
    protected int maxBatch() {
      return 3;
    }

    @Override
    protected void search(List<Request> batch) {
      batches.add(batch);
      work.accept(batch);
      for (Request request : batch) {
        request.batch = batches.size() - 1;
      }
    }

    @Override
    protected void abandoned() {
      left.incrementAndGet();
    }

    @Override
    public void free() {}
  }

  /** A lane with several launches in flight. One of kind 0 never ends, others end at once. */
  private static final class LaunchingLane extends Lane<Request> {
    private final Map<Request, Long> running = new LinkedHashMap<>();

    LaunchingLane(CudaDriver driver, Consumer<GpuException> onLost) {
      super("test-launches", driver, onLost, SpareProcessors.always());
    }

    @Override
    protected boolean advance() {
      List<Request> ended = running.keySet().stream().filter(each -> each.kind > 0).toList();
      running.keySet().removeAll(ended);
      end(ended, null);
      Request next = inbox().poll();
      if (next != null && begin(next)) {
        running.put(next, System.nanoTime());
      }
      return next != null || ended.isEmpty() == false;
    }

    @Override
    protected boolean busy() {
      return running.isEmpty() == false;
    }

    @Override
    protected long busySince() {
      return running.values().iterator().next();
    }

    @Override
    protected void abandon(GpuException why) {
      end(running.keySet(), why);
    }

    @Override
    public void free() {}
  }

  private final SimulatedDriver driver = new SimulatedDriver(SimulatedKernels.NONE, 1 << 20, true);
  private final AtomicReference<GpuException> lost = new AtomicReference<>();
  private final Waiters waiters = new Waiters(Waiters.usualSpinners(), SpareProcessors.always());
  private final Place place = new Place();
  private final Lease lease = place.lease();
  private final CountDownLatch begun = new CountDownLatch(1);
  private final CountDownLatch go = new CountDownLatch(1);

  private static void pass(CountDownLatch latch) {
    try {
      assertTrue(latch.await(2, TimeUnit.MINUTES));
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  /** Says that a batch has begun, and holds it until the test lets it go. */
  private void block() {
    begun.countDown();
    pass(go);
  }

  private static void awaitTrue(java.util.function.BooleanSupplier condition) throws Exception {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    while (condition.getAsBoolean() == false) {
      assertTrue("not within two minutes", System.nanoTime() < end);
      Thread.sleep(1);
    }
  }

  public void testWhatIsAlikeAndWaitsIsOneBatch() throws Exception {
    TestLane lane = new TestLane(driver, batch -> block(), lost::set);
    List<Request> requests = new ArrayList<>();
    for (int kind : new int[] {7, 1, 2, 1, 1, 1, 2}) {
      requests.add(new Request(kind, place));
      lane.submit(requests.get(requests.size() - 1));
      if (requests.size() == 1) {
        pass(begun);
      }
    }
    assertEquals(7, lane.pending());
    go.countDown();
    List<Integer> batches = new ArrayList<>();
    for (Request request : requests) {
      assertTrue(waiters.await(request, () -> false));
      batches.add(request.result(0).ordinals()[0]);
      request.leave();
      assertEquals(1, request.freed.get());
    }
    assertEquals(List.of(0, 1, 2, 1, 1, 3, 2), batches);
    lane.stop();
    assertEquals(0, lane.pending());
    place.release();
    assertEquals(1, place.released.get());
    driver.close();
  }

  public void testClosingLetsCallersGoAndWaitsForReaders() throws Exception {
    TestLane lane =
        new TestLane(
            driver,
            batch -> {
              assertTrue(lease.beginReading());
              block();
              lease.endReading();
            },
            lost::set);
    Request running = new Request(0, place);
    lane.submit(running);
    pass(begun);
    Thread closer = new Thread(lease::close);
    closer.start();
    assertTrue(waiters.await(running, () -> false));
    assertTrue(running.closing());
    assertFalse(running.done());
    running.leave();
    assertFalse("no further batch", lease.beginReading());
    assertTrue("a thread still reads", closer.isAlive());
    Request late = new Request(0, place);
    lane.submit(late);
    go.countDown();
    closer.join();
    assertTrue(waiters.await(late, () -> false));
    late.leave();
    lane.stop();
    assertEquals("the late one is not searched", 1, lane.batches.size());
    assertEquals(1, running.freed.get());
    assertEquals(1, late.freed.get());
    driver.close();
  }

  public void testFailuresAndLoss() throws Exception {
    AtomicReference<RuntimeException> next = new AtomicReference<>();
    TestLane lane =
        new TestLane(
            driver,
            batch -> {
              if (next.get() != null) {
                throw next.get();
              }
            },
            lost::set);
    GpuException failed = new GpuException(GpuException.Kind.FAILED, "once");
    for (RuntimeException thrown :
        new RuntimeException[] {failed, null, new IllegalStateException("a bug"), null}) {
      next.set(thrown);
      Request request = new Request(0, place);
      lane.submit(request);
      assertTrue(waiters.await(request, () -> false));
      if (lost.get() != null || thrown instanceof IllegalStateException) {
        assertTrue(request.failure().contextLost());
        awaitTrue(() -> lost.get() != null);
      } else {
        assertSame(thrown, request.failure());
      }
      request.leave();
      assertEquals(1, request.freed.get());
    }
    lane.stop();
    Request late = new Request(0, place);
    lane.submit(late);
    assertTrue(late.failure().contextLost());
    late.leave();
    place.release();
    assertEquals(1, place.released.get());
    driver.close();
  }

  private Request submitted(Lane<Request> lane, int kind) {
    Request request = new Request(kind, place);
    lane.submit(request);
    return request;
  }

  /** A request that the device does not end fails, and no later call reaches the driver. */
  public void testDeadline() {
    Deadline deadline = new Deadline(TimeUnit.MILLISECONDS.toNanos(20));
    CudaDriver gated = new GatedDriver(driver, deadline);
    Lane<Request> lane =
        random().nextBoolean()
            ? new LaunchingLane(gated, lost::set)
            : new TestLane(gated, batch -> deadline.await(() -> batch.get(0).kind > 0), lost::set);
    Request endless = submitted(lane, 0);
    while (lost.get() == null) {
      // other work that goes on does not put it off
      Request other = submitted(lane, 1);
      assertTrue(waiters.await(other, () -> false));
      other.leave();
    }
    assertTrue(waiters.await(endless, () -> false));
    assertSame(lost.get(), endless.failure());
    assertTrue(lost.get().contextLost());
    endless.leave();
    lane.stop();
    expectThrows(GpuException.class, () -> gated.allocate(1));
    driver.bind();
    driver.free(driver.allocate(1));
    place.release();
    assertEquals(1, place.released.get());
    driver.close();
  }

  /** Whoever ends a ticket, its caller goes on if that fails, and the context is given up. */
  public void testErrorOfTheThreadThatEndsATicket() throws Exception {
    boolean other = random().nextBoolean();
    TestLane lane =
        new TestLane(driver, batch -> block(), lost::set) {
          @Override
          protected boolean handOver(Request request) {
            if (other) {
              new Thread(() -> finishHandedOver(request), "ends-for-test-lane").start();
            }
            return other;
          }
        };
    Request request = submitted(lane, 0);
    pass(begun);
    place.broken = true;
    place.release();
    go.countDown();
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    assertTrue("it ended", waiters.await(request, () -> System.nanoTime() > end));
    request.leave();
    awaitTrue(() -> lost.get() != null);
    assertTrue(lost.get().contextLost());
    lane.stop();
    assertEquals(0, lane.pending());
    assertEquals(1, request.freed.get());
    driver.close();
  }

  /** Callers are told if the lane's thread cannot be started, and the next call tries again. */
  public void testThreadThatCannotBeStarted() {
    TestLane lane = new TestLane(new FewThreads(2), driver, lost::set);
    for (int i = 0; i < 2; i++) {
      Request request = submitted(lane, 0);
      assertTrue(request.done());
      assertEquals(GpuException.Kind.FAILED, request.failure().kind());
      assertEquals("the thread test-lane could not be started", request.failure().getMessage());
      request.leave();
      assertEquals(1, request.freed.get());
      assertEquals(0, lane.pending());
    }
    Request request = submitted(lane, 0);
    assertTrue(waiters.await(request, () -> false));
    assertNull(request.failure());
    request.leave();
    lane.stop();
    assertNull(lost.get());
    place.release();
    assertEquals(1, place.released.get());
    driver.close();
  }

  /** Whatever happens when: everything is freed once, and everybody is told. */
  public void testManyThreads() throws Exception {
    boolean fails = random().nextBoolean();
    AtomicInteger count = new AtomicInteger();
    int lossAt = fails ? 50 + random().nextInt(500) : Integer.MAX_VALUE;
    TestLane lane =
        new TestLane(
            driver,
            batch -> {
              int n = count.incrementAndGet();
              if (n == lossAt) {
                throw new GpuException(GpuException.Kind.CONTEXT_LOST, "lost");
              }
              if (n % 17 == 0) {
                throw new GpuException(GpuException.Kind.FAILED, "failed");
              }
            },
            lost::set);
    Queue<Request> all = new ConcurrentLinkedQueue<>();
    Queue<Place> places = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    for (int t = 0; t < 4; t++) {
      Random random = new Random(random().nextLong());
      Thread thread =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < 300; i++) {
                    call(lane, all, places, random);
                  }
                } catch (Throwable e) {
                  failures.add(e);
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    lane.stop();
    assertEquals(List.of(), List.copyOf(failures));
    assertEquals(0, lane.pending());
    assertTrue("lost only if told", (lost.get() != null) == (count.get() >= lossAt));
    for (Request request : all) {
      assertEquals(1, request.freed.get());
    }
    for (Place each : places) {
      assertEquals(1, each.released.get());
    }
    driver.close();
  }

  private void call(TestLane lane, Queue<Request> all, Queue<Place> places, Random random) {
    Place own = new Place();
    places.add(own);
    List<Request> requests = new ArrayList<>();
    for (int i = 0; i <= random.nextInt(3); i++) {
      Request request = new Request(random.nextInt(2), own);
      requests.add(request);
      all.add(request);
      lane.submit(request);
    }
    own.release();
    if (random.nextInt(4) == 0) {
      own.lease().close();
    }
    for (Request request : requests) {
      boolean wanted = random.nextInt(3) > 0;
      if (waiters.await(request, () -> wanted == false) && request.closing() == false) {
        assertTrue(request.done());
        if (request.failure() == null) {
          assertTrue(request.result(0).ordinals()[0] >= 0);
        }
      }
      request.leave();
    }
  }
}
