package dev.vamana.cuda.driver;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import jcuda.driver.CUdevice_attribute;

/**
 * Looks for the GPU that an operator chose, once, and describes in one sentence what it found.
 * Never throws for want of a GPU, whatever is missing or broken.
 *
 * <p>The probe calls the driver library alone, so that no class of JCuda is loaded on a machine
 * without a driver.
 */
public final class DeviceProbe {

  /** Ten times the smallest compute capability that kernels are written for, 7.5. */
  public static final int MIN_COMPUTE_CAPABILITY = 75;

  /**
   * Oldest driver that works, as the driver counts: the bindings are of CUDA 12.0, which is driver
   * 525. {@link KernelImages#driverVersion} may ask for a newer one.
   */
  public static final int MIN_DRIVER_VERSION = 12_000;

  private final int ordinal;
  private final Supplier<DriverLibrary> libcuda;
  private final KernelImages images;
  private final KernelFallback fallback;
  private KernelImages chosen;
  private Result result;

  /**
   * Result of a probe.
   *
   * @param device the device, or null if there is no usable one
   * @param description a sentence, for logs and error messages
   */
  public record Result(DeviceInfo device, String description) {
    /** Whether there is a usable device. */
    public boolean usable() {
      return device != null;
    }
  }

  /**
   * A probe for one device, which has not begun.
   *
   * @param ordinal number of the device as the driver counts, from 0
   */
  public DeviceProbe(int ordinal) {
    this(ordinal, KernelFallback.NONE);
  }

  /**
   * A probe for one device, which has not begun.
   *
   * @param ordinal number of the device as the driver counts, from 0
   * @param fallback gives kernels if the images of this jar do not run on the device
   */
  public DeviceProbe(int ordinal, KernelFallback fallback) {
    this(ordinal, LibCuda::new, KernelImages.ofThisJar(), fallback);
  }

  DeviceProbe(
      int ordinal, Supplier<DriverLibrary> libcuda, KernelImages images, KernelFallback fallback) {
    if (ordinal < 0) {
      throw new IllegalArgumentException("device must be 0 or larger, not " + ordinal);
    }
    this.ordinal = ordinal;
    this.libcuda = libcuda;
    this.images = images;
    this.fallback = fallback;
  }

  /** Returns the result; the first call probes. */
  public synchronized Result result() {
    if (result == null) {
      result = probe();
    }
    return result;
  }

  /** Forgets what was found and probes again. */
  public synchronized Result again() {
    result = null;
    return result();
  }

  /**
   * Opens a context on the device.
   *
   * @throws GpuException with {@link GpuException.Kind#UNAVAILABLE} if it is not usable, or with
   *     whatever the driver answers
   */
  public CudaDriver open() {
    Result found = result();
    if (found.usable() == false) {
      throw new GpuException(GpuException.Kind.UNAVAILABLE, found.description());
    }
    try {
      return JcudaDriver.open(found.device(), chosenImages());
    } catch (LinkageError e) {
      throw new GpuException(
          GpuException.Kind.UNAVAILABLE, "JCuda cannot be loaded: " + brief(e), e);
    }
  }

  private synchronized KernelImages chosenImages() {
    return chosen;
  }

  /**
   * Names and compute capabilities of the devices that the driver finds, without looking whether
   * kernels run on them; empty without a driver.
   */
  public static List<Map.Entry<String, Integer>> devices() {
    List<Map.Entry<String, Integer>> found = new ArrayList<>();
    try {
      DriverLibrary driver = new LibCuda();
      if (driver.initialize() == 0) {
        for (int i = 0; i < driver.deviceCount(); i++) {
          found.add(Map.entry(driver.name(i), computeCapability(driver, i)));
        }
      }
    } catch (RuntimeException | LinkageError e) {
      // no driver, or one that does not work: result() describes what is wrong
      return List.of();
    }
    return found;
  }

  private Result probe() {
    DriverLibrary driver;
    try {
      driver = libcuda.get();
    } catch (Throwable e) {
      // JNA may fail to load itself, or not be allowed to: errors of any kind
      return unusable(LibCuda.FILE + ", the NVIDIA driver, cannot be loaded: " + brief(e));
    }
    try {
      return probe(driver);
    } catch (Exception | LinkageError e) {
      return unusable(LibCuda.FILE + " was loaded, but fails: " + brief(e));
    }
  }

  private Result probe(DriverLibrary driver) {
    int initialized = driver.initialize();
    if (initialized != 0) {
      return unusable(
          LibCuda.FILE
              + " was loaded, but cuInit answered "
              + driver.errorName(initialized)
              + " ("
              + initialized
              + ")");
    }
    int version = driver.version();
    String found = LibCuda.FILE + " for CUDA " + KernelImages.cudaVersion(version);
    if (version < MIN_DRIVER_VERSION) {
      return unusable(
          found
              + " was loaded, but CUDA "
              + KernelImages.cudaVersion(MIN_DRIVER_VERSION)
              + " is needed");
    }
    int count = driver.deviceCount();
    List<String> devices = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      devices.add(
          "device "
              + i
              + " is "
              + driver.name(i)
              + " of compute capability "
              + KernelImages.version(computeCapability(driver, i)));
    }
    found += devices.isEmpty() ? " finds no device" : " finds: " + String.join(", ", devices);
    if (ordinal >= count) {
      return unusable(found + "; device " + ordinal + " was asked for");
    }
    return check(driver, version, found);
  }

  private Result check(DriverLibrary driver, int version, String found) {
    int capability = computeCapability(driver, ordinal);
    if (capability < MIN_COMPUTE_CAPABILITY) {
      return unusable(
          found
              + "; device "
              + ordinal
              + " was asked for, but compute capability "
              + KernelImages.version(MIN_COMPUTE_CAPABILITY)
              + " is needed");
    }
    chosen = images;
    if (images.runOn(capability) == false) {
      String lacking =
          images.modules().isEmpty()
              ? "this plugin was built without kernels"
              : "the kernels of this plugin were built for "
                  + images.describeArchitectures()
                  + " and do not run on device "
                  + ordinal;
      try {
        chosen = fallback.imagesFor(capability);
      } catch (IOException e) {
        return unusable(found + "; " + lacking + ": " + e.getMessage());
      }
    }
    int needed = chosen.driverVersion(capability);
    if (version < needed) {
      return unusable(
          found
              + "; the kernels were compiled for drivers of CUDA "
              + KernelImages.cudaVersion(needed)
              + " or later: update the NVIDIA driver");
    }
    DeviceInfo info =
        new DeviceInfo(
            ordinal,
            driver.name(ordinal),
            capability,
            driver.attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, ordinal),
            driver.attribute(
                CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, ordinal),
            driver.attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, ordinal),
            driver.totalBytes(ordinal),
            version,
            driver.uuid(ordinal));
    return new Result(
        info,
        "using GPU "
            + ordinal
            + ", "
            + info.name()
            + " with "
            + (info.totalBytes() >> 20)
            + " MiB; "
            + found);
  }

  private static int computeCapability(DriverLibrary driver, int device) {
    int major =
        driver.attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    int minor =
        driver.attribute(CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    return 10 * major + minor;
  }

  private static Result unusable(String found) {
    return new Result(null, "no usable GPU: " + found);
  }

  /** JNA's and JCuda's messages go on with every place that was searched. */
  private static String brief(Throwable e) {
    return String.valueOf(e.getMessage())
        .lines()
        .map(String::strip)
        .limit(2)
        .collect(Collectors.joining(" ", e.getClass().getSimpleName() + ": ", ""));
  }
}
