package dev.vamana.cuda.driver;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * Finds the devices that an operator listed by number or UUID. The plugin asks it before it probes
 * and opens devices.
 */
public final class DeviceList {

  /** Stands for all devices that the driver shows to the process. */
  public static final String ALL = "all";

  private final Supplier<DriverLibrary> libcuda;

  /** A list of the devices of this machine, which has not been looked at. */
  public DeviceList() {
    this(LibCuda::new);
  }

  DeviceList(Supplier<DriverLibrary> libcuda) {
    this.libcuda = libcuda;
  }

  /**
   * Returns the numbers of devices, in the order of the list.
   *
   * @param listed {@link #ALL}, or numbers and UUIDs
   * @throws GpuException with {@link GpuException.Kind#UNAVAILABLE} if there is no driver, no
   *     device of a number or UUID, or the same device twice; the message names what the driver
   *     finds
   */
  public List<Integer> find(List<String> listed) {
    if (listed.size() == 1 && isNumber(listed.get(0))) {
      // what is wrong with it, the probe says
      return List.of(Integer.valueOf(listed.get(0)));
    }
    List<String> uuids = uuids();
    List<Integer> found = new ArrayList<>();
    if (listed.equals(List.of(ALL))) {
      for (int i = 0; i < uuids.size(); i++) {
        found.add(i);
      }
      if (found.isEmpty()) {
        throw unavailable("all devices were asked for", uuids);
      }
      return found;
    }
    for (String each : listed) {
      int ordinal = isNumber(each) ? Integer.parseInt(each) : position(uuids, each);
      if (ordinal < 0 || ordinal >= uuids.size()) {
        throw unavailable("device [" + each + "] was asked for", uuids);
      }
      if (found.contains(ordinal)) {
        throw unavailable("device [" + each + "] was asked for twice, as number and UUID", uuids);
      }
      found.add(ordinal);
    }
    return found;
  }

  private static boolean isNumber(String text) {
    return text.chars().allMatch(character -> character >= '0' && character <= '9');
  }

  /** The driver does not say whether a UUID is one of a device or of a part of one. */
  private static int position(List<String> uuids, String wanted) {
    String bare = wanted.substring(wanted.indexOf('-') + 1);
    for (int i = 0; i < uuids.size(); i++) {
      if (uuids.get(i).endsWith("-" + bare)) {
        return i;
      }
    }
    return -1;
  }

  private List<String> uuids() {
    try {
      DriverLibrary driver = libcuda.get();
      int initialized = driver.initialize();
      if (initialized != 0) {
        throw new GpuException(
            GpuException.Kind.UNAVAILABLE,
            "no usable GPU: cuInit answered " + driver.errorName(initialized));
      }
      List<String> uuids = new ArrayList<>();
      for (int i = 0; i < driver.deviceCount(); i++) {
        uuids.add(driver.uuid(i));
      }
      return uuids;
    } catch (LinkageError e) {
      throw new GpuException(
          GpuException.Kind.UNAVAILABLE,
          "no usable GPU: " + LibCuda.FILE + ", the NVIDIA driver, cannot be loaded: " + e,
          e);
    }
  }

  private static GpuException unavailable(String what, List<String> uuids) {
    StringBuilder message = new StringBuilder("no usable GPU: " + what + ", but the driver finds ");
    message.append(uuids.isEmpty() ? "no device" : "");
    for (int i = 0; i < uuids.size(); i++) {
      message.append(i == 0 ? "" : ", ").append(i).append(" (").append(uuids.get(i)).append(")");
    }
    return new GpuException(GpuException.Kind.UNAVAILABLE, message.toString());
  }

  /** Writes the 16 bytes of a UUID as {@code nvidia-smi -L} does. */
  static String uuid(byte[] bytes) {
    String hex = HexFormat.of().formatHex(bytes).toLowerCase(Locale.ROOT);
    return String.join(
        "-",
        "GPU",
        hex.substring(0, 8),
        hex.substring(8, 12),
        hex.substring(12, 16),
        hex.substring(16, 20),
        hex.substring(20));
  }
}
