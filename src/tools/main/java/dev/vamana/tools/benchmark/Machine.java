package dev.vamana.tools.benchmark;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Describes the machine on which figures were measured. */
final class Machine {
  private static final Path CPU_INFO = Path.of("/proc/cpuinfo");

  private Machine() {}

  /** Returns processor, cores, memory, Java and its flags as one line of text. */
  static String describe() throws IOException {
    List<String> flags =
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(flag -> !flag.contains("/"))
            .toList();
    return String.format(
        Locale.ROOT,
        "%s, %d cores, %s %s, Java %s (%s), flags `%s`",
        cpu(),
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("os.name"),
        System.getProperty("os.arch"),
        Runtime.version(),
        System.getProperty("java.vendor"),
        String.join(" ", flags));
  }

  /** Mean number of runnable processes over the last minute; negative if unknown. */
  static double load() {
    return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
  }

  private static String cpu() throws IOException {
    if (!Files.isReadable(CPU_INFO)) {
      return "unknown processor";
    }
    try (Stream<String> lines = Files.lines(CPU_INFO)) {
      List<String> facts =
          lines
              .filter(line -> line.matches("(model name|cpu family|model|flags)\\s*:.*"))
              .limit(4)
              .toList();
      String names =
          facts.stream()
              .filter(line -> !line.startsWith("flags"))
              .map(line -> line.replaceAll("\\s*:\\s*", " ").replace("model name ", ""))
              .sorted()
              .collect(Collectors.joining(", "));
      boolean wide = facts.stream().anyMatch(line -> line.contains(" avx512f"));
      return names + (wide ? ", AVX-512" : "");
    }
  }
}
