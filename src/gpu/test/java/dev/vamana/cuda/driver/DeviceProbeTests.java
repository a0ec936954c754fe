package dev.vamana.cuda.driver;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakFilters;
import dev.vamana.cuda.kernel.HostLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.QuickPatchThreadsFilter;

/** Tests the probe's result without a GPU, and its messages for GPUs that do not fit. */
@ThreadLeakFilters(
    defaultFilters = true,
    filters = {QuickPatchThreadsFilter.class, HostLibrary.CleanerThread.class})
public class DeviceProbeTests extends LuceneTestCase {

  private static final KernelImages KERNELS = images(0, 80, 90, 100);
  private static final KernelImages NONE = indexOnly(KernelIndex.NONE);

  /** Images that exist in the index only. */
  private static KernelImages indexOnly(KernelIndex index) {
    return new KernelImages("nowhere", path -> null, index);
  }

  private static KernelImages images(int ptx, Integer... architectures) {
    return indexOnly(
        new KernelIndex(
            new TreeMap<>(Map.of("walk", List.of("walk_one"))),
            List.of(architectures),
            ptx,
            12_090));
  }

  /** Devices that are not there. */
  static class Devices implements DriverLibrary {
    int initialized;
    int version = 13_000;
    final List<Integer> capabilities = new ArrayList<>();

    Devices with(int computeCapability) {
      capabilities.add(computeCapability);
      return this;
    }

    @Override
    public int initialize() {
      return initialized;
    }

    @Override
    public String errorName(int result) {
      return "CUDA_ERROR_NO_DEVICE";
    }

    @Override
    public int version() {
      return version;
    }

    @Override
    public int deviceCount() {
      return capabilities.size();
    }

    @Override
    public String name(int ordinal) {
      return "Example " + capabilities.get(ordinal);
    }

    @Override
    public String uuid(int ordinal) {
      return "GPU-0000000" + ordinal + "-0000-0000-0000-000000000000";
    }

    @Override
    public long totalBytes(int ordinal) {
      return 1L << 40;
    }

    @Override
    public int attribute(int attribute, int ordinal) {
      return switch (attribute) {
        case 75 -> capabilities.get(ordinal) / 10;
        case 76 -> capabilities.get(ordinal) % 10;
        case 16 -> 132;
        case 97 -> 232_448;
        case 38 -> 50 << 20;
        default -> throw new AssertionError("attribute " + attribute);
      };
    }
  }

  private static DeviceProbe.Result probe(int ordinal, Devices devices, KernelImages images) {
    return new DeviceProbe(ordinal, () -> devices, images, KernelFallback.NONE).result();
  }

  private static void assertUnusable(DeviceProbe.Result result, String... words) {
    assertFalse(result.usable());
    assertNull(result.device());
    assertTrue(result.description(), result.description().startsWith("no usable GPU: "));
    for (String word : words) {
      assertTrue(result.description(), result.description().contains(word));
    }
  }

  public void testAMachineWithoutADriver() {
    assumeFalse("this machine has a driver", Files.exists(Path.of("/proc/driver/nvidia")));
    DeviceProbe probe = new DeviceProbe(0);
    for (int round = 0; round < 3; round++) {
      assertUnusable(
          round == 0 ? probe.result() : probe.again(),
          "libcuda.so.1, the NVIDIA driver, cannot be loaded",
          "cannot open shared object file");
      assertSame(probe.result(), probe.result());
      GpuException e = expectThrows(GpuException.class, probe::open);
      assertEquals(GpuException.Kind.UNAVAILABLE, e.kind());
      assertEquals(probe.result().description(), e.getMessage());
    }
  }

  public void testJcudaThatCannotBeLoaded() {
    assumeFalse("this machine has a driver", Files.exists(Path.of("/proc/driver/nvidia")));
    DeviceProbe probe =
        new DeviceProbe(0, () -> new Devices().with(90), KERNELS, KernelFallback.NONE);
    assertTrue(probe.result().description(), probe.result().usable());
    for (int round = 0; round < 3; round++) {
      GpuException e = expectThrows(GpuException.class, probe::open);
      assertEquals(GpuException.Kind.UNAVAILABLE, e.kind());
      assertTrue(e.getMessage(), e.getMessage().startsWith("JCuda cannot be loaded: "));
    }
  }

