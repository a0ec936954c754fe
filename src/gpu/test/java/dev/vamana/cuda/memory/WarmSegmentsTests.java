package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/** Tests warming, keeping and evicting segments, and changes of limits. */
public class WarmSegmentsTests extends ResidencyTestCase {

  private DevicePresence presence(int segment) {
    return residency.presence(views.get(segment));
  }

  private void assertState(int segment, DevicePresence.State state, String reason) {
    assertEquals(state, presence(segment).state());
    assertEquals(reason, presence(segment).reason());
  }

  public void testPresence() throws IOException {
    open(Placement.EXACT, bytes(Placement.EXACT));
    assertState(0, DevicePresence.State.REFUSED, "closed");
    residency.opened(views.get(0));
    residency.opened(views.get(1));
    assertState(0, DevicePresence.State.WAITING, "queued");
    executor.runAll();
    assertEquals(DevicePresence.resident("exact", bytes(Placement.EXACT)), presence(0));
    assertState(1, DevicePresence.State.REFUSED, "over budget");
    assertEquals("it only tells", 0, counter(residency, "hits"));
    assertEquals(0L, counter(residency, "misses_over_budget"));
    residency.closing(views.get(0));
    assertState(0, DevicePresence.State.REFUSED, "closed");
  }

  public void testAskedForIsUploadedFirst() {
    open(Placement.EXACT, DEVICE);
    views.forEach(residency::opened);
    residency.warm(views.get(2));
    residency.keep(views.get(3), true);
    residency.warm(views.get(2));
    executor.runAll();
    assertEquals(
        List.of("uploaded 2 exact", "uploaded 3 exact", "uploaded 0 exact", "uploaded 1 exact"),
        events());
  }

  /** A search may queue again what failed or was refused only after a while; whoever asks may. */
  public void testAskedForIsTriedAgainAtOnce() throws IOException {
    open(Placement.EXACT, bytes(Placement.EXACT));
    driver.fail(FaultyDriver.Operation.COPY, 1, GpuException.Kind.FAILED);
    residency.opened(views.get(0));
    executor.runAll();
    assertEquals(List.of("failed 0"), events());
    assertAbsent(0, Absence.FAILED);
    residency.warm(views.get(0));
    assertState(0, DevicePresence.State.WAITING, "queued");
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact"), events());
    // it does not push out what was used within the last minute, this one included
    residency.warm(views.get(1));
    executor.runAll();
    assertState(1, DevicePresence.State.REFUSED, "over budget");
    pass(MINUTE);
    residency.warm(views.get(1));
    executor.runAll();
    assertEquals(List.of("evicted 0", "uploaded 1 exact"), events());
  }

  public void testKeptDoNotGiveWayToOthers() throws IOException {
    open(Placement.EXACT, 2 * bytes(Placement.EXACT));
    residency.keep(views.get(0), true);
    residency.opened(views.get(1));
    executor.runAll();
    events();
    pass(MINUTE.multipliedBy(2));
    residency.warm(views.get(2));
    executor.runAll();
    assertEquals(List.of("evicted 1", "uploaded 2 exact"), events());
    pass(MINUTE.multipliedBy(2));
    residency.warm(views.get(3));
    executor.runAll();
    assertEquals(List.of("evicted 2", "uploaded 3 exact"), events());
    residency.keep(views.get(0), false);
    pass(MINUTE.multipliedBy(2));
    use(3);
    residency.warm(views.get(1));
    executor.runAll();
    assertEquals(List.of("evicted 0", "uploaded 1 exact"), events());
  }

  public void testOthersGiveWayToKeptAtOnce() throws IOException {
    open(Placement.EXACT, 2 * bytes(Placement.EXACT));
    residency.opened(views.get(0));
    residency.opened(views.get(1));
    executor.runAll();
    use(0);
    ResidentSegment inUse = residency.acquire(views.get(1));
    events();
    residency.keep(views.get(2), true);
    executor.runAll();
    assertEquals(List.of("evicted 0", "uploaded 2 exact"), events());
    residency.keep(views.get(3), true);
    executor.runAll();
    assertState(3, DevicePresence.State.REFUSED, "over budget");
    inUse.release();
    // called at each refresh: no sooner than a search would try it
    residency.keep(views.get(3), true);
    assertState(3, DevicePresence.State.REFUSED, "over budget");
    pass(MINUTE);
    residency.keep(views.get(3), true);
    executor.runAll();
    assertEquals(List.of("evicted 1", "uploaded 3 exact"), events());
    // among each other the ordinary rule holds
    use(2);
    pass(Duration.ofSeconds(30));
    use(3);
    residency.keep(views.get(0), true);
    executor.runAll();
    assertState(0, DevicePresence.State.REFUSED, "over budget");
    pass(MINUTE);
    use(3);
    residency.warm(views.get(0));
    executor.runAll();
    assertEquals(List.of("evicted 2", "uploaded 0 exact"), events());
  }

  public void testTakenFromTheDevice() throws IOException {
    open(Placement.EXACT, 2 * bytes(Placement.EXACT));
    assertEquals(0, residency.evict(views.get(0)));
    views.forEach(residency::opened);
    assertEquals("queued", 0, residency.evict(views.get(3)));
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact", "uploaded 1 exact"), events());
    assertState(3, DevicePresence.State.REFUSED, "evicted");
    assertEquals(bytes(Placement.EXACT), residency.evict(views.get(0)));
    assertEquals(0, residency.evict(views.get(0)));
    assertEquals(bytes(Placement.EXACT), device.deviceBytes());
    executor.runAll();
    // what waited for room takes it; what was taken does not come by itself
    assertEquals(List.of("evicted 0", "uploaded 2 exact"), events());
    assertState(0, DevicePresence.State.REFUSED, "evicted");
    assertEquals(1, counter(residency, "evictions"));
    residency.closing(views.get(2));
    assertAbsent(0, Absence.QUEUED);
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact"), events());
  }

