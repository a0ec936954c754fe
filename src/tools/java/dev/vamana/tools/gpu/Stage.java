package dev.vamana.tools.gpu;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.io.PrintStream;

/** One stage of the suite. It ends within eight minutes and can be run again. */
@FunctionalInterface
interface Stage {

  /** Runs the stage. */
  void run(Context context) throws IOException, InterruptedException;

  /**
   * The environment of a stage.
   *
   * @param options options of this process
   * @param fragment receives the findings
   * @param workers threads for all processors
   * @param out receives progress and a summary
   */
  record Context(SuiteOptions options, Fragment fragment, Workers workers, PrintStream out) {

    void say(String format, Object... values) {
      out.println(String.format(java.util.Locale.ROOT, format, values));
    }

    /** Records a measured row and prints it. */
    void add(Measurement measurement) throws IOException {
      fragment.add(measurement);
      out.println(measurement);
    }
  }
}
