package dev.vamana.elasticsearch.gpu;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakFilters;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.RegisteredPages;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.kernel.HostLibrary;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.elasticsearch.monitor.stats.DeviceStats;
import dev.vamana.elasticsearch.monitor.stats.GpuStats;
import dev.vamana.search.SearchExecutor;
import dev.vamana.work.Workers;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.QuickPatchThreadsFilter;
import org.elasticsearch.common.settings.Settings;
import org.junit.BeforeClass;

/** A node opens several simulated devices, and reports them. */
@ThreadLeakFilters(
    defaultFilters = true,
    filters = {QuickPatchThreadsFilter.class, HostLibrary.CleanerThread.class})
public class CudaDevicesTests extends LuceneTestCase {

  private static final long DEVICE_BYTES = 1L << 28;

  private final DamagedFiles damaged = new DamagedFiles(Runnable::run);

  /** Two devices, the second of which may be missing. */
  private static final class Machine implements CudaDevices.Machine {
    private final SimtKernels kernels = SimtKernels.load();
    private final RegisteredPages pages = new RegisteredPages();
    private final List<SimulatedDriver> opened = new CopyOnWriteArrayList<>();
    private volatile boolean missing;
    // before kernels of the second device
    private volatile CountDownLatch gate = new CountDownLatch(0);

    @Override
    public List<Integer> find(GpuSettings settings) {
      return settings.devices().equals(List.of("all")) ? List.of(0, 1) : List.of(1);
    }

    @Override
    public Supplier<CudaDriver> drivers(GpuSettings settings, int ordinal) {
      return () -> {
        if (missing && ordinal == 1) {
          throw new GpuException(GpuException.Kind.UNAVAILABLE, "no usable GPU: it is gone");
        }
        SimulatedDriver driver =
            new SimulatedDriver(
                    ordinal == 1 && gate.getCount() > 0 ? this::gated : kernels, DEVICE_BYTES, true)
                .in(pages, ordinal);
        opened.add(driver);
        return driver;
      };
    }

    /** A kernel that waits for the gate. */
    private SimulatedKernels.Body gated(String name) {
      SimulatedKernels.Body body = kernels.find(name);
      return (blocks, threads, sharedBytes, parameters) -> {
        try {
          gate.await();
        } catch (InterruptedException e) {
          throw new AssertionError(e);
        }
        body.run(blocks, threads, sharedBytes, parameters);
      };
    }
  }

  @BeforeClass
  public static void readyServerClasses() {
    assumeTrue("needs kernels of the host", HostLibrary.built());
    ServerClasses.ready();
  }

  private static GpuSettings settings(String devices) {
    return GpuSettings.of(
        Settings.builder()
            .put("vamana.gpu.devices", devices)
            .put("vamana.gpu.memory.limit", "64mb")
            .build());
  }

  public void testTwoDevices() throws Exception {
    Machine machine = new Machine();
    CudaDevices devices = new CudaDevices(machine);
    try (SearchExecutor executor =
        devices.open(
            settings("all"), damaged, HostMemoryAccount.UNLIMITED, Workers.callingThread())) {
      assertEquals("gpus 0 simulated, 1 simulated", executor.name());
      GpuStats stats = devices.stats(executor, GpuMode.AUTO);
      assertEquals(GpuStats.State.READY, stats.now());
      assertNull(stats.reason());
      assertEquals(2, stats.counter("contexts", "opened"));
      assertEquals(2L << 26, stats.counter("residency", "device_limit_bytes"));
      assertEquals(Long.valueOf(0), stats.counters().get("balance").get("moves"));
      List<DeviceStats> each = devices.devices(executor);
      assertEquals(2, each.size());
      for (int d = 0; d < 2; d++) {
        GpuStatistics device = each.get(d).statistics();
        assertEquals(d, device.device().ordinal());
        assertEquals("GPU-0000000" + d + "-0000-0000-0000-000000000000", device.device().uuid());
        assertTrue(device.usable());
        assertEquals(Long.valueOf(0), device.counters().get("routed").get("segments"));
        assertEquals(1L << 26, device.counter("residency", "device_limit_bytes"));
      }
      devices.adjust(
          executor,
          GpuSettings.of(
              Settings.builder()
                  .put("vamana.gpu.devices", "all")
                  .put("vamana.gpu.memory.limit", "96mb")
                  .build()));
      assertEquals(
          2 * (96L << 20),
          devices.stats(executor, GpuMode.AUTO).counter("residency", "device_limit_bytes"));
    }
  }

  /** A device that still tests itself when the node is asked is not lost. */
  public void testFirstSelfTest() throws Exception {
    Machine machine = new Machine();
    CudaDevices devices = new CudaDevices(machine);
    for (String some : List.of("all", "1")) {
      machine.gate = new CountDownLatch(1);
      Thread.currentThread().interrupt(); // so that nothing waits for the test
      try (SearchExecutor executor =
          devices.open(
              settings(some), damaged, HostMemoryAccount.UNLIMITED, Workers.callingThread())) {
        assertTrue(Thread.interrupted());
        try {
          if (some.equals("all")) {
            awaitUsable(devices, executor, 1);
            assertNull(devices.stats(executor, GpuMode.AUTO).reason());
          } else {
            GpuStats stats = devices.stats(executor, GpuMode.AUTO);
            assertEquals("the self-test is running", stats.reason());
            assertEquals(GpuStats.State.TESTING, stats.now());
          }
        } finally {
          machine.gate.countDown();
        }
        awaitUsable(devices, executor, devices.devices(executor).size());
        assertEquals(GpuStats.State.READY, devices.stats(executor, GpuMode.AUTO).now());
      }
    }
  }

  private static void awaitUsable(CudaDevices devices, SearchExecutor executor, int count)
      throws InterruptedException {
    while (devices.devices(executor).stream().filter(each -> each.statistics().usable()).count()
        < count) {
      Thread.sleep(1);
    }
  }

  public void testOneOfSeveral() throws Exception {
    CudaDevices devices = new CudaDevices(new Machine());
    try (SearchExecutor executor =
        devices.open(
            settings("1"), damaged, HostMemoryAccount.UNLIMITED, Workers.callingThread())) {
      assertEquals("gpu simulated", executor.name());
      List<DeviceStats> only = devices.devices(executor);
      assertEquals(1, only.size());
      assertEquals(1, only.get(0).statistics().device().ordinal());
      assertNull(devices.stats(executor, GpuMode.AUTO).counters().get("balance"));
    }
  }

  public void testADeviceThatCannotBeUsed() {
    Machine machine = new Machine();
    machine.missing = true;
    CudaDevices devices = new CudaDevices(machine);
    GpuException e =
        expectThrows(
            GpuException.class,
            () ->
                devices.open(
                    settings("all"),
                    damaged,
                    HostMemoryAccount.UNLIMITED,
                    Workers.callingThread()));
    assertEquals("no usable GPU: it is gone", e.getMessage());
    assertEquals(0, machine.opened.get(0).deviceBytes());
  }
}
