package dev.vamana.cuda.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CountDownLatch;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests the drivers on which other tests rely. */
public class SimulatedDriverTests extends LuceneTestCase {

  /** Adds one to each of the ints: parameters are address and count. */
  private static final SimulatedKernels.Body INCREMENT =
      (blocks, threads, sharedBytes, parameters) -> {
        long count = parameters.get(ValueLayout.JAVA_LONG, 8);
        MemorySegment ints =
            MemorySegment.ofAddress(parameters.get(ValueLayout.JAVA_LONG, 0))
                .reinterpret(4 * count);
        for (long i = 0; i < count; i++) {
          int value = ints.getAtIndex(ValueLayout.JAVA_INT, i);
          ints.setAtIndex(ValueLayout.JAVA_INT, i, value + 1);
        }
      };

  private static final SimulatedKernels KERNELS =
      name ->
          switch (name) {
            case "increment" -> INCREMENT;
            case "trap" ->
                (blocks, threads, sharedBytes, parameters) -> {
                  throw new IllegalStateException("trapped");
                };
            default -> null;
          };

  private static SimulatedDriver open(long deviceBytes) {
    SimulatedDriver driver = new SimulatedDriver(KERNELS, deviceBytes, random().nextBoolean());
    driver.bind();
    return driver;
  }

  private static MemorySegment parameters(Arena arena, long address, long count) {
    MemorySegment parameters = arena.allocate(16, 8);
    parameters.set(ValueLayout.JAVA_LONG, 0, address);
    parameters.set(ValueLayout.JAVA_LONG, 8, count);
    return parameters;
  }

  /** Work behind an endless kernel in a stream does not run, since its input would be missing. */
  public void testNothingRunsBehindAnEndlessKernel() {
    CountDownLatch end = new CountDownLatch(1);
    SeamDriver driver = SeamDriver.make(KERNELS, 1 << 20, true, end);
    driver.bind();
    try (Arena arena = Arena.ofConfined()) {
      long stream = driver.createStream();
      CudaDriver.PinnedMemory pinned = driver.allocatePinned(4);
      pinned.segment().set(ValueLayout.JAVA_INT, 0, 7);
      MemorySegment parameters = parameters(arena, pinned.deviceAddress(), 1);
      driver.arm(InterceptedDriver.Call.LAUNCH, SeamDriver.Fault.ENDLESS, 1);
      for (int i = 0; i < 2; i++) {
        driver.launch(driver.kernel("increment"), 1, 32, 0, parameters, stream);
      }
      end.countDown();
      GpuException lost =
          expectThrows(GpuException.class, () -> driver.simulated().synchronize(stream));
      assertEquals(GpuException.Kind.CONTEXT_LOST, lost.kind());
      assertEquals(7, pinned.segment().get(ValueLayout.JAVA_INT, 0));
    } finally {
      driver.close();
    }
  }

  public void testMistakesAreFound() {
    SimulatedDriver driver = open(1000);
    long address = driver.allocate(16);
    driver.free(address);
    expectThrows(AssertionError.class, () -> driver.free(address));
    long stream = driver.createStream();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment host = arena.allocate(16);
      expectThrows(AssertionError.class, () -> driver.copyToDevice(address, host, stream));
    }
    driver.destroyStream(stream);
    AssertionError e = expectThrows(AssertionError.class, driver::close);
    assertTrue(e.getMessage(), e.getMessage().contains("freed twice"));
    assertTrue(e.getMessage(), e.getMessage().contains("freed memory"));
  }

  public void testLeftoversAreFound() {
    SimulatedDriver driver = open(1000);
    driver.allocate(16);
    AssertionError e = expectThrows(AssertionError.class, driver::close);
    assertTrue(e.getMessage(), e.getMessage().contains("16 bytes of device"));
    expectThrows(AssertionError.class, () -> driver.allocate(1));
  }

  public void testThreadsHaveToBind() throws InterruptedException {
    SimulatedDriver driver = open(1000);
    AssertionError[] found = new AssertionError[1];
    Thread thread =
        new Thread(() -> found[0] = expectThrows(AssertionError.class, driver::freeBytes));
    thread.start();
    thread.join();
    assertTrue(found[0].getMessage(), found[0].getMessage().contains("did not bind"));
    expectThrows(AssertionError.class, driver::close);
  }

  public void testPagesAreRegisteredOnce() {
    try (Arena arena = Arena.ofConfined()) {
      long address = arena.allocate(4 * SimulatedDriver.PAGE, SimulatedDriver.PAGE).address();
      SimulatedDriver driver = open(1000);
      CudaDriver.Registration first = driver.register(address, 2 * SimulatedDriver.PAGE);
      CudaDriver.Registration second =
          driver.register(address + 2 * SimulatedDriver.PAGE, SimulatedDriver.PAGE);
      assertEquals(3 * SimulatedDriver.PAGE, driver.registeredBytes());
      first.release();
      second.release();
      assertEquals(0, driver.registeredBytes());
      driver.registers(false);
      GpuException e =
          expectThrows(GpuException.class, () -> driver.register(address, SimulatedDriver.PAGE));
      assertEquals(GpuException.Kind.NOT_SUPPORTED, e.kind());
      driver.registers(true);
      driver.register(address, 2 * SimulatedDriver.PAGE).release();
      driver.register(address, 2 * SimulatedDriver.PAGE);
      expectThrows(
          AssertionError.class,
          () -> driver.register(address + SimulatedDriver.PAGE, SimulatedDriver.PAGE));
      expectThrows(AssertionError.class, driver::close);
    }
  }
}
