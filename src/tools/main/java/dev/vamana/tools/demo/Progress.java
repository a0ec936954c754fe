package dev.vamana.tools.demo;

import java.io.PrintStream;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;

/** Lines that show that work goes on, each with the seconds since the start. */
public final class Progress {

  private static final int SECONDS_BETWEEN_LINES = 5;
  private static final int SHORT_LENGTH = 60;

  private final PrintStream out;
  private final long start = System.nanoTime();

  /** Begins to count seconds. */
  public Progress(PrintStream out) {
    this.out = out;
  }

  /** Seconds since this was made. */
  public double seconds() {
    return (System.nanoTime() - start) / 1e9;
  }

  /** Prints a line, formatted as {@link String#format} does. */
  public synchronized void say(String format, Object... arguments) {
    String line = String.format(Locale.ROOT, format, arguments);
    out.println(String.format(Locale.ROOT, "[%5.1f s] %s", seconds(), line));
    out.flush();
  }

  /** Says what is done, and repeats it every few seconds until the result is closed. */
  public Running during(String what) {
    return during(what, () -> Double.NaN);
  }

  /**
   * Says what is done, and every few seconds how far it is, until the result is closed.
   *
   * @param share of the work that is done, 0 to 1, asked from another thread; NaN if unknown
   */
  public Running during(String what, DoubleSupplier share) {
    say("%s", what);
    ScheduledExecutorService timer =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "demo-progress");
              thread.setDaemon(true);
              return thread;
            });
    timer.scheduleAtFixedRate(
        () -> say("  ... %s%s", shortened(what), percent(share.getAsDouble())),
        SECONDS_BETWEEN_LINES,
        SECONDS_BETWEEN_LINES,
        TimeUnit.SECONDS);
    return timer::shutdownNow;
  }

  private static String percent(double share) {
    return Double.isNaN(share) ? "" : String.format(Locale.ROOT, ": %.0f%%", 100 * share);
  }

  private static String shortened(String what) {
    return what.length() <= SHORT_LENGTH ? what : what.substring(0, SHORT_LENGTH) + "...";
  }

  /** Work under way. */
  public interface Running extends AutoCloseable {
    @Override
    void close();
  }
}
