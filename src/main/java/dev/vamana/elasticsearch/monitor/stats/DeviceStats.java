package dev.vamana.elasticsearch.monitor.stats;

import java.io.IOException;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * A device, and the current values of its sensors.
 *
 * @param ordinal number of the device, from 0
 * @param uuid UUID as {@code nvidia-smi -L} prints it, or null if it is not known
 * @param name name that the driver reports
 * @param computeCapability ten times major plus minor, 90 for 9.0
 * @param multiprocessors number of streaming multiprocessors
 * @param totalBytes device memory in bytes
 * @param cudaVersion newest CUDA version that the driver supports, 13000 for 13.0
 * @param sensors values of the sensors
 */
public record DeviceStats(
    int ordinal,
    String uuid,
    String name,
    int computeCapability,
    int multiprocessors,
    long totalBytes,
    int cudaVersion,
    Sensors sensors)
    implements Writeable, ToXContentObject {

  /**
   * Values of a device's sensors; null if the device or the container does not report them.
   *
   * @param driverVersion version of the installed driver, for instance {@code 580.65.06}
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
      Integer temperatureCelsius)
      implements Writeable {

    /** No sensor has a value. */
    public static final Sensors NONE = new Sensors(null, null, null, null, null);

    Sensors(StreamInput in) throws IOException {
      this(
          in.readOptionalString(),
          in.readOptionalVLong(),
          in.readOptionalVInt(),
          in.readOptionalVInt(),
          in.readOptionalInt());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeOptionalString(driverVersion);
      out.writeOptionalVLong(usedBytes);
      out.writeOptionalVInt(utilizationPercent);
      out.writeOptionalVInt(powerMilliwatts);
      out.writeOptionalInt(temperatureCelsius);
    }
  }

  public DeviceStats {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(sensors, "sensors");
  }

  /** The same without a UUID. */
  DeviceStats(
      int ordinal,
      String name,
      int computeCapability,
      int multiprocessors,
      long totalBytes,
      int cudaVersion,
      Sensors sensors) {
    this(ordinal, null, name, computeCapability, multiprocessors, totalBytes, cudaVersion, sensors);
  }

  /** Reads what {@link #writeTo} wrote. */
  public DeviceStats(StreamInput in) throws IOException {
    this(
        in.readVInt(),
        in.readOptionalString(),
        in.readString(),
        in.readVInt(),
        in.readVInt(),
        in.readVLong(),
        in.readVInt(),
        new Sensors(in));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeVInt(ordinal);
    out.writeOptionalString(uuid);
    out.writeString(name);
    out.writeVInt(computeCapability);
    out.writeVInt(multiprocessors);
    out.writeVLong(totalBytes);
    out.writeVInt(cudaVersion);
    sensors.writeTo(out);
  }

  /** The compute capability as in {@code 9.0}. */
  String computeCapabilityLabel() {
    return computeCapability / 10 + "." + computeCapability % 10;
  }

  /** The CUDA version as in {@code 13.0}. */
  String cudaVersionLabel() {
    return cudaVersion / 1000 + "." + cudaVersion % 1000 / 10;
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    json.field("ordinal", ordinal);
    if (uuid != null) {
      json.field("uuid", uuid);
    }
    json.field("name", name);
    json.field("compute_capability", computeCapabilityLabel());
    json.field("multiprocessors", multiprocessors);
    json.field("cuda_version", cudaVersionLabel());
    if (sensors.driverVersion != null) {
      json.field("driver_version", sensors.driverVersion);
    }
    json.humanReadableField(
        "memory_total_in_bytes", "memory_total", ByteSizeValue.ofBytes(totalBytes));
    if (sensors.usedBytes != null) {
      json.humanReadableField(
          "memory_used_in_bytes", "memory_used", ByteSizeValue.ofBytes(sensors.usedBytes));
    }
    if (sensors.utilizationPercent != null) {
      json.field("utilization_percent", sensors.utilizationPercent);
    }
    if (sensors.powerMilliwatts != null) {
      json.field("power_in_milliwatts", sensors.powerMilliwatts);
    }
    if (sensors.temperatureCelsius != null) {
      json.field("temperature_in_celsius", sensors.temperatureCelsius);
    }
    return json.endObject();
  }
}
