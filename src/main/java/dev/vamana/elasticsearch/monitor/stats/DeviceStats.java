package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.DeviceInfo;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * A device of a node.
 *
 * @param statistics the device, whether it answers, and its counters
 * @param sensors values of the sensors
 */
public record DeviceStats(GpuStatistics statistics, Sensors sensors) {

  /**
   * Values of the sensors; each is null if unknown.
   *
   * @param driverVersion version of the driver, for instance {@code 580.65.06}
   * @param usedBytes device memory in use by all processes
   * @param utilizationPercent share of the last sample period in which a kernel ran
   * @param powerMilliwatts power drawn now
   * @param temperatureCelsius temperature of the chip
   */
  public record Sensors(
      String driverVersion,
      Long usedBytes,
      Integer utilizationPercent,
      Integer powerMilliwatts,
      Integer temperatureCelsius) {

    /** No sensor has a value. */
    public static final Sensors NONE = new Sensors(null, null, null, null, null);
  }

  public DeviceStats {
    Objects.requireNonNull(statistics, "statistics");
    Objects.requireNonNull(sensors, "sensors");
  }

  /** The members of an entry of the section {@code devices}, without those that are counters. */
  Map<String, Object> described() {
    DeviceInfo device = statistics.device();
    Map<String, Object> described = new LinkedHashMap<>();
    described.put("ordinal", device.ordinal());
    described.put("uuid", device.uuid());
    described.put("name", device.name());
    described.put("compute_capability", version(device.computeCapability(), 10));
    described.put("cuda_version", version(device.driverVersion() / 10, 100));
    described.put("driver_version", sensors.driverVersion);
    described.put("usable", statistics.usable());
    described.put("reason", statistics.reason());
    described.put("memory_total_in_bytes", device.totalBytes());
    described.put("memory_used_in_bytes", sensors.usedBytes);
    described.put("utilization_percent", sensors.utilizationPercent);
    described.put("power_in_milliwatts", sensors.powerMilliwatts);
    described.put("temperature_in_celsius", sensors.temperatureCelsius);
    described.values().removeIf(Objects::isNull);
    return described;
  }

  private static String version(int number, int parts) {
    return number / parts + "." + number % parts;
  }
}
