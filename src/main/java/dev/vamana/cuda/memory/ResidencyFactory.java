package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import java.util.Collections;
import java.util.SortedMap;
import java.util.function.Consumer;

/** Makes the residency of each freshly opened context. */
@FunctionalInterface
public interface ResidencyFactory {

  /**
   * Makes a residency. The calling thread is bound to the driver.
   *
   * @param options memory limits and placements
   * @param onLost called if a thread of the residency finds the context lost
   * @throws GpuException if anything fails; all resources have been freed then
   */
  Residency open(CudaDriver driver, ResidencyOptions options, Consumer<GpuException> onLost);

  /**
   * Returns the counters of all residencies made so far, named as in {@link Residency#counters}.
   * Used while there is no context.
   */
  default SortedMap<String, Long> counters() {
    return Collections.emptySortedMap();
  }
}
