package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import org.apache.lucene.index.VectorSimilarityFunction;

/** Tests the placements of segments as memory runs out and is freed. */
public class EvictionTests extends ResidencyTestCase {

  public void testSmallerPlacementsAsMemoryRunsOut() throws IOException {
    open(null, bytes(Placement.EXACT) + bytes(Placement.EXACT_INT8) + 255);
    views.forEach(residency::opened);
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact", "uploaded 1 exact-int8"), events());
    use(0);
    use(1);
    assertAbsent(2, Absence.OVER_BUDGET);
    pass(Duration.ofSeconds(1));
    assertAbsent(3, Absence.OVER_BUDGET);
    assertTrue(counter(residency, "device_bytes") <= counter(residency, "device_limit_bytes"));
    // what one leaves goes to the one that was asked for last
    residency.closing(views.get(1));
    executor.runAll();
    assertEquals(List.of("uploaded 3 exact-int8"), events());
    use(3);
    assertAbsent(2, Absence.OVER_BUDGET);
  }

  public void testEvictsLeastRecentlyUsed() throws IOException {
    open(Placement.EXACT, 3 * bytes(Placement.EXACT));
    for (int i = 0; i < 3; i++) {
      residency.opened(views.get(i));
    }
    executor.runAll();
    pass(Duration.ofSeconds(1));
    use(0);
    pass(Duration.ofSeconds(1));
    use(2);
    pass(Duration.ofSeconds(1));
    events();
    // nothing has been unused for long enough
    residency.opened(views.get(3));
    executor.runAll();
    assertEquals(List.of(), events());
    assertAbsent(3, Absence.OVER_BUDGET);
    pass(MINUTE);
    assertNull(residency.acquire(views.get(3)));
    executor.runAll();
    assertEquals(List.of("evicted 1", "uploaded 3 exact"), events());
    assertEquals(1, counter(residency, "evictions"));
    assertEquals(Absence.EVICTED, residency.absence(views.get(1)));
    // segments that take turns at once evict unused segments, not each other
    assertAbsent(1, Absence.QUEUED);
    executor.runAll();
    assertEquals(List.of("evicted 0", "uploaded 1 exact"), events());
    assertAbsent(0, Absence.QUEUED);
    executor.runAll();
    assertEquals(List.of("evicted 2", "uploaded 0 exact"), events());
    for (int round = 0; round < 5; round++) {
      assertNull(residency.acquire(views.get(2)));
      use(0);
      use(1);
      use(3);
      executor.runAll();
    }
    assertEquals(List.of(), events());
    assertAbsent(2, Absence.OVER_BUDGET);
  }

  /** Searches need scratch: only kept segments and those in use stay then. */
  public void testScratchOfSearchesEvicts() throws IOException {
    long each = bytes(Placement.EXACT);
    open(Placement.EXACT, 4 * each);
    for (int i = 0; i < 4; i++) {
      residency.opened(views.get(i));
      pass(Duration.ofSeconds(1));
    }
    executor.runAll();
    events();
    residency.keep(views.get(0), true);
    ResidentSegment inUse = residency.acquire(views.get(1));
    assertFalse("for builds nothing goes", residency.reserve(each));
    assertFalse(residency.claim(2 * each + 1));
    assertEquals("in vain, nothing goes", List.of(), events());
    assertTrue(residency.claim(each));
    assertEquals(List.of("evicted 2"), events());
    assertEquals(each, counter(residency, "scratch_bytes"));
    assertEquals(4 * each, counter(residency, "device_bytes"));
    assertTrue(residency.claim(each));
    assertEquals(List.of("evicted 3"), events());
    assertFalse(residency.claim(1));
    residency.release(2 * each);
    assertEquals(0, counter(residency, "scratch_bytes"));
    inUse.release();
    executor.runAll();
  }

  /** Eviction is for a graph on the device, not for one placement rather than another there. */
  public void testEvictsForAGraphOnTheDevice() throws IOException {
    segments.close();
    segments =
        new TestSegments(
            true, true, parameters(8, 4), VectorSimilarityFunction.EUCLIDEAN, 24, 2000, 2000, 2000);
    views = segments.views(FLOATS);
    open(null, bytes(Placement.EXACT) + bytes(Placement.EXACT_INT8) - 1);
    residency.opened(views.get(0));
    pass(Duration.ofSeconds(1));
    residency.opened(views.get(1));
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact", "uploaded 1 in-memory"), events());
    pass(MINUTE);
    residency.opened(views.get(2));
    executor.runAll();
    assertEquals(List.of("evicted 0", "uploaded 2 exact"), events());
    // the graph of the first would have to be read in place now
    residency.closing(views.get(1));
    assertAbsent(0, Absence.QUEUED);
    executor.runAll();
    assertEquals(List.of("uploaded 0 in-memory"), events());
  }

