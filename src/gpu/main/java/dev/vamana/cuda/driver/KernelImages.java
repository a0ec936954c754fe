package dev.vamana.cuda.driver;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.lucene.util.IOFunction;

/**
 * Compiled kernels: machine code of each module for some compute capabilities, and perhaps PTX,
 * which the driver compiles for devices that are newer than all of them.
 *
 * <p>They lie in the jar, where the build writes them, or in a folder, where a node writes kernels
 * that it compiles itself. Both hold {@code index.properties} ({@link KernelIndex}), {@code
 * sm_90/<module>.cubin} for compute capability 9.0, and {@code compute_120/<module>.ptx}.
 */
public final class KernelImages {

  private static final String JAR_FOLDER = "/dev/vamana/cuda/kernels/";
  private static final String BENCH_FOLDER = "/dev/vamana/cuda/bench-kernels/";

  private final String place;
  // opens a file beside the index by its relative path, or answers null if there is none
  private final IOFunction<String, InputStream> opener;
  private final KernelIndex index;

  KernelImages(String place, IOFunction<String, InputStream> opener, KernelIndex index) {
    this.place = place;
    this.opener = opener;
    this.index = index;
  }

  /** The images of this jar; none if it was built without kernels. */
  public static KernelImages ofThisJar() {
    return inJar(JAR_FOLDER);
  }

  /** Kernels that only measure, which the GPU suite has on its class path; usually none. */
  static KernelImages ofBenchmarks() {
    return inJar(BENCH_FOLDER);
  }

  static KernelImages inJar(String folder) {
    return read(folder, path -> KernelImages.class.getResourceAsStream(folder + path));
  }

  /** The images of a folder; none if it has no index. */
  public static KernelImages inFolder(Path folder) {
    return read(
        folder.toString(),
        path -> {
          Path file = folder.resolve(path);
          return Files.exists(file) ? Files.newInputStream(file) : null;
        });
  }

  private static KernelImages read(String place, IOFunction<String, InputStream> opener) {
    try (InputStream file = opener.apply(KernelIndex.FILE)) {
      return new KernelImages(
          place, opener, file == null ? KernelIndex.NONE : present(KernelIndex.read(file), opener));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The part of an index whose images exist: a jar may hold the images of one architecture only.
   */
  private static KernelIndex present(KernelIndex index, IOFunction<String, InputStream> opener)
      throws IOException {
    if (index.modules().isEmpty()) {
      return index;
    }
    String module = index.modules().firstKey();
    List<Integer> architectures = new ArrayList<>();
    for (int each : index.architectures()) {
      if (isThere(KernelIndex.cubin(module, each), opener)) {
        architectures.add(each);
      }
    }
    boolean ptx = isThere(KernelIndex.ptx(module, index.ptx()), opener);
    return new KernelIndex(
        index.modules(), architectures, ptx ? index.ptx() : 0, index.cudaVersion());
  }

  private static boolean isThere(String path, IOFunction<String, InputStream> opener)
      throws IOException {
    try (InputStream image = opener.apply(path)) {
      return image != null;
    }
  }

  /** Names of the modules; empty if there are no kernels. */
  Set<String> modules() {
    return index.modules().keySet();
  }

  /** Name of the module that holds a kernel, or null if none does. */
  String moduleOf(String kernel) {
    for (Map.Entry<String, List<String>> module : index.modules().entrySet()) {
      if (module.getValue().contains(kernel)) {
        return module.getKey();
      }
    }
    return null;
  }

  /**
   * Smallest driver version, as the driver counts, that loads the images on a device: machine code
   * loads on every driver of the compiler's major version (525 and later for CUDA 12), PTX only on
   * drivers that are at least as new as the compiler.
   */
  int driverVersion(int computeCapability) {
    boolean machineCode = machineCodeFor(computeCapability) != 0;
    return machineCode ? index.cudaVersion() / 1000 * 1000 : index.cudaVersion();
  }

  /** Whether a device of this compute capability (90 for 9.0) can run the kernels. */
  public boolean runOn(int computeCapability) {
    return machineCodeFor(computeCapability) != 0
        || (index.ptx() != 0 && index.ptx() <= computeCapability);
  }

  /**
   * The best compute capability with machine code for a device, or 0 if there is none: machine code
   * runs on devices of its own major version from its own minor version on.
   */
  private int machineCodeFor(int computeCapability) {
    int best = 0;
    for (int each : index.architectures()) {
      if (each / 10 == computeCapability / 10 && each <= computeCapability) {
        best = each;
      }
    }
    return best;
  }

  /** Compute capabilities that the kernels are compiled for, for instance {@code 8.0, 9.0}. */
  String describeArchitectures() {
    return index.architectures().stream()
        .map(KernelImages::version)
        .collect(Collectors.joining(", "));
  }

  /** A compute capability as people write it, 9.0 for 90. */
  public static String version(int computeCapability) {
    return computeCapability / 10 + "." + computeCapability % 10;
  }

  /** A version of CUDA as people write it, 12.9 for 12090, as drivers and compilers count. */
  public static String cudaVersion(int counted) {
    return counted / 1000 + "." + counted % 1000 / 10;
  }

  /**
   * The image of a module for a device: machine code, or PTX that ends with a zero byte as the
   * driver wants it.
   *
   * @throws GpuException if the images have none
   */
  byte[] image(String module, int computeCapability) {
    int architecture = machineCodeFor(computeCapability);
    String path =
        architecture != 0
            ? KernelIndex.cubin(module, architecture)
            : KernelIndex.ptx(module, index.ptx());
    try (InputStream image = opener.apply(path)) {
      if (image == null) {
        throw new GpuException(
            GpuException.Kind.UNAVAILABLE, "kernel image " + path + " is missing in " + place);
      }
      return image.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
