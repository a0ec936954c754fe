package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.driver.Nvml;
import dev.vamana.elasticsearch.monitor.stats.DeviceStats;
import java.io.Closeable;
import java.util.OptionalInt;
import java.util.OptionalLong;
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

  /** Reads the sensors; values that the library does not report are null. */
  synchronized DeviceStats.Sensors read() {
    if (tried == false) {
      tried = true;
      String busId = pciBusId.get();
      library = busId == null ? null : Nvml.open(busId).orElse(null);
    }
    if (library == null) {
      return DeviceStats.Sensors.NONE;
    }
    return new DeviceStats.Sensors(
        library.driverVersion().orElse(null),
        boxed(library.memoryUsed()),
        boxed(library.utilization()),
        boxed(library.powerMilliwatts()),
        boxed(library.temperatureCelsius()));
  }

  private static Long boxed(OptionalLong value) {
    return value.isPresent() ? Long.valueOf(value.getAsLong()) : null;
  }

  private static Integer boxed(OptionalInt value) {
    return value.isPresent() ? Integer.valueOf(value.getAsInt()) : null;
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
