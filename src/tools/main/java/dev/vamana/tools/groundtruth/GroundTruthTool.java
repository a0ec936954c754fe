package dev.vamana.tools.groundtruth;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.tools.datasets.ExactSearch;
import dev.vamana.tools.datasets.GroundTruth;
import dev.vamana.tools.datasets.TexMexFile;
import dev.vamana.tools.datasets.VectorTable;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.IntFunction;

/**
 * Writes the exact neighbours of queries as two files in TexMex layout: {@code <out>.ivecs} with
 * rows of the base, nearest first, ties by lower row, and {@code <out>_dist.fvecs} with their
 * distances ({@link dev.vamana.tools.datasets.Metric}).
 *
 * <p>Both GPU and CPU find a few more candidates than requested in single precision and order them
 * in double precision, so both write the same files.
 */
public final class GroundTruthTool {

  private final IntFunction<CudaDriver> devices;
  private final PrintStream out;

  /**
   * Makes a tool.
   *
   * @param devices opens a context on the device with an ordinal
   * @param out receives a line about the result
   */
  GroundTruthTool(IntFunction<CudaDriver> devices, PrintStream out) {
    this.devices = devices;
    this.out = out;
  }

  /**
   * Runs the tool with arguments {@code --name=value}; docs/internals/benchmarking.md lists them.
   */
  public static void main(String[] arguments) throws IOException {
    try {
      new GroundTruthTool(ordinal -> new DeviceProbe(ordinal).open(), System.out)
          .run(GroundTruthOptions.parse(arguments));
    } catch (IllegalArgumentException | GpuException e) {
      System.err.println(e.getMessage());
      System.exit(1);
    }
  }

  /**
   * Reads the vectors, searches, and writes the files.
   *
   * @throws IllegalArgumentException if a file or value is wrong; names it, and is thrown before
   *     the search
   * @throws GpuException if the device cannot be used; {@code device} -1 needs none
   */
  void run(GroundTruthOptions options) throws IOException {
    Path folder = options.out().toAbsolutePath().getParent();
    if (folder == null || Files.isDirectory(folder) == false) {
      throw new IllegalArgumentException("out is " + options.out() + ": no such folder " + folder);
    }
    VectorTable base = read("base", options.base());
    VectorTable queries = read("queries", options.queries());
    if (base.dimension() != queries.dimension()) {
      throw new IllegalArgumentException(
          options.base()
              + " has dimension "
              + base.dimension()
              + ", "
              + options.queries()
              + " has "
              + queries.dimension());
    }
    if (options.depth() > base.size()) {
      throw new IllegalArgumentException(
          "k is "
              + options.depth()
              + ", allowed is [1, "
              + base.size()
              + "], the number of vectors in "
              + options.base());
    }
    long start = System.nanoTime();
    GroundTruth truth = search(options, base, queries);
    double seconds = (System.nanoTime() - start) * 1e-9;
    Path ordinals = named(options.out(), ".ivecs");
    Path distances = named(options.out(), "_dist.fvecs");
    TexMexFile.writeIvecs(ordinals, truth.ordinals());
    TexMexFile.writeFvecs(distances, truth.distances());
    out.println(
        String.format(
            Locale.ROOT,
            "%s, %s: %d neighbours of %d queries among %d vectors of %d dimensions, %s, %.2f s",
            ordinals,
            distances,
            options.depth(),
            queries.size(),
            base.size(),
            base.dimension(),
            options.metric().label(),
            seconds));
  }

  private GroundTruth search(GroundTruthOptions options, VectorTable base, VectorTable queries) {
    if (options.device() < 0) {
      return ExactSearch.groundTruth(
          options.metric(), base.rows(), queries.rows(), options.depth());
    }
    try (CudaDriver driver = devices.apply(options.device())) {
      driver.bind();
      out.println("on " + driver.device().name());
      return new DeviceGroundTruth(driver, options.metric())
          .find(base.rows(), queries.rows(), options.depth());
    }
  }

  private static Path named(Path out, String ending) {
    return out.resolveSibling(out.getFileName() + ending);
  }

  private static VectorTable read(String name, Path file) throws IOException {
    if (Files.isRegularFile(file) == false) {
      throw new IllegalArgumentException(name + " is " + file + ": no such file");
    }
    VectorTable table = VectorTable.read(file, Integer.MAX_VALUE);
    if (table.size() == 0) {
      throw new IllegalArgumentException(name + " is " + file + ": it has no vectors");
    }
    for (int row = 0; row < table.size(); row++) {
      for (float component : table.rows()[row]) {
        if (Float.isFinite(component) == false) {
          throw new IllegalArgumentException(
              file + ": row " + row + " has the component " + component + ", allowed are finite");
        }
      }
    }
    return table;
  }
}
