package dev.vamana.cuda.driver;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakFilters;
import dev.vamana.cuda.compile.NodeKernels;
import dev.vamana.cuda.kernel.HostLibrary;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.tests.mockfile.FilterPath;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.QuickPatchThreadsFilter;
import org.junit.After;
import org.junit.AfterClass;
import org.junit.Before;
import org.junit.BeforeClass;

/**
 * Tests the driver on a device; skipped without one. {@link StubbedDriverTests} runs these tests on
 * a driver library without a device.
 */
@ThreadLeakFilters(
    defaultFilters = true,
    filters = {QuickPatchThreadsFilter.class, HostLibrary.CleanerThread.class})
public class JcudaDriverTests extends LuceneTestCase {

  /** System property: fail instead of skipping where there is no device. */
  static final String REQUIRED = "tests.gpu.required";

  private static final long PAGE = 4096;

  private static Path compiledKernels;

  private DeviceProbe probe;
  private CudaDriver driver;
  private long stream;
  private Arena arena;

  @BeforeClass
  public static void makeFolder() {
    compiledKernels = FilterPath.unwrap(createTempDir());
  }

  @AfterClass
  public static void forgetFolder() {
    compiledKernels = null;
  }

  @Before
  public void openDriver() {
    // a process with stand-ins of NVIDIA's libraries has one of the compiler, too
    int threads = Runtime.getRuntime().availableProcessors();
    probe = new DeviceProbe(0, new NodeKernels(compiledKernels, null, threads, message -> {}));
    if (Boolean.getBoolean(REQUIRED)) {
      assertTrue(probe.result().description(), probe.result().usable());
    }
    assumeTrue(probe.result().description(), probe.result().usable());
    arena = Arena.ofShared();
    reopen();
  }

  private void reopen() {
    driver = probe.open();
    driver.bind();
    stream = driver.createStream();
  }

  @After
  public void closeDriver() {
    if (driver != null) {
      driver.close();
      arena.close();
    }
  }

  /** A {@code vamana::Probe}. */
  private MemorySegment probeOf(long source, long target, int rows, int rowBytes, int hops) {
    MemorySegment block = arena.allocate(40, 8);
    block.set(ValueLayout.JAVA_LONG, 0, source);
    block.set(ValueLayout.JAVA_LONG, 8, target);
    block.set(ValueLayout.JAVA_INT, 16, rows);
    block.set(ValueLayout.JAVA_INT, 20, rowBytes);
    block.set(ValueLayout.JAVA_INT, 28, hops);
    return block;
  }

  private MemorySegment randomBytes(long size) {
    byte[] bytes = new byte[Math.toIntExact(size)];
    random().nextBytes(bytes);
    return arena.allocate(size, 16).copyFrom(MemorySegment.ofArray(bytes));
  }

