package dev.vamana.tools.demo;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.stream.Stream;
import org.elasticsearch.Build;

/** The processor that the demo runs on. */
public final class Processor {

  private static final Path CPU_INFO = Path.of("/proc/cpuinfo");

  private Processor() {}

  /** Processor, cores, system and node in one sentence. */
  public static String describe(String heap) {
    return String.format(
        Locale.ROOT,
        "CPU: %s, %d cores; %s %s; Elasticsearch %s with a heap of %s on Java %s.",
        model(),
        Runtime.getRuntime().availableProcessors(),
        System.getProperty("os.name"),
        System.getProperty("os.arch"),
        Build.current().version(),
        heap,
        Runtime.version());
  }

  private static String model() {
    try (Stream<String> lines = Files.lines(CPU_INFO)) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown model");
    } catch (IOException e) {
      // not every system has the file, and the demo does not depend on it
      return "unknown model";
    }
  }
}