  public void testBetterPlacesWhenMemoryIsFreed() throws IOException {
    open(null, bytes(Placement.EXACT) + bytes(Placement.EXACT_INT8) + 255);
    residency.opened(views.get(0));
    residency.opened(views.get(1));
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact", "uploaded 1 exact-int8"), events());
    ResidentSegment before = residency.acquire(views.get(1));
    residency.closing(views.get(0));
    executor.runAll();
    assertEquals(List.of("uploaded 1 exact"), events());
    ResidentSegment after = residency.acquire(views.get(1));
    assertEquals(Placement.EXACT_INT8, before.placement());
    assertEquals(Placement.EXACT, after.placement());
    assertTrue(before.descriptor() != after.descriptor());
    long both = bytes(Placement.EXACT) + bytes(Placement.EXACT_INT8);
    assertEquals(both, device.deviceBytes());
    assertEquals(both, counter(residency, "device_bytes"));
    after.release();
    before.release();
    executor.runAll();
    assertEquals(bytes(Placement.EXACT), device.deviceBytes());
    assertEquals(0, device.registeredBytes());
    assertEquals(List.of(), events());
  }

  /** A place that failed for good is not tried each time that memory is freed. */
  public void testBetterPlacesAreTriedOnce() throws IOException {
    device.registers(false);
    open(null, bytes(Placement.EXACT) + bytes(Placement.EXACT_INT8) + 255);
    residency.opened(views.get(0));
    residency.opened(views.get(1));
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact", "uploaded 1 exact-int8"), events());
    driver.fail(FaultyDriver.Operation.COPY, 1, GpuException.Kind.NOT_SUPPORTED);
    residency.closing(views.get(0));
    executor.runAll();
    assertEquals(List.of("failed 1"), events());
    for (int i = 2; i < 4; i++) {
      residency.opened(views.get(i));
      executor.runAll();
      residency.closing(views.get(i));
      executor.runAll();
    }
    assertEquals(
        List.of("uploaded 2 exact", "uploaded 1 exact-float16", "uploaded 3 exact-float16"),
        events());
    use(1);
  }

  /** Others take memory that the budget leaves. */
  public void testDeviceIsFullBeforeTheBudget() throws IOException {
    open(null, DEVICE);
    driver.fail(FaultyDriver.Operation.ALLOCATE, 1, GpuException.Kind.OUT_OF_MEMORY);
    residency.opened(views.get(0));
    executor.runAll();
    assertEquals(List.of("uploaded 0 exact-float16"), events());
    driver.failAll(FaultyDriver.Operation.ALLOCATE, GpuException.Kind.OUT_OF_MEMORY);
    residency.opened(views.get(1));
    executor.runAll();
    assertEquals(List.of("failed 1"), events());
    assertAbsent(1, Absence.OVER_BUDGET);
    driver.heal();
    assertAbsent(1, Absence.OVER_BUDGET);
    executor.runAll();
    pass(MINUTE);
    assertAbsent(1, Absence.QUEUED);
    executor.runAll();
    assertEquals(List.of("uploaded 1 exact"), events());
  }

  public void testWithoutRegistration() {
    device.registers(false);
    open(Placement.MAPPED_GRAPH, DEVICE);
    residency.opened(views.get(0));
    residency.opened(views.get(1));
    executor.runAll();
    assertEquals(List.of("failed 0"), events());
    assertAbsent(0, Absence.FAILED);
    assertAbsent(1, Absence.UNSUPPORTED);
    residency.close();
    open(Placement.IN_MEMORY, bytesOf(Placement.IN_MEMORY));
    residency.opened(views.get(2));
    executor.runAll();
    assertEquals(List.of("uploaded 2 in-memory"), events());
    ResidentSegment use = residency.acquire(views.get(2));
    assertFalse(use.reranksOnDevice());
    use.release();
  }

  private long bytesOf(Placement placement) {
    try {
      return bytes(placement);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
