package dev.vamana.elasticsearch;

import dev.vamana.cuda.GpuDevice;
import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.api.DynamicOptions;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.compile.NodeKernels;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.driver.KernelFallback;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.elasticsearch.notices.NodeNotices;
import dev.vamana.elasticsearch.stats.Counters;
import dev.vamana.elasticsearch.stats.DeviceStats;
import dev.vamana.elasticsearch.stats.GpuStats;
import dev.vamana.elasticsearch.stats.StateStats;
import dev.vamana.search.SearchExecutor;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collections;
import java.util.function.Function;
import java.util.function.Supplier;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;
import org.elasticsearch.monitor.os.OsProbe;

/** Opens the NVIDIA devices of this machine. */
final class CudaDevices implements GpuDevices {

  private static final Logger logger = LogManager.getLogger(CudaDevices.class);

  private final Function<GpuSettings, Supplier<CudaDriver>> drivers;
  private final DeviceSensors sensors;

  /**
   * Makes an instance for the devices of this machine, which are probed when one is opened.
   *
   * @param kernels folder for kernels that this node compiles
   */
  CudaDevices(Path kernels) {
    this.sensors = new DeviceSensors();
    this.drivers =
        settings -> {
          DeviceProbe probe = new DeviceProbe(settings.device(), fallback(settings, kernels));
          sensors.of(() -> probe.result().pciBusId());
          return probe::open;
        };
  }

  /**
   * Makes an instance with other drivers and without sensors.
   *
   * @param drivers opens a context on the device that settings name
   */
  CudaDevices(Function<GpuSettings, Supplier<CudaDriver>> drivers) {
    this.drivers = drivers;
    this.sensors = new DeviceSensors();
  }

  private static KernelFallback fallback(GpuSettings settings, Path kernels) {
    if (settings.compileKernels() == false) {
      return computeCapability -> {
        throw new IOException(
            "set ["
                + GpuSettings.COMPILE_KERNELS.getKey()
                + "] to [true] to have this node compile them, or install a plugin that was built"
                + " with -Dcuda.architectures="
                + computeCapability);
      };
    }
    int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
    return new NodeKernels(kernels, settings.nvrtc(), threads, logger::info);
  }

  @Override
  public SearchExecutor open(
      GpuSettings settings, NodeNotices notices, HostMemoryAccount account, Workers workers) {
    long hostBytes = Math.max(0, OsProbe.getInstance().getTotalPhysicalMemorySize());
    ResidencyOptions residency =
        ResidencyOptions.defaults(hostBytes)
            .withPlacements(settings.placements())
            .withLimits(settings.memoryLimit(), settings.pageCacheLimit());
    GpuOptions options =
        GpuOptions.DEFAULT
            .withBatches(
                GpuOptions.DEFAULT
                    .batches()
                    .withBatches(settings.maxBatch(), settings.linger().nanos())
                    .withSegmentsAhead(settings.segmentsAhead()))
            .withWaitForUpload(settings.waitForUpload())
            .withPlan(settings.plan())
            .withLeastGraph(settings.buildGraphs() ? GpuOptions.LEAST_GRAPH : GpuOptions.NO_GRAPHS)
            .withWorkers(workers)
            .withHostMemory(account);
    return GpuDevice.open(drivers.apply(settings), residency, options, new GpuNotices(notices));
  }

  @Override
  public void adjust(SearchExecutor executor, GpuSettings settings) {
    if (executor instanceof GpuExecutor gpu) {
      gpu.adjust(
          new DynamicOptions(
              settings.memoryLimit(),
              settings.pageCacheLimit(),
              settings.placements(),
              settings.maxBatch(),
              settings.linger().nanos(),
              settings.segmentsAhead(),
              settings.waitForUpload(),
              settings.plan()));
    }
  }

  @Override
  public GpuStats stats(SearchExecutor executor, GpuMode mode) {
    if (executor instanceof GpuExecutor gpu) {
      GpuStatistics statistics = gpu.statistics();
      return new GpuStats(
          new StateStats(
              mode.settingName(),
              statistics.usable() ? StateStats.State.READY : StateStats.State.FAILED,
              statistics.reason(),
              Counters.of(
                  statistics.counters().getOrDefault("contexts", Collections.emptySortedMap()))),
          statistics.counters());
    }
    return GpuStats.without(
        mode.settingName(),
        StateStats.State.UNAVAILABLE,
        "searches are answered by another executor, [" + executor.name() + "]");
  }

  @Override
  public DeviceStats device(SearchExecutor executor) {
    if (executor instanceof GpuExecutor gpu) {
      DeviceInfo info = gpu.device();
      return new DeviceStats(
          info.ordinal(),
          info.name(),
          info.computeCapability(),
          info.multiprocessors(),
          info.totalBytes(),
          info.driverVersion(),
          sensors.read());
    }
    return null;
  }

  @Override
  public void close() {
    sensors.close();
  }
}
