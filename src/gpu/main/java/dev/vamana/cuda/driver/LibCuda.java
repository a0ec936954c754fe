package dev.vamana.cuda.driver;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.LongByReference;
import com.sun.jna.ptr.PointerByReference;
import java.nio.charset.StandardCharsets;

/**
 * The driver library, called through JNA. {@link DeviceProbe} uses it because it can look for the
 * library repeatedly, while JCuda's classes stay broken once their initialization has failed.
 */
final class LibCuda implements DriverLibrary {

  static final String FILE = "libcuda.so.1";

  private final NativeLibrary library;

  /**
   * Loads the library.
   *
   * @throws UnsatisfiedLinkError if it cannot be loaded; other errors if JNA cannot load itself
   */
  LibCuda() {
    library = NativeLibrary.getInstance(FILE);
  }

  private int call(String function, Object... arguments) {
    return library.getFunction(function).invokeInt(arguments);
  }

  private void check(String function, Object... arguments) {
    int result = call(function, arguments);
    if (result != 0) {
      throw new GpuException(
          GpuException.Kind.UNAVAILABLE,
          function + " answered " + errorName(result) + " (" + result + ")");
    }
  }

  @Override
  public int initialize() {
    return call("cuInit", 0);
  }

  @Override
  public String errorName(int result) {
    PointerByReference name = new PointerByReference();
    return call("cuGetErrorName", result, name) == 0
        ? name.getValue().getString(0, StandardCharsets.UTF_8.name())
        : "an unknown error";
  }

  @Override
  public int version() {
    IntByReference version = new IntByReference();
    check("cuDriverGetVersion", version);
    return version.getValue();
  }

  @Override
  public int deviceCount() {
    IntByReference count = new IntByReference();
    check("cuDeviceGetCount", count);
    return count.getValue();
  }

  private int device(int ordinal) {
    IntByReference device = new IntByReference();
    check("cuDeviceGet", device, ordinal);
    return device.getValue();
  }

  @Override
  public String name(int ordinal) {
    int size = 256;
    try (Memory text = new Memory(size)) {
      check("cuDeviceGetName", (Pointer) text, size, device(ordinal));
      return text.getString(0, StandardCharsets.UTF_8.name());
    }
  }

  @Override
  public String uuid(int ordinal) {
    int size = 16;
    try (Memory bytes = new Memory(size)) {
      check("cuDeviceGetUuid_v2", (Pointer) bytes, device(ordinal));
      return DeviceList.uuid(bytes.getByteArray(0, size));
    }
  }

  @Override
  public long totalBytes(int ordinal) {
    LongByReference bytes = new LongByReference();
    check("cuDeviceTotalMem_v2", bytes, device(ordinal));
    return bytes.getValue();
  }

  @Override
  public int attribute(int attribute, int ordinal) {
    IntByReference value = new IntByReference();
    check("cuDeviceGetAttribute", value, attribute, device(ordinal));
    return value.getValue();
  }
}
