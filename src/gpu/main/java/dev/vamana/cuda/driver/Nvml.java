package dev.vamana.cuda.driver;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.Closeable;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Reads a device's current memory use, utilization, power and temperature from NVIDIA's management
 * library, through JNA. Every value is optional, since a device may not measure it or a container
 * may not permit it. Methods do not throw.
 */
public final class Nvml implements Closeable {

  private static final String FILE = "libnvidia-ml.so.1";

  /** Sensor number of the chip's temperature. */
  private static final int CHIP = 0;

  private final NativeLibrary nvml;
  private final Pointer device;
  private boolean closed;

  private Nvml(NativeLibrary nvml, Pointer device) {
    this.nvml = nvml;
    this.device = device;
  }

  /**
   * Opens the library for one device.
   *
   * @param pciBusId the device's PCI address, for instance {@link DeviceProbe.Result#pciBusId()};
   *     NVML may number devices in another order than CUDA
   * @return empty if the library or the device is missing
   */
  public static Optional<Nvml> open(String pciBusId) {
    try {
      NativeLibrary library = NativeLibrary.getInstance(FILE);
      if (call(library, "nvmlInit_v2") == false) {
        return Optional.empty();
      }
      PointerByReference device = new PointerByReference();
      if (call(library, "nvmlDeviceGetHandleByPciBusId_v2", pciBusId, device) == false) {
        call(library, "nvmlShutdown");
        return Optional.empty();
      }
      return Optional.of(new Nvml(library, device.getValue()));
    } catch (Exception | LinkageError e) {
      return Optional.empty();
    }
  }

  /** Version of the installed driver, for instance {@code 580.65.06}. */
  public Optional<String> driverVersion() {
    int size = 80;
    try (Memory text = new Memory(size)) {
      return ask("nvmlSystemGetDriverVersion", (Pointer) text, size)
          ? Optional.of(text.getString(0, StandardCharsets.UTF_8.name()))
          : Optional.empty();
    }
  }

  /** Device memory in use by all processes, in bytes. */
  public OptionalLong memoryUsed() {
    // total, free and used bytes
    try (Memory bytes = new Memory(3 * Long.BYTES)) {
      return ask("nvmlDeviceGetMemoryInfo", device, (Pointer) bytes)
          ? OptionalLong.of(bytes.getLong(2L * Long.BYTES))
          : OptionalLong.empty();
    }
  }

  /** Percent of the last sample period during which a kernel ran. */
  public OptionalInt utilization() {
    try (Memory percents = new Memory(2 * Integer.BYTES)) {
      return ask("nvmlDeviceGetUtilizationRates", device, (Pointer) percents)
          ? OptionalInt.of(percents.getInt(0))
          : OptionalInt.empty();
    }
  }

  /** Current power draw in milliwatts. */
  public OptionalInt powerMilliwatts() {
    IntByReference power = new IntByReference();
    return ask("nvmlDeviceGetPowerUsage", device, power)
        ? OptionalInt.of(power.getValue())
        : OptionalInt.empty();
  }

  /** Temperature of the chip in degrees Celsius. */
  public OptionalInt temperatureCelsius() {
    IntByReference temperature = new IntByReference();
    return ask("nvmlDeviceGetTemperature", device, CHIP, temperature)
        ? OptionalInt.of(temperature.getValue())
        : OptionalInt.empty();
  }

  /** Closes the library. All values are empty from then on. */
  @Override
  public synchronized void close() {
    if (closed == false) {
      ask("nvmlShutdown");
      closed = true;
    }
  }

  private synchronized boolean ask(String function, Object... arguments) {
    return closed == false && call(nvml, function, arguments);
  }

  /** Calls a function and returns whether it succeeded. */
  private static boolean call(NativeLibrary library, String function, Object... arguments) {
    try {
      return library.getFunction(function).invokeInt(arguments) == 0;
    } catch (LinkageError e) {
      // older libraries lack newer functions
      return false;
    }
  }
}
