package dev.vamana.cuda;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.gpu.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Tests a kernel that traps. The suite runs them in a separate process, because current drivers
 * give a process no further context after a trap (docs/internals/gpu.md).
 */
public class DeviceTrapTests extends DeviceTestCase {

  private static final int K = 10;
  private static final long RECOVERY_NANOS = TimeUnit.SECONDS.toNanos(20);

  /** Layout of vamana::Probe: bytes, and where the number is that makes the kernel trap. */
  private static final long PROBE_BYTES = 40;

  private static final long HOPS_OFFSET = 28;

  public void testTrappedKernel() throws Exception {
    assumeTrue("run alone, with tests.gpu.trap", Boolean.getBoolean("tests.gpu.trap"));
    WalkParameters walk = WalkParameters.quantized(24, 24);
    try (DeviceSegment segment = DeviceFaultTests.segment(createTempDir());
        Gpu gpu = open(Placement.MAPPED_GRAPH)) {
      serve(gpu, segment.view());
      DeviceFaultTests.assertServes(gpu, segment, walk);
      List<WorkItem> items = items(segment, segment.vectors().subList(0, 100), K, walk);
      List<WorkResult> expected = new CpuExecutor(workers()).search(items);
      trap(gpu.currentDriver());
      long end = System.nanoTime() + RECOVERY_NANOS;
      long answered = gpu.counts().answered();
      while (gpu.counts().answered() < answered + items.size() && System.nanoTime() < end) {
        // the next searches find the context lost: their answers are right all the same
        assertSameOrdinals(expected, gpu.executor().search(items));
        Thread.sleep(20);
      }
      if (gpu.counts().answered() < answered + items.size()) {
        GpuException refused = expectThrows(GpuException.class, Gpu::openDriver);
        assertTrue(refused.getMessage(), refused.getMessage().contains("restart"));
      } else {
        DeviceFaultTests.assertServes(gpu, segment, walk);
      }
      gpu.executor().closing(segment.view());
      assertEquals(0, gpu.counts().pinnedBytes());
    }
  }

  private static void trap(CudaDriver driver) {
    driver.bind();
    long stream = driver.createStream();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment probe = arena.allocate(PROBE_BYTES, 8);
      probe.set(ValueLayout.JAVA_INT, HOPS_OFFSET, 1);
      GpuException failure =
          expectThrows(
              GpuException.class,
              () -> {
                driver.launch(driver.kernel("probe_trap"), 1, 32, 0, probe, stream);
                driver.synchronize(stream);
              });
      assertTrue(failure.toString(), failure.contextLost());
    }
  }

  private static void assertSameOrdinals(List<WorkResult> expected, List<WorkResult> actual) {
    assertEquals(expected.size(), actual.size());
    int equal = 0;
    int positions = 0;
    for (int i = 0; i < expected.size(); i++) {
      for (int j = 0; j < expected.get(i).ordinals().length; j++) {
        positions++;
        equal += expected.get(i).ordinals()[j] == actual.get(i).ordinals()[j] ? 1 : 0;
      }
    }
    assertTrue(equal + " of " + positions, equal >= positions * Parity.HALF_TABLES);
  }
}