  /** A file with these bytes, mapped to be read. */
  private MemorySegment mapped(MemorySegment bytes) throws IOException {
    Path file = FilterPath.unwrap(createTempFile());
    Files.write(file, bytes.toArray(ValueLayout.JAVA_BYTE));
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
      return channel.map(FileChannel.MapMode.READ_ONLY, 0, bytes.byteSize(), arena);
    }
  }

  private static void assertSame(MemorySegment expected, MemorySegment actual) {
    assertEquals(-1, expected.mismatch(actual));
  }

  /** Bytes that a kernel copies from an address that the device can read. */
  private MemorySegment copiedByKernel(long source, long bytes, int sharedBytes) {
    long target = driver.allocate(bytes);
    MemorySegment parameters = probeOf(source, target, Math.toIntExact(bytes / 16), 16, 0);
    driver.launch(driver.kernel("probe_copy"), 4, 128, sharedBytes, parameters, stream);
    parameters.fill((byte) 0);
    MemorySegment found = arena.allocate(bytes, 16);
    driver.copyFromDevice(found, target, stream);
    driver.synchronize(stream);
    driver.free(target);
    return found;
  }

  public void testProbing() {
    DeviceInfo device = driver.device();
    assertEquals(0, device.ordinal());
    assertTrue(device.computeCapability() >= DeviceProbe.MIN_COMPUTE_CAPABILITY);
    assertTrue(device.multiprocessors() > 0);
    assertTrue(device.sharedBytesPerBlock() > 48 << 10);
    assertTrue(device.cacheBytes() > 0);
    assertTrue(driver.freeBytes() <= device.totalBytes());
    String description = probe.result().description();
    assertTrue(description, description.contains(device.name()));
    assertTrue(description, description.contains("libcuda.so.1 for CUDA 1"));
  }

  public void testBytesComeBackAsTheyWent() {
    for (int round = 0; round < 20; round++) {
      MemorySegment bytes = randomBytes(1 + random().nextInt(1 << 20));
      long address = driver.allocate(bytes.byteSize());
      assertEquals(0, address % 256);
      MemorySegment back = arena.allocate(bytes.byteSize());
      if (random().nextBoolean()) {
        CudaDriver.PinnedMemory pinned = driver.allocatePinned(bytes.byteSize());
        pinned.segment().copyFrom(bytes);
        driver.copyToDevice(address, pinned.segment(), stream);
        driver.synchronize(stream);
        pinned.segment().fill((byte) 0);
        driver.copyFromDevice(pinned.segment(), address, stream);
        driver.synchronize(stream);
        back.copyFrom(pinned.segment());
        pinned.free();
      } else {
        driver.copyToDevice(address, bytes, stream);
        driver.copyFromDevice(back, address, stream);
        driver.synchronize(stream);
      }
      assertSame(bytes, back);
      long cut = random().nextLong(bytes.byteSize());
      driver.fill(address + cut, (byte) -3, bytes.byteSize() - cut, stream);
      driver.copyFromDevice(back, address, stream);
      driver.synchronize(stream);
      bytes.asSlice(cut).fill((byte) -3);
      assertSame(bytes, back);
      driver.free(address);
    }
  }

  public void testRowsAreSpreadByThePitch() {
    for (int round = 0; round < 20; round++) {
      long width = 1 + random().nextInt(700);
      long pitch = (width + 15) / 16 * 16 + 16 * random().nextInt(3);
      long rows = 1 + random().nextInt(500);
      MemorySegment bytes = randomBytes(width * rows);
      long address = driver.allocate(pitch * rows);
      driver.fill(address, (byte) 7, pitch * rows, stream);
      driver.copyRowsToDevice(address, pitch, bytes, width, rows, stream);
      MemorySegment expected = arena.allocate(pitch * rows).fill((byte) 7);
      for (long row = 0; row < rows; row++) {
        MemorySegment.copy(bytes, row * width, expected, row * pitch, width);
      }
      MemorySegment back = arena.allocate(pitch * rows);
      driver.copyFromDevice(back, address, stream);
      driver.synchronize(stream);
      assertSame(expected, back);
      driver.free(address);
    }
  }

  public void testKernelsReadAndWritePinnedMemoryInPlace() {
    long bytes = 16L * (1 + random().nextInt(10_000));
    CudaDriver.PinnedMemory source = driver.allocatePinned(bytes);
    CudaDriver.PinnedMemory target = driver.allocatePinned(bytes);
    assertEquals(0, source.segment().address() % PAGE);
    source.segment().copyFrom(randomBytes(bytes));
    MemorySegment parameters =
        probeOf(source.deviceAddress(), target.deviceAddress(), Math.toIntExact(bytes / 16), 16, 0);
    driver.launch(driver.kernel("probe_copy"), 3, 64, 0, parameters, stream);
    driver.synchronize(stream);
    assertSame(source.segment(), target.segment());
    source.free();
    target.free();
    expectThrows(IllegalStateException.class, source::free);
  }

  public void testKernelsReadMappedFilesInPlace() throws IOException {
    int pages = 1 + random().nextInt(300);
    MemorySegment bytes = randomBytes(pages * PAGE);
    MemorySegment mapped = mapped(bytes);
    CudaDriver.Registration registration = driver.register(mapped.address(), bytes.byteSize());
    assertSame(bytes, copiedByKernel(registration.deviceAddress(), bytes.byteSize(), 0));
    GpuException e =
        expectThrows(GpuException.class, () -> driver.register(mapped.address(), PAGE));
    assertEquals(GpuException.Kind.OUT_OF_MEMORY, e.kind());
    registration.release();
    registration = driver.register(mapped.address(), PAGE);
    assertSame(bytes.asSlice(0, PAGE), copiedByKernel(registration.deviceAddress(), PAGE, 0));
    // what is still registered when the context goes can be registered in the next
    driver.close();
    reopen();
    driver.register(mapped.address(), bytes.byteSize()).release();
  }

  public void testEventsOrderStreams() {
    long other = driver.createStream();
    long event = driver.createEvent();
    assertTrue(driver.done(event));
    MemorySegment bytes = randomBytes(8 << 20);
    long source = driver.allocate(bytes.byteSize());
    long target = driver.allocate(bytes.byteSize());
    driver.copyToDevice(source, bytes, stream);
    MemorySegment parameters = probeOf(source, target, (8 << 20) / 16, 16, 0);
    driver.launch(driver.kernel("probe_copy"), 1, 32, 0, parameters, stream);
    driver.record(event, stream);
    driver.await(event, other);
    MemorySegment back = arena.allocate(bytes.byteSize());
    driver.copyFromDevice(back, target, other);
    driver.synchronize(other);
    assertTrue(driver.done(event));
    assertSame(bytes, back);
    driver.free(source);
    driver.free(target);
    driver.destroyEvent(event);
    driver.destroyStream(other);
    expectThrows(IllegalArgumentException.class, () -> driver.done(event));
    expectThrows(IllegalArgumentException.class, () -> driver.synchronize(other));
  }

  public void testKernels() {
    CudaDriver.Kernel kernel = driver.kernel("probe_copy");
    assertEquals("probe_copy", kernel.name());
    assertSame(kernel, driver.kernel("probe_copy"));
    int most = driver.device().sharedBytesPerBlock();
    assertTrue(kernel.blocksPerMultiprocessor(128, 0) >= 1);
    assertTrue(kernel.blocksPerMultiprocessor(128, most / 2 - 4096) >= 1);
    assertEquals(0, kernel.blocksPerMultiprocessor(128, most + 1));
    GpuException e = expectThrows(GpuException.class, () -> driver.kernel("no_such_kernel"));
    assertEquals(GpuException.Kind.FAILED, e.kind());
    assertTrue(e.getMessage(), e.getMessage().contains("no_such_kernel"));
  }

  private static void assertSame(CudaDriver.Kernel expected, CudaDriver.Kernel actual) {
    assertEquals(expected, actual);
  }

  public void testLaunchesWithMuchSharedMemory() {
    MemorySegment bytes = randomBytes(1600);
    long address = driver.allocate(1600);
    driver.copyToDevice(address, bytes, stream);
    assertSame(bytes, copiedByKernel(address, 1600, 100 << 10));
    GpuException e = expectThrows(GpuException.class, () -> copiedByKernel(address, 1600, 1 << 20));
    assertEquals(GpuException.Kind.FAILED, e.kind());
    assertTrue(e.getMessage(), e.getMessage().contains("1048576 bytes of shared memory"));
    assertSame(bytes, copiedByKernel(address, 1600, 0));
  }

  public void testMemoryRunsOutAndComesBack() {
    long total = driver.device().totalBytes();
    GpuException e = expectThrows(GpuException.class, () -> driver.allocate(total + 1));
    assertEquals(GpuException.Kind.OUT_OF_MEMORY, e.kind());
    List<Long> blocks = new ArrayList<>();
    long size = total / 4;
    try {
      for (int i = 0; i < 5; i++) {
        blocks.add(driver.allocate(size));
      }
      fail("more memory than there is");
    } catch (GpuException full) {
      assertEquals(GpuException.Kind.OUT_OF_MEMORY, full.kind());
    }
    long before = driver.freeBytes();
    assertTrue(before < size);
    for (long block : blocks) {
      driver.free(block);
    }
    // other processes may have taken memory of the device meanwhile, but hardly as much
    assertTrue(driver.freeBytes() >= before + blocks.size() * size / 2);
    MemorySegment bytes = randomBytes(160);
    long address = driver.allocate(160);
    driver.copyToDevice(address, bytes, stream);
    assertSame(bytes, copiedByKernel(address, 160, 0));
  }

  public void testATrappedKernelLosesTheContextAndANewOneWorks() throws IOException {
    // with a real device no later test of this process would get a context, see DeviceTrapTests
    assumeTrue("not the stand-in of a driver", driver.device().name().contains("stub"));
    MemorySegment content = randomBytes(4 * PAGE);
    MemorySegment mapped = mapped(content);
    CudaDriver.PinnedMemory pinned = driver.allocatePinned(1000);
    MemorySegment kept = pinned.segment();
    kept.fill((byte) 5);
    for (int round = 0; round < 3; round++) {
      driver.register(mapped.address(), mapped.byteSize());
      driver.launch(driver.kernel("probe_trap"), 1, 32, 0, probeOf(0, 0, 1, 16, 0), stream);
      driver.synchronize(stream);
      driver.launch(driver.kernel("probe_trap"), 1, 32, 0, probeOf(0, 0, 1, 16, 1), stream);
      GpuException e = expectThrows(GpuException.class, () -> driver.synchronize(stream));
      assertEquals(GpuException.Kind.CONTEXT_LOST, e.kind());
      e = expectThrows(GpuException.class, () -> driver.allocate(1));
      assertTrue(e.contextLost());
      assertTrue(e.getMessage(), e.getMessage().contains("CUDA_ERROR_LAUNCH_FAILED"));
      expectThrows(GpuException.class, driver::bind);
      driver.close();
      // threads that have not heard of it yet may still write
      kept.fill((byte) round);
      assertSame(content, mapped);
      reopen();
      MemorySegment bytes = randomBytes(1600);
      long address = driver.allocate(1600);
      driver.copyToDevice(address, bytes, stream);
      assertSame(bytes, copiedByKernel(address, 1600, 0));
    }
  }

  public void testMemoryIsAsItWasWhenAllIsClosed() {
    long before = driver.freeBytes();
    for (int round = 0; round < 5; round++) {
      driver.allocate(before / 3);
      driver.allocatePinned(1 << 20);
      driver.createEvent();
      driver.close();
      reopen();
    }
    // contexts differ a little in what the driver keeps for itself
    long slack = 64L << 20;
    assertTrue(before + " before, now " + driver.freeBytes(), driver.freeBytes() > before - slack);
  }

  public void testClosedDriversAnswerLikeLostOnes() {
    CudaDriver.PinnedMemory pinned = driver.allocatePinned(100);
    CudaDriver.Kernel kernel = driver.kernel("probe_copy");
    CudaDriver first = driver;
    first.close();
    first.close();
    assertTrue(expectThrows(GpuException.class, first::bind).contextLost());
    assertTrue(expectThrows(GpuException.class, pinned::free).contextLost());
    pinned.segment().fill((byte) 1);
    reopen();
    MemorySegment parameters = probeOf(0, 0, 1, 16, 0);
    expectThrows(
        IllegalArgumentException.class, () -> driver.launch(kernel, 1, 32, 0, parameters, stream));
  }

  public void testManyThreads() throws Exception {
    int threads = 8;
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    List<Future<?>> all = new ArrayList<>();
    for (int i = 0; i < threads; i++) {
      MemorySegment bytes = randomBytes(16_000);
      all.add(
          executor.submit(
              () -> {
                driver.bind();
                long own = driver.createStream();
                long source = driver.allocate(16_000);
                long target = driver.allocate(16_000);
                CudaDriver.PinnedMemory back = driver.allocatePinned(16_000);
                driver.copyToDevice(source, bytes, own);
                for (int round = 0; round < 200; round++) {
                  driver.fill(target, (byte) round, 16_000, own);
                  MemorySegment parameters;
                  synchronized (this) {
                    parameters = probeOf(source, target, 1000, 16, 0);
                  }
                  driver.launch(driver.kernel("probe_copy"), 2, 64, 0, parameters, own);
                  driver.copyFromDevice(back.segment(), target, own);
                  driver.synchronize(own);
                  assertSame(bytes, back.segment());
                }
                back.free();
                driver.free(source);
                driver.free(target);
                driver.destroyStream(own);
              }));
    }
    for (Future<?> each : all) {
      each.get();
    }
    executor.shutdown();
    assertTrue(executor.awaitTermination(1, TimeUnit.MINUTES));
  }

  public void testBadArguments() {
    expectThrows(IllegalArgumentException.class, () -> driver.allocate(0));
    expectThrows(IllegalArgumentException.class, () -> driver.allocatePinned(0));
    expectThrows(IllegalArgumentException.class, () -> driver.register(100, PAGE));
    expectThrows(IllegalArgumentException.class, () -> driver.register(PAGE, 100));
    long address = driver.allocate(256);
    MemorySegment heap = MemorySegment.ofArray(new byte[16]);
    expectThrows(IllegalArgumentException.class, () -> driver.copyToDevice(address, heap, stream));
    MemorySegment host = arena.allocate(64);
    expectThrows(
        IllegalArgumentException.class,
        () -> driver.copyRowsToDevice(address, 16, host, 32, 2, stream));
    expectThrows(
        IllegalArgumentException.class,
        () -> driver.copyRowsToDevice(address, 32, host, 32, 3, stream));
    expectThrows(
        IllegalArgumentException.class, () -> driver.copyToDevice(address, host, stream + 1));
  }
}
