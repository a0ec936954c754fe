package dev.vamana.tools.kernels;

import dev.vamana.cuda.compile.KernelCompiler.Job;
import dev.vamana.cuda.driver.KernelIndex;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.lucene.util.IOUtils;

/** Copies compiled modules to where the jar's content lies, and reports what their kernels need. */
final class PublishedImages {

  /** File of the report, a line a kernel and compute capability. */
  static final String RESOURCES = "resources.txt";

  private final ModuleCache cache;
  private final Architectures architectures;
  private final int compilerVersion;
  private final Path report;

  /**
   * Publishes what a cache holds.
   *
   * @param compilerVersion as the driver counts, for instance 12090
   * @param report file that each publication appends to
   */
  PublishedImages(
      ModuleCache cache, Architectures architectures, int compilerVersion, Path report) {
    this.cache = cache;
    this.architectures = architectures;
    this.compilerVersion = compilerVersion;
    this.report = report;
  }

  /**
   * Copies images of modules beside an index of them.
   *
   * @return bytes of all images
   */
  long publish(Set<String> modules, Path target) throws IOException {
    SortedMap<String, List<String>> kernels = new TreeMap<>();
    List<String> lines = new ArrayList<>();
    if (Files.exists(report)) {
      lines.addAll(Files.readAllLines(report));
    } else {
      lines.add(ResourceReport.COLUMNS);
    }
    long bytes = 0;
    for (String module : modules) {
      for (int architecture : architectures.machineCode()) {
        Job job = new Job(module, architecture);
        kernels.put(module, cache.kernels(job));
        bytes += copy(cache.cubin(job), target.resolve(KernelIndex.cubin(module, architecture)));
        if (architecture == architectures.ptx()) {
          bytes += copy(cache.ptx(job), target.resolve(KernelIndex.ptx(module, architecture)));
        }
        lines.addAll(ResourceReport.lines(module, architecture, Files.readString(cache.log(job))));
      }
    }
    List<Integer> machineCode = List.copyOf(architectures.machineCode());
    new KernelIndex(kernels, machineCode, architectures.ptx(), compilerVersion).write(target);
    Files.write(report, lines);
    return bytes;
  }

  private static long copy(Path from, Path to) throws IOException {
    Files.createDirectories(to.getParent());
    Files.copy(from, to);
    return Files.size(to);
  }

  /** Deletes a folder of images, if there is one. */
  static void delete(Path folder) throws IOException {
    if (Files.exists(folder)) {
      IOUtils.rm(folder);
    }
  }
}
