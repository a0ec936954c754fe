package dev.vamana.cuda.driver;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;

/**
 * The compiled kernels inside the jar, as native-kernels/build leaves them: {@code
 * index.properties} names modules and architectures, and every module is one fatbin with machine
 * code for each architecture and PTX for the last.
 */
final class KernelImages {

  private static final String FOLDER = "/dev/vamana/cuda/kernels/";

  private final String folder;
  private final List<String> modules;
  private final List<Integer> architectures;

  private KernelImages(String folder, List<String> modules, List<Integer> architectures) {
    this.folder = folder;
    this.modules = modules;
    this.architectures = architectures;
  }

  /** Those of this jar; without any if it was built where there is no nvcc. */
  static KernelImages ofThisJar() {
    return in(FOLDER);
  }

  static KernelImages in(String folder) {
    try (InputStream index = KernelImages.class.getResourceAsStream(folder + "index.properties")) {
      if (index == null) {
        return of(List.of(), List.of());
      }
      Properties properties = new Properties();
      properties.load(new InputStreamReader(index, StandardCharsets.UTF_8));
      return new KernelImages(
          folder,
          words(properties, "modules"),
          words(properties, "architectures").stream().map(Integer::valueOf).sorted().toList());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static KernelImages of(List<String> modules, List<Integer> architectures) {
    return new KernelImages(FOLDER, modules, architectures);
  }

  private static List<String> words(Properties properties, String key) {
    return Arrays.stream(properties.getProperty(key, "").split(" "))
        .filter(word -> word.isEmpty() == false)
        .toList();
  }

  /** Names of the modules; empty if there are no kernels. */
  List<String> modules() {
    return modules;
  }

  /**
   * Whether a device of this compute capability (90 for 9.0) can run the kernels: machine code runs
   * on its own major version from its own minor version on, PTX on everything later.
   */
  boolean runOn(int computeCapability) {
    return architectures.stream()
            .anyMatch(each -> each / 10 == computeCapability / 10 && each <= computeCapability)
        || (architectures.isEmpty() == false
            && architectures.get(architectures.size() - 1) <= computeCapability);
  }

  /** What the kernels are compiled for, for instance {@code 8.0, 9.0}. */
  String describeArchitectures() {
    return architectures.stream().map(KernelImages::version).collect(Collectors.joining(", "));
  }

  /** A compute capability as people write it. */
  static String version(int computeCapability) {
    return computeCapability / 10 + "." + computeCapability % 10;
  }

  /** The fatbin of a module. */
  byte[] image(String module) {
    try (InputStream image = KernelImages.class.getResourceAsStream(folder + module + ".fatbin")) {
      if (image == null) {
        throw new GpuException(
            GpuException.Kind.UNAVAILABLE, "the jar lacks " + folder + module + ".fatbin");
      }
      return image.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
