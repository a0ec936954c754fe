package dev.vamana.tools.benchmark;

import java.io.PrintStream;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;

/**
 * Prints lines of progress with the time of day.
 *
 * @param out receives the lines
 */
record Progress(PrintStream out) {

  void say(String line) {
    LocalTime now = LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS);
    out.println(now + " " + line);
  }
}
