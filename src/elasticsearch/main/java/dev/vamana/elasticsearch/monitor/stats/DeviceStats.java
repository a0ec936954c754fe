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
 */
public record DeviceStats(GpuStatistics statistics) {

  public DeviceStats {
    Objects.requireNonNull(statistics, "statistics");
  }

  /** The device, for an entry of the section {@code devices}; counters are added elsewhere. */
  Map<String, Object> described() {
    DeviceInfo device = statistics.device();
    Map<String, Object> described = new LinkedHashMap<>();
    described.put("ordinal", device.ordinal());
    described.put("uuid", device.uuid());
    described.put("name", device.name());
    described.put("compute_capability", version(device.computeCapability(), 10));
    described.put("cuda_version", version(device.driverVersion() / 10, 100));
    described.put("usable", statistics.usable());
    described.put("reason", statistics.reason());
    described.put("memory_total_in_bytes", device.totalBytes());
    described.values().removeIf(Objects::isNull);
    return described;
  }

  private static String version(int number, int parts) {
    return number / parts + "." + number % parts;
  }
}
