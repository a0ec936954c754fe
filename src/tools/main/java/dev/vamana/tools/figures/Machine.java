package dev.vamana.tools.figures;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;

/** The machine that figures are measured on. */
public final class Machine {

  private Machine() {}

  /** Returns the name of the processor. */
  public static String processor() throws IOException {
    try (Stream<String> lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown processor");
    }
  }

  /** Returns processor, cores, system and Java in one line. */
  public static String describe() throws IOException {
    return String.format(
        Locale.ROOT,
        "%s, %d cores, %s %s, Java %s",
        processor(),
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("os.name"),
        System.getProperty("os.arch"),
        Runtime.version());
  }

  /** Returns the mean number of runnable processes over the last minute; negative if unknown. */
  public static double load() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
  }
}
