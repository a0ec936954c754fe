package dev.vamana.cuda;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.Residency;
import java.util.Collections;
import java.util.SortedMap;
import java.util.function.Consumer;

/** Makes the residency of a context that has just been opened. */
@FunctionalInterface
public interface ResidencyFactory {

  /**
   * Makes a residency; the calling thread is bound to the driver.
   *
   * @param onLost to be told if a thread of the residency finds the context lost
   * @throws GpuException if anything fails; then nothing is left behind
   */
  Residency open(CudaDriver driver, Consumer<GpuException> onLost);

  /**
   * What the residencies that it made have done so far, as {@link Residency#counters}; for when
   * there is no context.
   */
  default SortedMap<String, Long> counters() {
    return Collections.emptySortedMap();
  }
}
