package dev.vamana.tools.gpu;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.io.PrintStream;

/** One stage of the suite; does its work within eight minutes and may be run again. */
@FunctionalInterface
interface Stage {

  /** Runs the stage. */
  void run(Context context) throws IOException, InterruptedException;

  /**
   * What a stage works with.
   *
   * @param options of this process
   * @param fragment receives what was found
   * @param workers all processors
   * @param out receives progress and a summary
   */
  record Context(SuiteOptions options, Fragment fragment, Workers workers, PrintStream out) {

    void say(String format, Object... values) {
      out.println(String.format(java.util.Locale.ROOT, format, values));
    }

    /** Keeps a measured row and shows it. */
    void add(Measurement measurement) throws IOException {
      fragment.add(measurement);
      out.println(measurement);
    }
  }
}
