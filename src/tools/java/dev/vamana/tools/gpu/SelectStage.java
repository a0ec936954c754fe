package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.select.SelectMethod;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Measures k-selection with every method: over k, keys of a row, partitions of a single row, and
 * orders, compared with the bandwidth of copies. Bytes per second count the rows' keys once.
 *
 * @param drivers opens the device
 * @param rows number of rows of a million keys, unless {@code --limit} makes them shorter
 */
record SelectStage(Supplier<CudaDriver> drivers, int rows) implements Stage {

  static final String SECTION = "selection";

  private static final int[] SHORT_K = {1, 10, 32, 100, 128, 256, 512, 1_000, 1_024, 2_048};
  private static final int[] FEW_K = {10, 100, 1_000};
  private static final double[] SHARES = {0.004, 0.01, 0.03, 0.1, 0.3, 0.5};
  private static final long MOST_NANOS = TimeUnit.SECONDS.toNanos(220);

  private static final List<String> SHORT =
      List.of(
          "bits:512",
          "bits:1024",
          "bits:2048",
          "bits:4096",
          "bits:8192",
          "warp:32:2",
          "warp:32:4",
          "warp:32:8",
          "block:32:2",
          "block:32:4",
          "block:32:8",
          "warp:128:2",
          "warp:128:4",
          "warp:128:8",
          "block:128:2",
          "block:128:4",
          "block:128:8",
          "block:256:4",
          "block:512:4",
          "warp:1024:4",
          "block:1024:4",
          "block:1024:8",
          "sample",
          "partial-bitonic",
          "merge-queue");
  private static final List<String> ROBUST =
      List.of("bits:512", "bits:1024", "bits:2048", "bits:4096", "block:128:4", "sample");
  private static final List<String> LARGE =
      List.of("bits-global", "sample", "sample-two-stages", "radix");

  SelectStage() {
    this(Gpu::openDriver, 1_000);
  }

  /** State of the measurements. */
  private record Run(Context context, SelectBench bench, double copy, long end) {

    void measure(
        SelectBench.Order order, String text, int rows, int n, int k, boolean sorted, int back)
        throws IOException {
      OtherMethod other = OtherMethod.parse(text);
      SelectMethod method = other == null ? SelectMethod.parse(text) : null;
      boolean accepts = other == null ? method.accepts(n, k) : other.accepts(n, k);
      if (accepts == false || System.nanoTime() > end) {
        return;
      }
      double seconds =
          other == null
              ? bench.seconds(method, rows, n, k, sorted, back)
              : bench.seconds(other, rows, n, k, sorted, back);
      if (Double.isNaN(seconds)) {
        return;
      }
      String input = order.name().toLowerCase(Locale.ROOT);
      double bytes = 4.0 * rows * n / seconds;
      Map<String, Object> row = new LinkedHashMap<>();
      String results = sorted ? "sorted" : "any order";
      row.put("what", input + " " + rows + " x " + n + ", k " + k + ", " + results);
      row.put("method", text);
      row.put("order", input);
      row.put("rows", rows);
      row.put("n", n);
      row.put("k", k);
      row.put("results", results);
      row.put("us", Samples.round(seconds * 1e6, 2));
      row.put("gb_per_s", Samples.round(bytes * 1e-9, 1));
      row.put("share_of_copy", Samples.round(bytes / copy, 4));
      context.fragment().add(SECTION, row);
      context.say(
          "%-62s %12.1f us %6.1f %%",
          text + " " + row.get("what"), seconds * 1e6, 100 * bytes / copy);
    }
  }

  @Override
  public void run(Context context) throws IOException {
    int n = Math.min(1_000_000, context.options().limit());
    try (CudaDriver driver = drivers.get();
        SelectBench bench = new SelectBench(driver, (long) rows * n, (long) rows * n / 2)) {
      bench.fill(SelectBench.Order.RANDOM, n);
      double copy = bench.copyBytesPerSecond();
      Map<String, Object> ceiling = new LinkedHashMap<>();
      ceiling.put("what", "copy on the device, read and written, beside selection");
      ceiling.put("value", Samples.round(copy * 1e-9, 1));
      ceiling.put("unit", "GB/s");
      context.fragment().add("ceilings", ceiling);
      Run run = new Run(context, bench, copy, System.nanoTime() + MOST_NANOS);
      overK(run, n);
      largeK(run, n);
      singleRow(run, n);
      overN(run, n);
      for (SelectBench.Order order :
          List.of(
              SelectBench.Order.DESCENDING, SelectBench.Order.ASCENDING, SelectBench.Order.EQUAL)) {
        bench.fill(order, n);
        for (String method : concat(ROBUST, LARGE)) {
          for (int k : FEW_K) {
            run.measure(order, method, rows, n, k, true, 1);
          }
        }
      }
    }
  }

  private static List<String> concat(List<String> a, List<String> b) {
    List<String> both = new ArrayList<>(a);
    b.stream().filter(method -> both.contains(method) == false).forEach(both::add);
    return both;
  }

  /** Measures the thesis' figures 5.3, 5.5 and 5.6. */
  private void overK(Run run, int n) throws IOException {
    for (String method : SHORT) {
      boolean slow = method.equals("partial-bitonic") || method.equals("merge-queue");
      for (int k : slow ? FEW_K : SHORT_K) {
        run.measure(SelectBench.Order.RANDOM, method, rows, n, k, true, slow ? 1 : 3);
      }
    }
  }

  /** Measures figures 5.10 and 5.11. */
  private void largeK(Run run, int n) throws IOException {
    for (int keys : new int[] {n, n / 8}) {
      for (String method : LARGE) {
        for (double share : SHARES) {
          int k = (int) (keys * share);
          if (k > 2_048) {
            for (boolean sorted : new boolean[] {false, true}) {
              run.measure(SelectBench.Order.RANDOM, method, rows, keys, k, sorted, 1);
            }
          }
        }
      }
    }
  }

  /** Measures figure 5.7, and the time to the answer for one row. */
  private void singleRow(Run run, int n) throws IOException {
    long all = (long) rows * n;
    for (int keys : new int[] {n, (int) Math.min(all, 128_000_000)}) {
      for (int k : new int[] {10, 100, 1_000, 2_048}) {
        String list = k <= 100 ? "bits:1024" : k <= 1_000 ? "bits:2048" : "bits:4096";
        for (int partitions : new int[] {32, 66, 132, 264, 528}) {
          String method = list + "/" + partitions;
          run.measure(SelectBench.Order.RANDOM, method, 1, keys, k, true, 1);
        }
        run.measure(SelectBench.Order.RANDOM, "sample/264", 1, keys, k, true, 1);
      }
      for (int k : new int[] {10_000, 100_000}) {
        run.measure(SelectBench.Order.RANDOM, "sample/264", 1, keys, k, true, 1);
      }
    }
  }

  /** Measures figure 5.6 over n. */
  private void overN(Run run, int n) throws IOException {
    for (int shorter : new int[] {32, 8, 2}) {
      for (String method : ROBUST) {
        for (int k : new int[] {32, 128, 1_024}) {
          run.measure(SelectBench.Order.RANDOM, method, rows * shorter, n / shorter, k, true, 3);
        }
      }
    }
  }
}
