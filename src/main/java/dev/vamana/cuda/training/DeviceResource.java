package dev.vamana.cuda.training;

/** Something with device memory. */
public interface DeviceResource extends AutoCloseable {

  /**
   * Frees the memory.
   *
   * @throws dev.vamana.cuda.driver.GpuException if the device fails
   */
  @Override
  void close();
}
