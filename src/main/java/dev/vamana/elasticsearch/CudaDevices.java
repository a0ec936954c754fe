package dev.vamana.elasticsearch;

import dev.vamana.cuda.GpuDevice;
import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.GpuOptions;
import dev.vamana.cuda.GpuStatistics;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.elasticsearch.stats.GpuStats;
import dev.vamana.search.SearchExecutor;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.elasticsearch.monitor.os.OsProbe;

/** NVIDIA devices. */
final class CudaDevices implements GpuDevices {

  private final IntFunction<Supplier<CudaDriver>> drivers;

  /** Those of this machine, looked for when one is opened. */
  CudaDevices() {
    this(device -> new DeviceProbe(device)::open);
  }

  /**
   * Others.
   *
   * @param drivers what opens a context on the device of a number
   */
  CudaDevices(IntFunction<Supplier<CudaDriver>> drivers) {
    this.drivers = drivers;
  }

  @Override
  public SearchExecutor open(GpuSettings settings) {
    long hostBytes = Math.max(0, OsProbe.getInstance().getTotalPhysicalMemorySize());
    ResidencyOptions residency =
        ResidencyOptions.defaults(hostBytes)
            .withPlacement(settings.placement())
            .withLimits(settings.memoryLimit(), settings.pageCacheLimit());
    GpuOptions options =
        GpuOptions.DEFAULT
            .withBatches(
                GpuOptions.DEFAULT
                    .batches()
                    .withBatches(settings.maxBatch(), settings.linger().nanos()))
            .withWaitForUpload(settings.waitForUpload());
    return GpuDevice.open(drivers.apply(settings.device()), residency, options, new GpuNotices());
  }

  @Override
  public GpuStats stats(SearchExecutor executor, GpuMode mode) {
    if (executor instanceof GpuExecutor gpu) {
      GpuStatistics statistics = gpu.statistics();
      return new GpuStats(
          mode.settingName(),
          statistics.usable() ? GpuStats.State.READY : GpuStats.State.FAILED,
          statistics.reason(),
          device(statistics.device()),
          statistics.counters());
    }
    return GpuStats.without(
        mode.settingName(),
        GpuStats.State.UNAVAILABLE,
        "searches are answered by another executor, [" + executor.name() + "]");
  }

  private static GpuStats.Device device(DeviceInfo info) {
    return new GpuStats.Device(
        info.ordinal(),
        info.name(),
        info.computeCapability(),
        info.multiprocessors(),
        info.totalBytes(),
        info.driverVersion());
  }
}
