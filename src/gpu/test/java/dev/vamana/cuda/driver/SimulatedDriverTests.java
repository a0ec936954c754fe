package dev.vamana.cuda.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
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
      driver.arm(SeamDriver.Call.LAUNCH, SeamDriver.Fault.ENDLESS, 1);
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

  public void testCopiesAndLaunchesRunInStreamOrder() {
    int count = 1 + random().nextInt(1000);
    int times = random().nextInt(20);
    try (Arena arena = Arena.ofConfined();
        SimulatedDriver driver = open(1 << 20)) {
      long stream = driver.createStream();
      long other = driver.createStream();
      long event = driver.createEvent();
      long address = driver.allocate(4L * count);
      assertEquals(0, address % 256);
      assertEquals((1 << 20) - 4L * count, driver.freeBytes());
      CudaDriver.PinnedMemory pinned = driver.allocatePinned(4L * count);
      MemorySegment ints = pinned.segment();
      for (int i = 0; i < count; i++) {
        ints.setAtIndex(ValueLayout.JAVA_INT, i, 3 * i);
      }
      driver.copyToDevice(address, ints, stream);
      MemorySegment parameters = parameters(arena, address, count);
      for (int i = 0; i < times; i++) {
        driver.launch(driver.kernel("increment"), 1, 32, 0, parameters, stream);
      }
      parameters.fill((byte) -1);
      driver.record(event, stream);
      driver.await(event, other);
      driver.copyFromDevice(ints, address, other);
      driver.synchronize(other);
      assertTrue(driver.done(event));
      for (int i = 0; i < count; i++) {
        assertEquals(3 * i + times, ints.getAtIndex(ValueLayout.JAVA_INT, i));
      }
      assertEquals(times, driver.launches());
      assertEquals(5, driver.leftovers().size());
      driver.destroyEvent(event);
      driver.destroyStream(stream);
      driver.destroyStream(other);
      driver.free(address);
      pinned.free();
      assertEquals(List.of(), driver.leftovers());
    }
  }

  public void testRowsAreSpreadByThePitch() {
    int width = 1 + random().nextInt(40);
    int pitch = width + random().nextInt(16);
    int rows = 1 + random().nextInt(30);
    byte[] bytes = new byte[width * rows];
    random().nextBytes(bytes);
    try (Arena arena = Arena.ofConfined();
        SimulatedDriver driver = open(1 << 20)) {
      long stream = driver.createStream();
      long address = driver.allocate((long) pitch * rows);
      driver.fill(address, (byte) 7, (long) pitch * rows, stream);
      MemorySegment source = arena.allocate(bytes.length);
      source.copyFrom(MemorySegment.ofArray(bytes));
      driver.copyRowsToDevice(address, pitch, source, width, rows, stream);
      MemorySegment target = arena.allocate((long) pitch * rows);
      driver.copyFromDevice(target, address, stream);
      driver.synchronize(stream);
      for (int i = 0; i < pitch * rows; i++) {
        int column = i % pitch;
        byte expected = column < width ? bytes[i / pitch * width + column] : 7;
        assertEquals(expected, target.get(ValueLayout.JAVA_BYTE, i));
      }
      driver.free(address);
      driver.destroyStream(stream);
    }
  }

  public void testMemoryRunsOutAndComesBack() {
    try (SimulatedDriver driver = open(1000)) {
      long address = driver.allocate(600);
      GpuException e = expectThrows(GpuException.class, () -> driver.allocate(401));
      assertEquals(GpuException.Kind.OUT_OF_MEMORY, e.kind());
      driver.free(address);
      driver.free(driver.allocate(1000));
    }
  }

  public void testATrapLosesTheContext() {
    try (Arena arena = Arena.ofConfined();
        SimulatedDriver driver = open(1000)) {
      long stream = driver.createStream();
      driver.launch(driver.kernel("trap"), 1, 1, 0, arena.allocate(8), stream);
      GpuException e = expectThrows(GpuException.class, () -> driver.synchronize(stream));
      assertTrue(e.contextLost());
      expectThrows(GpuException.class, () -> driver.allocate(1));
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

  public void testFaultsHitTheCallThatTheyAreMeantFor() {
    FaultyDriver driver = new FaultyDriver(open(1000));
    driver.fail(FaultyDriver.Operation.ALLOCATE, 2, GpuException.Kind.OUT_OF_MEMORY);
    long address = driver.allocate(10);
    GpuException e = expectThrows(GpuException.class, () -> driver.allocate(10));
    assertEquals(GpuException.Kind.OUT_OF_MEMORY, e.kind());
    driver.free(driver.allocate(10));
    driver.free(address);
    assertEquals(3, driver.count(FaultyDriver.Operation.ALLOCATE));
    driver.failAll(FaultyDriver.Operation.STREAM, GpuException.Kind.FAILED);
    expectThrows(GpuException.class, driver::createStream);
    expectThrows(GpuException.class, driver::createStream);
    driver.heal();
    driver.createStream();
    driver.fail(FaultyDriver.Operation.ALLOCATE, 1, GpuException.Kind.CONTEXT_LOST);
    assertTrue(expectThrows(GpuException.class, () -> driver.allocate(1)).contextLost());
    driver.heal();
    assertTrue(expectThrows(GpuException.class, driver::createStream).contextLost());
    driver.close();
  }

  public void testRandomFaultsAreReproducible() {
    long seed = random().nextLong();
    assertEquals(failures(seed), failures(seed));
  }

  private static String failures(long seed) {
    FaultyDriver driver = new FaultyDriver(open(1 << 20));
    driver.failAtRandom(seed, 0.2);
    StringBuilder outcome = new StringBuilder();
    for (int i = 0; i < 100 && driver.lost() == false; i++) {
      try {
        long address = driver.allocate(10);
        outcome.append('a');
        driver.free(address);
      } catch (GpuException e) {
        outcome.append(e.kind());
      }
    }
    driver.close();
    return outcome.toString();
  }
}
