package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.select.SelectMethod;
import dev.vamana.cuda.select.SelectTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Makes {@code report/select-table.txt}: the fastest method by numbers of rows, keys and results.
 * docs/internals/selection.md describes its use. WarpSelect and BlockSelect are left out, since
 * rows in descending order slow them down without bound.
 *
 * @param drivers opens the device
 * @param most most keys of all rows together
 */
record SelectTableStage(Supplier<CudaDriver> drivers, long most) implements Stage {

  static final String FILE = "select-table.txt";

  private static final int[] ROWS = {1, 8, 64, 512};
  private static final int[] KEYS = {4_096, 32_768, 262_144, 1_048_576};
  private static final int[] K = {1, 10, 32, 100, 256, 512, 1_024, 2_048, 10_000, 100_000};
  private static final int[] LISTS = {512, 1_024, 2_048, 4_096, 8_192};
  private static final int[] PARTITIONS = {1, 2, 4, 8, 16, 33, 66, 132, 264};
  private static final int BLOCKS = 2_112;
  private static final int LEAST_COLUMNS = 2_048;

  SelectTableStage() {
    this(Gpu::openDriver, 512L << 20);
  }

  @Override
  public void run(Context context) throws IOException {
    List<String> lines = new ArrayList<>();
    lines.add(
        "# rows n k sorted|any method: what was fastest; made by the stage select-table of the GPU suite");
    try (CudaDriver driver = drivers.get();
        SelectBench bench = new SelectBench(driver, most, most / 4)) {
      bench.fill(SelectBench.Order.RANDOM, 1 << 20);
      for (int rows : ROWS) {
        for (int n : KEYS) {
          for (int k : K) {
            if (n <= context.options().limit() && k < n && (long) rows * n <= most) {
              for (boolean sorted : new boolean[] {false, true}) {
                SelectMethod best = fastest(bench, rows, n, k, sorted);
                if (best != null) {
                  SelectTable.Point point = new SelectTable.Point(rows, n, k, sorted, best);
                  lines.add(point.toString());
                  context.say("%s", point);
                }
              }
            }
          }
        }
      }
    }
    Path file = context.options().home().resolve("report").resolve(FILE);
    Files.write(file, lines);
  }

  private static SelectMethod fastest(SelectBench bench, int rows, int n, int k, boolean sorted) {
    SelectMethod best = null;
    double least = Double.POSITIVE_INFINITY;
    for (SelectMethod method : candidates(rows, n, k)) {
      // several in a row, since the host's share is the same for all methods
      double seconds = bench.seconds(method, rows, n, k, sorted, 5);
      if (seconds < least) {
        least = seconds;
        best = method;
      }
    }
    return best;
  }

  private static List<SelectMethod> candidates(int rows, int n, int k) {
    List<SelectMethod> methods = new ArrayList<>();
    for (int partitions : PARTITIONS) {
      if (partitions > 1 && (partitions * rows > BLOCKS || n / partitions < LEAST_COLUMNS)) {
        continue;
      }
      for (int list : LISTS) {
        if (list <= 64L * k + 1_024) {
          methods.add(SelectMethod.bits(list, partitions));
        }
      }
      if (k >= 256) {
        methods.add(SelectMethod.of(SelectMethod.Family.SAMPLE, partitions));
      }
    }
    if (k >= 256) {
      methods.add(SelectMethod.of(SelectMethod.Family.RADIX, 1));
    }
    methods.removeIf(method -> method.accepts(n, k) == false);
    return methods;
  }
}
