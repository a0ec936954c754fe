package dev.vamana.elasticsearch;

import dev.vamana.cuda.driver.GpuException;
import dev.vamana.elasticsearch.stats.GpuStats;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Collections;
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

    TestDevices(Supplier<SearchExecutor> executors) {
      this.executors = executors;
    }

    @Override
    public SearchExecutor open(GpuSettings settings) {
      opened++;
      return executors.get();
    }

    @Override
    public GpuStats stats(SearchExecutor executor, GpuMode mode) {
      return new GpuStats(
          mode.settingName(), GpuStats.State.READY, null, null, Collections.emptySortedMap());
    }
  }

  private static SearchExecutor noDevice() {
    throw new GpuException(GpuException.Kind.UNAVAILABLE, "looked for libfoo, which is not there");
  }

  private static GpuSettings mode(GpuMode mode) {
    return GpuSettings.of(Settings.builder().put("vamana.gpu.enabled", mode.settingName()).build());
  }

  public void testOffLooksForNothing() throws IOException {
    TestDevices devices = new TestDevices(NodeExecutorTests::noDevice);
    try (NodeExecutor executor = NodeExecutor.start(mode(GpuMode.OFF), devices)) {
      assertEquals(0, devices.opened);
      assertNull(ExecutorRegistry.current());
      assertEquals(GpuStats.State.OFF, executor.stats().state());
      assertEquals("[vamana.gpu.enabled] is [off]", executor.stats().reason());
    }
  }

  public void testAutoGoesOnWithoutADevice() throws IOException {
    TestDevices devices = new TestDevices(NodeExecutorTests::noDevice);
    try (NodeExecutor executor = NodeExecutor.start(mode(GpuMode.AUTO), devices)) {
      assertEquals(1, devices.opened);
      assertNull(ExecutorRegistry.current());
      assertEquals("auto", executor.stats().enabled());
      assertEquals(GpuStats.State.UNAVAILABLE, executor.stats().state());
      assertEquals("looked for libfoo, which is not there", executor.stats().reason());
    }
  }

  public void testErrorsOfLinkageAreNoDevice() throws IOException {
    TestDevices devices =
        new TestDevices(
            () -> {
              throw new NoClassDefFoundError();
            });
    try (NodeExecutor executor = NodeExecutor.start(mode(GpuMode.AUTO), devices)) {
      assertEquals(GpuStats.State.UNAVAILABLE, executor.stats().state());
      assertEquals("java.lang.NoClassDefFoundError", executor.stats().reason());
    }
  }

  public void testRequiredFailsWithoutADevice() {
    TestDevices devices = new TestDevices(NodeExecutorTests::noDevice);
    IllegalStateException e =
        expectThrows(
            IllegalStateException.class, () -> NodeExecutor.start(mode(GpuMode.REQUIRED), devices));
    assertTrue(e.getMessage(), e.getMessage().contains("[vamana.gpu.enabled] is [required]"));
    assertTrue(e.getMessage(), e.getMessage().contains("looked for libfoo, which is not there"));
    assertNull(ExecutorRegistry.current());
  }

  public void testTheExecutorIsInstalledUntilTheLastNodeLetsGo() throws IOException {
    CpuExecutor installed = new CpuExecutor(Workers.callingThread());
    TestDevices devices = new TestDevices(() -> installed);
    NodeExecutor first = NodeExecutor.start(mode(GpuMode.REQUIRED), devices);
    NodeExecutor second = NodeExecutor.start(mode(GpuMode.AUTO), devices);
    assertEquals(1, devices.opened);
    assertSame(installed, ExecutorRegistry.current());
    assertEquals("required", first.stats().enabled());
    assertEquals(GpuStats.State.READY, second.stats().state());
    first.close();
    first.close();
    assertSame(installed, ExecutorRegistry.current());
    second.close();
    assertNull(ExecutorRegistry.current());
  }
}
