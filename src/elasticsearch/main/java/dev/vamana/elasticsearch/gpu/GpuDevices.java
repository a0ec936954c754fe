package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.elasticsearch.monitor.stats.DeviceStats;
import dev.vamana.elasticsearch.monitor.stats.GpuStats;
import dev.vamana.search.SearchExecutor;
import dev.vamana.work.Workers;
import java.util.List;

/** Opens the GPUs of this machine for the plugin and reports on them. */
public interface GpuDevices {

  /**
   * Probes the driver and opens the executor for the settings.
   *
   * @param damaged is told of damaged files
   * @param account counts the host memory that the executor pins for batches
   * @param workers threads that share the items of a batch that the CPU answers
   * @throws dev.vamana.cuda.driver.GpuException if there is no usable device; the message says what
   *     was probed and what was found
   */
  SearchExecutor open(
      GpuSettings settings, DamagedFiles damaged, HostMemoryAccount account, Workers workers);

  /**
   * Applies changed dynamic settings to an executor.
   *
   * @param executor an executor; ignored unless {@link #open} made it
   */
  void adjust(SearchExecutor executor, GpuSettings settings);

  /**
   * Returns the statistics of an executor.
   *
   * @param executor an executor, made by {@link #open} or not
   * @param mode the value of {@code vamana.gpu.enabled}
   */
  GpuStats stats(SearchExecutor executor, GpuMode mode);

  /** The executor's devices; none if it has no device. */
  List<DeviceStats> devices(SearchExecutor executor);
}
