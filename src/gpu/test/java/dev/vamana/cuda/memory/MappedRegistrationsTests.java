package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.tests.util.LuceneTestCase;

public class MappedRegistrationsTests extends LuceneTestCase {

  private static final long PAGE = MappedRegistrations.PAGE;
  private static final int PAGES = 64;
  private static final Runnable GO_ON = () -> {};

  private SimulatedDriver driver;
  private MemoryBudget budget;
  private Arena arena;
  private MemorySegment mapping;

  @Override
  public void setUp() throws Exception {
    super.setUp();
    driver = new SimulatedDriver(SimulatedKernels.NONE, 1 << 20, false);
    driver.bind();
    budget = new MemoryBudget("pinned page cache", PAGES * PAGE);
    arena = Arena.ofShared();
    mapping = arena.allocate(PAGES * PAGE, PAGE);
  }

  @Override
  public void tearDown() throws Exception {
    assertEquals(0, budget.used());
    driver.close();
    arena.close();
    super.tearDown();
  }

  private MappedRegistrations registrations(long maxPiecePages) {
    return new MappedRegistrations(driver::register, budget, maxPiecePages * PAGE);
  }

  private void assertPinned(long pages) {
    assertEquals(pages * PAGE, driver.registeredBytes());
    assertEquals(pages * PAGE, budget.used());
  }

  public void testSlicesShareThePageTheyMeetIn() {
    MappedRegistrations registrations = registrations(PAGES);
    MappedRegistrations.Range first = registrations.register(mapping.asSlice(100, 2 * PAGE), GO_ON);
    assertEquals(mapping.address() + 100, first.deviceAddress());
    assertPinned(3);
    MappedRegistrations.Range second =
        registrations.register(mapping.asSlice(2 * PAGE + 100, PAGE), GO_ON);
    assertEquals(mapping.address() + 2 * PAGE + 100, second.deviceAddress());
    assertPinned(4);
    first.release();
    // its last page is the second's first
    assertPinned(4);
    second.release();
    assertPinned(0);
    second.release();
    assertPinned(0);
  }

  public void testRandomSlices() {
    for (int round = 0; round < 20; round++) {
      MappedRegistrations registrations = registrations(1 + random().nextInt(PAGES));
      List<MappedRegistrations.Range> ranges = new ArrayList<>();
      for (int step = 0; step < 100; step++) {
        if (ranges.isEmpty() || random().nextInt(3) > 0) {
          long from = random().nextInt((int) (PAGES * PAGE));
          long bytes = 1 + random().nextInt((int) (PAGES * PAGE - from));
          if (random().nextBoolean()) {
            bytes = Math.min(bytes, 3 * PAGE);
          }
          MappedRegistrations.Range range =
              registrations.register(mapping.asSlice(from, bytes), GO_ON);
          assertEquals(mapping.address() + from, range.deviceAddress());
          ranges.add(range);
        } else {
          ranges.remove(random().nextInt(ranges.size())).release();
        }
        assertEquals(driver.registeredBytes(), budget.used());
      }
      ranges.forEach(MappedRegistrations.Range::release);
      assertPinned(0);
    }
  }

  public void testOverBudget() {
    budget = new MemoryBudget("pinned page cache", 4 * PAGE);
    MappedRegistrations registrations = registrations(1);
    GpuException e =
        expectThrows(
            GpuException.class, () -> registrations.register(mapping.asSlice(0, 5 * PAGE), GO_ON));
    assertEquals(GpuException.Kind.OUT_OF_MEMORY, e.kind());
    assertPinned(0);
    registrations.register(mapping.asSlice(0, 4 * PAGE), GO_ON).release();
  }

  public void testNotSupported() {
    driver.registers(false);
    MappedRegistrations registrations = registrations(1);
    assertTrue(registrations.supported());
    GpuException e =
        expectThrows(
            GpuException.class, () -> registrations.register(mapping.asSlice(0, 10), GO_ON));
    assertEquals(GpuException.Kind.NOT_SUPPORTED, e.kind());
    assertFalse(registrations.supported());
    assertPinned(0);
    driver.registers(true);
    registrations.register(mapping.asSlice(0, 10), GO_ON).release();
    // what works once may be refused for another file
    driver.registers(false);
    expectThrows(GpuException.class, () -> registrations.register(mapping.asSlice(0, 10), GO_ON));
    assertTrue(registrations.supported());
  }

  /** A driver that shows pages of different registrations at addresses apart from each other. */
  public void testPiecesThatAreNotSideBySideForTheDevice() {
    MappedRegistrations registrations =
        new MappedRegistrations(
            (address, bytes) -> {
              CudaDriver.Registration real = driver.register(address, bytes);
              return new CudaDriver.Registration(real.deviceAddress() * 2, real::release);
            },
            budget,
            2 * PAGE);
    MappedRegistrations.Range one = registrations.register(mapping.asSlice(PAGE + 5, 10), GO_ON);
    assertEquals((mapping.address() + PAGE) * 2 + 5, one.deviceAddress());
    GpuException e =
        expectThrows(
            GpuException.class,
            () -> registrations.register(mapping.asSlice(PAGE, 2 * PAGE), GO_ON));
    assertEquals(GpuException.Kind.NOT_SUPPORTED, e.kind());
    assertPinned(1);
    one.release();
  }

  public void testAbort() {
    MappedRegistrations registrations = registrations(1);
    int[] asked = {0};
    Runnable abort =
        () -> {
          if (++asked[0] == 3) {
            throw new AlreadyClosedException("closing");
          }
        };
    expectThrows(
        AlreadyClosedException.class,
        () -> registrations.register(mapping.asSlice(0, 5 * PAGE), abort));
    assertEquals(3, asked[0]);
    assertPinned(0);
  }
}
