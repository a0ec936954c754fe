package dev.vamana.cuda.driver;

import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The file {@code index.properties} beside compiled kernels.
 *
 * <table>
 *   <caption>Its properties</caption>
 *   <tr><td>{@code architectures}</td><td>compute capabilities with machine code, 90 for 9.0</td></tr>
 *   <tr><td>{@code ptx}</td><td>compute capability of the PTX; missing if there is none</td></tr>
 *   <tr><td>{@code cuda}</td><td>version of the compiler, 12090 for CUDA 12.9</td></tr>
 *   <tr><td>{@code module.<name>}</td><td>kernels of a module, separated by spaces</td></tr>
 * </table>
 *
 * @param modules kernels of each module, by the module's name
 * @param architectures compute capabilities with machine code, ascending
 * @param ptx compute capability of the PTX, or 0 if there is none
 * @param cudaVersion version of the compiler as the driver counts, 12090 for CUDA 12.9; 0 if there
 *     are no kernels
 */
public record KernelIndex(
    SortedMap<String, List<String>> modules,
    List<Integer> architectures,
    int ptx,
    int cudaVersion) {

  /** Name of the file. */
  public static final String FILE = "index.properties";

  static final KernelIndex NONE = new KernelIndex(new TreeMap<>(), List.of(), 0, 0);

  private static final String MODULE = "module.";

  /** Copies. */
  public KernelIndex {
    modules = new TreeMap<>(modules);
    architectures = architectures.stream().sorted().distinct().toList();
  }

  static KernelIndex read(InputStream file) throws IOException {
    Properties properties = new Properties();
    properties.load(new InputStreamReader(file, StandardCharsets.UTF_8));
    SortedMap<String, List<String>> modules = new TreeMap<>();
    for (String key : properties.stringPropertyNames()) {
      if (key.startsWith(MODULE)) {
        modules.put(key.substring(MODULE.length()), words(properties, key));
      }
    }
    return new KernelIndex(
        modules,
        words(properties, "architectures").stream().map(Integer::valueOf).toList(),
        Integer.parseInt(properties.getProperty("ptx", "0")),
        Integer.parseInt(properties.getProperty("cuda", "0")));
  }

  private static List<String> words(Properties properties, String key) {
    return Arrays.stream(properties.getProperty(key, "").split(" "))
        .filter(word -> word.isEmpty() == false)
        .toList();
  }

  /** Writes the file into a folder, with the same bytes for the same index. */
  public void write(Path folder) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add("architectures=" + join(architectures));
    if (ptx != 0) {
      lines.add("ptx=" + ptx);
    }
    lines.add("cuda=" + cudaVersion);
    for (Map.Entry<String, List<String>> module : modules.entrySet()) {
      lines.add(MODULE + module.getKey() + "=" + join(module.getValue()));
    }
    Files.createDirectories(folder);
    Files.write(folder.resolve(FILE), lines);
  }

  private static String join(List<?> words) {
    return String.join(" ", words.stream().map(Object::toString).toList());
  }

  /** Path of a module's machine code below the folder of the index. */
  public static String cubin(String module, int architecture) {
    return "sm_" + architecture + "/" + module + ".cubin";
  }

  /** Path of a module's PTX below the folder of the index. */
  public static String ptx(String module, int architecture) {
    return "compute_" + architecture + "/" + module + ".ptx";
  }
}
