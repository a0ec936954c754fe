package dev.vamana.tools.benchmark;

import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;

/** Lines on standard output that show that work goes on. */
final class Progress {
  private Progress() {}

  static void say(String line) {
    System.out.println(
        LocalTime.now(ZoneId.systemDefault()).truncatedTo(ChronoUnit.SECONDS) + " " + line);
  }
}
