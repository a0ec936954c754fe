package dev.vamana.tools.repeat;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;

/**
 * Runs one test class several times in this process, each time with a new random seed, and prints a
 * line a run. {@code .ci/repeat-tests} calls it.
 */
public final class Repeat {

  /** The randomized runner reads it whenever it is made for a class. */
  private static final String SEED = "tests.seed";

  private static final int HUNG = 3;
  private static final SecureRandom SEEDS = new SecureRandom();

  private Repeat() {}

  /**
   * One run.
   *
   * @param result "passed", "skipped" if all tests were, or "failed"
   */
  private record Run(String name, String seed, String load, String result, double seconds) {
    /** Fields separated by tabs, as in the table. */
    String line() {
      return String.join(
          "\t", name, seed, load, result, String.format(Locale.ROOT, "%.1f", seconds));
    }
  }

  /**
   * Arguments: the class, the number of runs, the name of the load, the most seconds a run may
   * take, the file to append a line a run to, the log of failures, and optionally the seed to use.
   * Exits with 1 if a run failed, and with 3 if one did not end.
   */
  public static void main(String[] arguments) throws Exception {
    int runs = Integer.parseInt(arguments[1]);
    String load = arguments[2];
    long limitMillis = 1_000L * Integer.parseInt(arguments[3]);
    Path table = Path.of(arguments[4]);
    Path log = Path.of(arguments[5]);
    String fixedSeed = arguments.length > 6 ? arguments[6] : null;
    PrintStream out = System.out;
    boolean failed = false;
    // Output of tests goes to their log. Lucene keeps the streams that it finds when it is loaded.
    try (PrintStream printed =
        new PrintStream(
            Files.newOutputStream(log, StandardOpenOption.CREATE, StandardOpenOption.APPEND),
            true,
            StandardCharsets.UTF_8)) {
      System.setOut(printed);
      System.setErr(printed);
      Class<?> tests = Class.forName(arguments[0]);
      for (int i = 0; i < runs; i++) {
        String seed =
            fixedSeed != null ? fixedSeed : String.format(Locale.ROOT, "%016X", SEEDS.nextLong());
        System.setProperty(SEED, seed);
        Thread watch = watch(tests.getSimpleName() + " with seed " + seed, limitMillis, printed);
        long start = System.nanoTime();
        Result result = new JUnitCore().run(Request.aClass(tests));
        double seconds = (System.nanoTime() - start) / 1e9;
        watch.interrupt();
        watch.join();
        Run run = new Run(tests.getSimpleName(), seed, load, summary(result), seconds);
        failed |= result.wasSuccessful() == false;
        report(run, result, out, printed, table);
      }
    }
    System.exit(failed ? 1 : 0);
  }

  private static String summary(Result result) {
    if (result.wasSuccessful() == false) {
      return "failed";
    }
    return result.getRunCount() == result.getAssumptionFailureCount() + result.getIgnoreCount()
        ? "skipped"
        : "passed";
  }

  private static void report(Run run, Result result, PrintStream out, PrintStream log, Path table)
      throws IOException {
    out.println(run.line());
    for (Failure failure : result.getFailures()) {
      out.println("  " + failure.getDescription().getMethodName() + ": " + failure.getMessage());
      log.println(run.line());
      log.println(failure.getTrace());
    }
    out.flush();
    Files.write(table, List.of(run.line()), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  /** Ends this process, after a dump of its threads, unless it is interrupted in time. */
  private static Thread watch(String run, long limitMillis, PrintStream log) {
    Thread watch =
        new Thread(
            () -> {
              try {
                Thread.sleep(limitMillis);
              } catch (InterruptedException e) {
                return;
              }
              log.println(run + " did not end within " + limitMillis + " ms");
              for (Map.Entry<Thread, StackTraceElement[]> stack :
                  Thread.getAllStackTraces().entrySet()) {
                log.println(stack.getKey());
                log.println(
                    List.of(stack.getValue()).stream()
                        .map(frame -> "  at " + frame)
                        .collect(Collectors.joining("\n")));
              }
              Runtime.getRuntime().halt(HUNG);
            },
            "limit of a run");
    watch.setDaemon(true);
    watch.start();
    return watch;
  }
}
