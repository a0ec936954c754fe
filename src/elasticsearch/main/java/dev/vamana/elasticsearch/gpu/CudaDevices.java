package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.api.DynamicOptions;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.compile.NodeKernels;
import dev.vamana.cuda.devices.DevicesExecutor;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceList;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.driver.KernelFallback;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.elasticsearch.monitor.stats.DeviceStats;
import dev.vamana.elasticsearch.monitor.stats.GpuStats;
import dev.vamana.search.SearchExecutor;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;
import org.elasticsearch.monitor.os.OsProbe;

/** Opens the NVIDIA devices of this machine. */
public final class CudaDevices implements GpuDevices {

  private static final Logger logger = LogManager.getLogger(CudaDevices.class);

  private final Machine machine;
  private volatile ResidencyOptions residency;

  /** The devices of a machine. */
  public interface Machine {
    /**
     * Returns the numbers of the devices that settings name.
     *
     * @throws dev.vamana.cuda.driver.GpuException if there is no such device
     */
    List<Integer> find(GpuSettings settings);

    /** Returns what opens contexts on a device. */
    Supplier<CudaDriver> drivers(GpuSettings settings, int ordinal);
  }

  /**
   * Makes an instance for the devices of this machine, which are probed when one is opened.
   *
   * @param kernels folder for kernels that this node compiles
   */
  public CudaDevices(Path kernels) {
    this.machine =
        new Machine() {
          @Override
          public List<Integer> find(GpuSettings settings) {
            return new DeviceList().find(settings.devices());
          }

          @Override
          public Supplier<CudaDriver> drivers(GpuSettings settings, int ordinal) {
            return new DeviceProbe(ordinal, fallback(settings, kernels))::open;
          }
        };
  }

  /** Makes an instance for another machine. */
  public CudaDevices(Machine machine) {
    this.machine = machine;
  }

  /**
   * Makes an instance for a machine of one device.
   *
   * @param drivers opens a context on it
   */
  CudaDevices(Function<GpuSettings, Supplier<CudaDriver>> drivers) {
    this(
        new Machine() {
          @Override
          public List<Integer> find(GpuSettings settings) {
            return List.of(0);
          }

          @Override
          public Supplier<CudaDriver> drivers(GpuSettings settings, int ordinal) {
            return drivers.apply(settings);
          }
        });
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
      GpuSettings settings, DamagedFiles damaged, HostMemoryAccount account, Workers workers) {
    long hostBytes = Math.max(0, OsProbe.getInstance().getTotalPhysicalMemorySize());
    List<Integer> found = machine.find(settings);
    ResidencyOptions memory =
        ResidencyOptions.defaults(hostBytes)
            .withPlacements(settings.placements())
            .withLimits(settings.memoryLimit(), settings.pageCacheLimit().part(found.size()));
    residency = memory;
    GpuOptions options =
        GpuOptions.DEFAULT
            .withBatches(
                GpuOptions.DEFAULT
                    .batches()
                    .withBatches(settings.maxBatch(), settings.linger().nanos())
                    .withSegmentsAhead(settings.segmentsAhead()))
            .withWaitForUpload(settings.waitForUpload())
            .withPlan(settings.plan())
            .withLeast(
                GpuOptions.LEAST_TRAINING,
                settings.buildGraphs() ? GpuOptions.LEAST_GRAPH : GpuOptions.NO_GRAPHS)
            .withWorkers(workers)
            .withHostMemory(account);
    if (found.size() == 1) {
      Supplier<CudaDriver> drivers = machine.drivers(settings, found.get(0));
      return GpuExecutor.open(drivers, memory, options, new GpuLog(damaged));
    }
    List<Supplier<CudaDriver>> drivers =
        found.stream().map(ordinal -> machine.drivers(settings, ordinal)).toList();
    return DevicesExecutor.open(
        found.size(),
        (index, changed) ->
            GpuExecutor.open(
                drivers.get(index),
                memory,
                options,
                new GpuLog(damaged, found.get(index), changed)),
        settings.memoryLimit(),
        DevicesExecutor.Spread.DEFAULT,
        e -> logger.warn("segments are not balanced over the GPUs", e));
  }

  @Override
  public void adjust(SearchExecutor executor, GpuSettings settings) {
    int devices = executor instanceof DevicesExecutor several ? several.devices().size() : 1;
    MemoryLimit pageCache = settings.pageCacheLimit().part(devices);
    ResidencyOptions options = residency;
    if (options != null) {
      residency = options.withLimits(settings.memoryLimit(), pageCache);
    }
    DynamicOptions changed =
        new DynamicOptions(
            settings.memoryLimit(),
            pageCache,
            settings.placements(),
            settings.maxBatch(),
            settings.linger().nanos(),
            settings.segmentsAhead(),
            settings.waitForUpload(),
            settings.plan());
    if (executor instanceof GpuExecutor gpu) {
      gpu.adjust(changed);
    } else if (executor instanceof DevicesExecutor gpus) {
      gpus.adjust(changed);
    }
  }

  @Override
  public GpuStats stats(SearchExecutor executor, GpuMode mode) {
    DeviceStatistics statistics = new DeviceStatistics(mode.settingName(), residency);
    if (executor instanceof GpuExecutor gpu) {
      return statistics.of(gpu.statistics());
    }
    if (executor instanceof DevicesExecutor gpus) {
      return statistics.of(gpus.statistics(), gpus.balance());
    }
    return GpuStats.without(
        mode.settingName(),
        GpuStats.State.UNAVAILABLE,
        "searches are answered by another executor, [" + executor.name() + "]");
  }

  @Override
  public List<DeviceStats> devices(SearchExecutor executor) {
    List<GpuStatistics> all =
        switch (executor) {
          case GpuExecutor gpu -> List.of(gpu.statistics());
          case DevicesExecutor gpus -> gpus.statistics();
          default -> List.of();
        };
    ResidencyOptions limits = residency;
    return all.stream()
        .map(device -> new DeviceStats(DeviceStatistics.withLimits(device, limits)))
        .toList();
  }
}
