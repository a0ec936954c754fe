package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.tools.cells.Median;
import dev.vamana.tools.figures.Figures;
import dev.vamana.tools.figures.Figures.Subject;
import dev.vamana.tools.figures.Sheet;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** One stage of the suite. It ends within eight minutes and can be run again. */
@FunctionalInterface
interface Stage {

  /** Runs the stage. */
  void run(Context context) throws IOException, InterruptedException;

  /**
   * The environment of a stage.
   *
   * @param options options of this process
   * @param figures receives the findings
   * @param workers threads for all processors
   * @param drivers opens contexts on a device, by its number from 0
   * @param parameters of graphs and lists
   * @param out receives progress and a summary
   */
  record Context(
      SuiteOptions options,
      Figures figures,
      Workers workers,
      IntFunction<Supplier<CudaDriver>> drivers,
      VamanaParameters parameters,
      PrintStream out) {

    /** Returns the environment of stages on this machine's devices. */
    static Context of(SuiteOptions options, Figures figures, Workers workers) {
      return new Context(
          options,
          figures,
          workers,
          ordinal -> new DeviceProbe(ordinal)::open,
          VamanaParameters.DEFAULT,
          System.out);
    }

    /** Opens contexts on the first device. */
    Supplier<CudaDriver> driver() {
      return drivers.apply(0);
    }

    /** Whether a device searches and builds, rather than the CPU in its place. */
    boolean onDevice() {
      return options.device() >= 0;
    }

    /** Returns the folder of an index, which is kept between stages. */
    Path index(String name) {
      return options.home().resolve("index").resolve(name);
    }

    void say(String format, Object... values) {
      out.println(String.format(Locale.ROOT, format, values));
    }

    /**
     * Records a search, and prints it.
     *
     * @param batch queries of a call
     * @param callers threads that called side by side
     * @param recall recall@10
     * @param microseconds time of each call, at least one
     */
    void searched(
        Subject of,
        String method,
        String placement,
        int batch,
        int callers,
        double recall,
        double[] microseconds)
        throws IOException {
      searched(
          of,
          method,
          placement,
          batch,
          callers,
          recall,
          BatchRun.qps(batch, callers, microseconds),
          Median.of(microseconds));
    }

    /** As the other, with queries a second and the median time that were computed elsewhere. */
    void searched(
        Subject of,
        String method,
        String placement,
        int batch,
        int callers,
        double recall,
        double qps,
        double p50)
        throws IOException {
      figures.add(Sheet.GPU, of, method, placement, batch, callers, recall, qps, p50);
      say(
          "%-18s %-24s %-14s batch %,6d x %d recall %.4f  %,12.0f queries/s  p50 %,10.1f us",
          of.set(), method, placement, batch, callers, recall, qps, p50);
    }

    /** Records a build, and prints it. */
    void built(Subject of, String method, int threads, double seconds) throws IOException {
      figures.add(Sheet.BUILDS, of, method, threads, seconds);
      say("%-18s %-24s built by %d threads in %.3f s", of.set(), method, threads, seconds);
    }

    /** Records the outcome of a test, and prints it. */
    void tested(String test, String outcome, double seconds, String message) throws IOException {
      figures.add(Sheet.TESTS, Subject.NONE, test, outcome, seconds);
      say("%-8s %6.1f s  %s%s", outcome, seconds, test, message == null ? "" : "\n    " + message);
    }
  }
}
