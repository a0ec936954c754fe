package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.elasticsearch.monitor.stats.DeviceStats;
import dev.vamana.elasticsearch.monitor.stats.GpuStats;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.settings.Settings;
import org.junit.BeforeClass;

public class NodeExecutorTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static final class TestDevices implements GpuDevices {
    private final Supplier<SearchExecutor> executors;
    private int opened;
    private GpuSettings adjusted;

    TestDevices(Supplier<SearchExecutor> executors) {
      this.executors = executors;
    }

    @Override
    public SearchExecutor open(
        GpuSettings settings, DamagedFiles damaged, HostMemoryAccount account, Workers workers) {
      opened++;
      return executors.get();
    }

    @Override
    public void adjust(SearchExecutor executor, GpuSettings settings) {
      adjusted = settings;
    }

    @Override
    public GpuStats stats(SearchExecutor executor, GpuMode mode) {
      return new GpuStats(
          mode.settingName(), GpuStats.State.READY, null, Collections.emptySortedMap());
    }

    @Override
    public List<DeviceStats> devices(SearchExecutor executor) {
      return List.of();
    }
  }

  private static SearchExecutor noDevice() {
    throw new GpuException(GpuException.Kind.UNAVAILABLE, "looked for libfoo, which is not there");
  }

  private NodeExecutor start(GpuMode mode, TestDevices devices) {
    return NodeExecutor.start(
        mode(mode),
        devices,
        new DamagedFiles(Runnable::run),
        HostMemoryAccount.UNLIMITED,
        Workers.callingThread());
  }

  private static GpuSettings mode(GpuMode mode) {
    return GpuSettings.of(Settings.builder().put("vamana.gpu.enabled", mode.settingName()).build());
  }

  public void testOffLooksForNothing() throws IOException {
    TestDevices devices = new TestDevices(NodeExecutorTests::noDevice);
    try (NodeExecutor executor = start(GpuMode.OFF, devices)) {
      assertEquals(0, devices.opened);
      assertNull(ExecutorRegistry.current());
      assertEquals(GpuStats.State.OFF, executor.gpu().now());
      assertEquals("[vamana.gpu.enabled] is [off]", executor.gpu().reason());
    }
  }

  public void testAutoGoesOnWithoutADevice() throws IOException {
    TestDevices devices = new TestDevices(NodeExecutorTests::noDevice);
    try (NodeExecutor executor = start(GpuMode.AUTO, devices)) {
      assertEquals(1, devices.opened);
      assertNull(ExecutorRegistry.current());
      assertEquals("auto", executor.gpu().enabled());
      assertEquals(GpuStats.State.UNAVAILABLE, executor.gpu().now());
      assertEquals("looked for libfoo, which is not there", executor.gpu().reason());
    }
  }

  public void testErrorsOfLinkageAreNoDevice() throws IOException {
    TestDevices devices =
        new TestDevices(
            () -> {
              throw new NoClassDefFoundError();
            });
    try (NodeExecutor executor = start(GpuMode.AUTO, devices)) {
      assertEquals(GpuStats.State.UNAVAILABLE, executor.gpu().now());
      assertEquals("java.lang.NoClassDefFoundError", executor.gpu().reason());
    }
  }

  public void testRequiredFailsWithoutADevice() {
    TestDevices devices = new TestDevices(NodeExecutorTests::noDevice);
    IllegalStateException e =
        expectThrows(IllegalStateException.class, () -> start(GpuMode.REQUIRED, devices));
    assertTrue(e.getMessage(), e.getMessage().contains("[vamana.gpu.enabled] is [required]"));
    assertTrue(e.getMessage(), e.getMessage().contains("looked for libfoo, which is not there"));
    assertNull(ExecutorRegistry.current());
  }

  public void testTheExecutorIsInstalledUntilTheLastNodeLetsGo() throws IOException {
    CpuExecutor installed = new CpuExecutor(Workers.callingThread());
    TestDevices devices = new TestDevices(() -> installed);
    NodeExecutor first = start(GpuMode.REQUIRED, devices);
    NodeExecutor second = start(GpuMode.AUTO, devices);
    assertEquals(1, devices.opened);
    assertSame(installed, ExecutorRegistry.current());
    assertEquals("required", first.gpu().enabled());
    assertEquals(GpuStats.State.READY, second.gpu().now());
    first.close();
    first.close();
    assertSame(installed, ExecutorRegistry.current());
    second.close();
    assertNull(ExecutorRegistry.current());
  }

  public void testSettingsThatChangeReachTheExecutor() throws IOException {
    TestDevices devices = new TestDevices(() -> new CpuExecutor(Workers.callingThread()));
    GpuSettings changed = mode(GpuMode.AUTO);
    try (NodeExecutor executor = start(GpuMode.AUTO, devices)) {
      executor.adjust(changed);
      assertSame(changed, devices.adjusted);
    }
    TestDevices none = new TestDevices(NodeExecutorTests::noDevice);
    try (NodeExecutor executor = start(GpuMode.AUTO, none)) {
      executor.adjust(changed);
      assertNull(none.adjusted);
    }
  }
}