  public void testAnyFailureToLoadTheLibrary() {
    for (Throwable failure :
        List.of(
            new UnsatisfiedLinkError("first line\n\tsecond line\n\tthird line"),
            new NoClassDefFoundError("first line"),
            new ExceptionInInitializerError("first line"),
            new IllegalStateException("first line"))) {
      DeviceProbe probe =
          new DeviceProbe(0, () -> sneakyThrow(failure), KERNELS, KernelFallback.NONE);
      assertUnusable(probe.result(), "first line", failure.getClass().getSimpleName());
      assertFalse(probe.result().description().contains("third line"));
    }
  }

  @SuppressWarnings("unchecked")
  private static <E extends Throwable> DriverLibrary sneakyThrow(Throwable e) throws E {
    throw (E) e;
  }

  public void testAUsableDevice() {
    DeviceProbe.Result result = probe(1, new Devices().with(75).with(90), KERNELS);
    assertTrue(result.usable());
    assertEquals(
        new DeviceInfo(
            1, "Example 90", 90, 132, 232_448, 50 << 20, 1L << 40, 13_000, new Devices().uuid(1)),
        result.device());
    assertEquals(
        "using GPU 1, Example 90 with 1048576 MiB; libcuda.so.1 for CUDA 13.0 finds: device 0 is"
            + " Example 75 of compute capability 7.5, device 1 is Example 90 of compute capability"
            + " 9.0",
        result.description());
  }

  public void testUnusableDevices() {
    Devices broken = new Devices();
    broken.initialized = 100;
    assertUnusable(probe(0, broken, KERNELS), "cuInit answered CUDA_ERROR_NO_DEVICE (100)");
    assertUnusable(probe(0, new Devices(), KERNELS), "finds no device", "device 0 was asked for");
    assertUnusable(
        probe(2, new Devices().with(90).with(86), KERNELS),
        "device 1 is Example 86 of compute capability 8.6",
        "device 2 was asked for");
    assertUnusable(
        probe(0, new Devices().with(70), KERNELS), "7.0", "compute capability 7.5 is needed");
    assertUnusable(
        probe(0, new Devices().with(75), KERNELS),
        "built for 8.0, 9.0, 10.0 and do not run on device 0",
        "-Dcuda.architectures=75");
    Devices old = new Devices().with(90);
    old.version = 11_040;
    assertUnusable(probe(0, old, KERNELS), "for CUDA 11.4", "CUDA 12.0 is needed");
    assertUnusable(probe(0, new Devices().with(86), images(0, 90, 100)), "built for 9.0, 10.0");
    assertUnusable(
        probe(0, new Devices().with(90), NONE),
        "Example 90",
        "built without kernels",
        "-Dcuda.architectures=90");
  }

  public void testDriversThatAreTooOldForTheImages() {
    Devices old = new Devices().with(90).with(130);
    old.version = 12_000;
    assertTrue(probe(0, old, images(120, 90)).usable());
    // PTX is of the compiler's own version, which the driver has to know
    assertUnusable(
        probe(1, old, images(120, 90)), "drivers of CUDA 12.9 or later: update the NVIDIA driver");
    old.version = 12_090;
    assertTrue(probe(1, old, images(120, 90)).usable());
  }

  public void testAFallbackIsAskedOnlyForWhatImagesDoNotServe() {
    List<Integer> asked = new ArrayList<>();
    KernelFallback fallback =
        capability -> {
          asked.add(capability);
          if (capability == 75) {
            throw new IOException("no compiler");
          }
          return images(0, capability);
        };
    Devices devices = new Devices().with(90).with(86).with(75);
    KernelImages hopper = images(0, 90);
    for (int device = 0; device < 2; device++) {
      DeviceProbe probe = new DeviceProbe(device, () -> devices, hopper, fallback);
      assertTrue(probe.result().description(), probe.result().usable());
    }
    assertEquals(List.of(86), asked);
    assertUnusable(
        new DeviceProbe(2, () -> devices, hopper, fallback).result(),
        "built for 9.0",
        "no compiler");
  }
}
