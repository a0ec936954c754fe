package dev.vamana.elasticsearch;

import dev.vamana.elasticsearch.stats.GpuStats;
import dev.vamana.search.SearchExecutor;

/** The GPUs of this machine, as the plugin needs them. */
interface GpuDevices {

  /**
   * Opens the executor that the settings ask for. Probes the driver.
   *
   * @throws dev.vamana.cuda.driver.GpuException if there is no usable device; the message says what
   *     was probed and what was found
   */
  SearchExecutor open(GpuSettings settings);

  /**
   * What an executor has done so far.
   *
   * @param executor made by {@link #open}, or any other
   * @param mode what the settings say
   */
  GpuStats stats(SearchExecutor executor, GpuMode mode);
}
