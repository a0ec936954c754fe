package dev.vamana.elasticsearch;

import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.elasticsearch.notices.NodeNotices;
import dev.vamana.elasticsearch.stats.DeviceStats;
import dev.vamana.elasticsearch.stats.GpuStats;
import dev.vamana.search.SearchExecutor;
import java.io.Closeable;

/** The GPUs of this machine, as the plugin needs them. */
interface GpuDevices extends Closeable {

  /**
   * Opens the executor that the settings ask for. Probes the driver.
   *
   * @param notices is told what an operator should know
   * @param account counts the host memory that the executor pins for batches
   * @throws dev.vamana.cuda.driver.GpuException if there is no usable device; the message says what
   *     was probed and what was found
   */
  SearchExecutor open(GpuSettings settings, NodeNotices notices, HostMemoryAccount account);

  /**
   * Has an executor work as settings say from now on, as far as that can be changed.
   *
   * @param executor made by {@link #open}, or any other, which is left alone
   */
  void adjust(SearchExecutor executor, GpuSettings settings);

  /**
   * What an executor has done so far.
   *
   * @param executor made by {@link #open}, or any other
   * @param mode what the settings say
   */
  GpuStats stats(SearchExecutor executor, GpuMode mode);

  /** An executor's device and its sensors, or null if it has none. */
  DeviceStats device(SearchExecutor executor);

  /** Lets go of what statistics are taken with. */
  @Override
  void close();
}
