package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.driver.Nvml;
import java.io.Closeable;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Reads a device's sensors. The first read opens the NVML library, which may block; so only threads
 * that may wait should call it. Thread-safe.
 */
final class DeviceSensors implements Closeable {

  private Supplier<String> pciBusId = () -> null;
  private boolean tried;
  private Nvml library;

  /**
   * Chooses the device.
   *
   * @param busId called when the sensors are read first; null means no device
   */
  synchronized void of(Supplier<String> busId) {
    close();
    pciBusId = busId;
    tried = false;
  }

  /** Reads the sensors: values that the library reports, by their names in statistics. */
  synchronized Map<String, Object> read() {
    if (tried == false) {
      tried = true;
      String busId = pciBusId.get();
      library = busId == null ? null : Nvml.open(busId).orElse(null);
    }
    Map<String, Object> values = new LinkedHashMap<>();
    if (library != null) {
      library.driverVersion().ifPresent(value -> values.put("driver_version", value));
      library.memoryUsed().ifPresent(value -> values.put("memory_used_in_bytes", value));
      library.utilization().ifPresent(value -> values.put("utilization_percent", value));
      library.powerMilliwatts().ifPresent(value -> values.put("power_in_milliwatts", value));
      library.temperatureCelsius().ifPresent(value -> values.put("temperature_in_celsius", value));
    }
    return values;
  }

  /** Closes the library. Later reads return no values. */
  @Override
  public synchronized void close() {
    tried = true;
    if (library != null) {
      library.close();
      library = null;
    }
  }
}