  public void testTakenWhileItIsUsed() throws Exception {
    open(Placement.MAPPED_GRAPH, DEVICE);
    residency.opened(views.get(0));
    executor.runAll();
    ResidentSegment use = residency.acquire(views.get(0));
    long bytes = device.deviceBytes();
    assertEquals(bytes, residency.evict(views.get(0)));
    assertEquals(bytes, device.deviceBytes());
    // it may even come back meanwhile
    residency.warm(views.get(0));
    executor.runAll();
    use(0);
    assertEquals(2 * bytes, device.deviceBytes());
    Thread closer = new Thread(() -> residency.closing(views.get(0)));
    closer.start();
    while (closer.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    assertTrue("launches still read its files", device.registeredBytes() > 0);
    use.release();
    closer.join();
    assertEquals(0, device.registeredBytes());
    assertEquals(0, device.deviceBytes());
    executor.runAll();
  }

  /** In the middle of its upload a segment is taken, and maybe asked for again. */
  public void testTakenWhileItIsUploaded() throws IOException {
    for (boolean again : new boolean[] {false, true}) {
      SegmentView view = views.get(0);
      int[] asked = {0};
      residency =
          new Residency(
              new ForwardingDriver(driver) {
                @Override
                public void bind() {
                  if (asked[0]++ == 0) {
                    // begun, and not yet copied
                    assertEquals(0, residency.evict(view));
                    if (again) {
                      residency.warm(view);
                    }
                  }
                  super.bind();
                }
              },
              ResidencyOptions.defaults(1 << 30)
                  .withPlacement(Placement.EXACT)
                  .withLimits(MemoryLimit.bytes(DEVICE), MemoryLimit.bytes(MEGABYTE)),
              executor,
              () -> {},
              ResidencyListener.NONE,
              new ResidencyCounters(),
              System::nanoTime);
      residency.opened(view);
      executor.runAll();
      if (again) {
        assertState(0, DevicePresence.State.RESIDENT, null);
      } else {
        assertState(0, DevicePresence.State.REFUSED, "evicted");
        assertEquals(0, device.deviceBytes());
        residency.warm(view);
        executor.runAll();
        assertState(0, DevicePresence.State.RESIDENT, null);
      }
      residency.close();
      assertEquals(0, device.deviceBytes());
    }
  }

  public void testSmallerLimitEvicts() throws IOException {
    long each = bytes(Placement.EXACT);
    open(Placement.EXACT, 4 * each);
    views.forEach(residency::opened);
    residency.keep(views.get(1), true);
    executor.runAll();
    pass(Duration.ofSeconds(1));
    use(0);
    pass(Duration.ofSeconds(1));
    ResidentSegment inUse = residency.acquire(views.get(2));
    events();
    adjust(2 * each, MEGABYTE, Placement.EXACT);
    assertEquals(2 * each, counter(residency, "device_limit_bytes"));
    executor.runAll();
    // the second was asked for first, but is kept
    assertEquals(List.of("evicted 3", "evicted 0"), events());
    assertEquals(2 * each, device.deviceBytes());
    adjust(each, MEGABYTE, Placement.EXACT);
    executor.runAll();
    assertEquals(List.of("evicted 2"), events());
    assertEquals("a launch uses it", 2 * each, device.deviceBytes());
    inUse.release();
    executor.runAll();
    assertEquals(List.of(), events());
    assertEquals(each, device.deviceBytes());
    use(1);
    adjust(0, MEGABYTE, Placement.EXACT);
    executor.runAll();
    assertEquals(List.of("evicted 1"), events());
    assertEquals(0, device.deviceBytes());
    adjust(4 * each, MEGABYTE, Placement.EXACT);
    for (int i = 0; i < 4; i++) {
      residency.warm(views.get(i));
    }
    executor.runAll();
    assertEquals(4 * each, device.deviceBytes());
  }

  public void testLargerLimitBringsWhatWaited() throws IOException {
    long each = bytes(Placement.EXACT);
    open(Placement.EXACT, each);
    for (SegmentView view : views) {
      residency.opened(view);
      pass(Duration.ofSeconds(1));
    }
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact"), events());
    adjust(3 * each, MEGABYTE, Placement.EXACT);
    executor.runAll();
    assertEquals(List.of("uploaded 3 exact", "uploaded 2 exact"), events());
  }

  public void testPlacementCountsForUploadsToCome() {
    open(Placement.EXACT, DEVICE);
    residency.opened(views.get(0));
    executor.runAll();
    adjust(DEVICE, 16 * MEGABYTE, Placement.IN_MEMORY);
    residency.opened(views.get(1));
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact", "uploaded 1 in-memory"), events());
    assertEquals("exact", presence(0).placement());
    residency.evict(views.get(0));
    residency.warm(views.get(0));
    executor.runAll();
    assertEquals("in-memory", presence(0).placement());
  }

  private void adjust(long device, long pageCache, Placement placement) {
    residency.adjust(
        MemoryLimit.bytes(device), MemoryLimit.bytes(pageCache), Placement.only(placement));
  }
}
