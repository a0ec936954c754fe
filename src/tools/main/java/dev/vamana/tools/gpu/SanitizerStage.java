package dev.vamana.tools.gpu;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Runs small tests under NVIDIA's compute-sanitizer, which finds invalid accesses, races in shared
 * memory, barriers that some threads do not reach, and reads of uninitialized device memory. Each
 * of its tools runs in a process of its own and is a test of the report. If a tool cannot run on
 * the machine, its test is skipped with a reason.
 *
 * <p>{@code --methods=memcheck,dev.vamana.cuda.SanitizedListTests} runs one of the tools, and one
 * of the classes. All tools together have ten minutes.
 *
 * @param classes names of test classes that the suite contains and that take seconds
 */
record SanitizerStage(List<String> classes) implements Stage {

  private static final List<String> TOOLS =
      List.of("memcheck", "racecheck", "synccheck", "initcheck");
  // of all tools that run
  private static final int SECONDS = 600;

  /** Tells the tests which tool they run under. */
  static final String TOOL_PROPERTY = "tests.sanitizer";

  private static final int FOUND_SOMETHING = 86;
  private static final List<Path> PLACES =
      List.of(
          Path.of("/usr/local/cuda/bin/compute-sanitizer"),
          Path.of("/usr/local/cuda/compute-sanitizer/compute-sanitizer"),
          Path.of("/usr/bin/compute-sanitizer"));

  private static final Pattern SUMMARY = Pattern.compile("(ERROR|RACECHECK) SUMMARY: .*");
  private static final Pattern REFUSAL =
      Pattern.compile(".*(Device not supported|no usable GPU).*");

  /** The outcome of a tool's run. */
  record Verdict(String status, String message) {}

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    List<String> tools = chosen(context, TOOLS);
    int failed = 0;
    for (String tool : tools) {
      long start = System.nanoTime();
      Verdict verdict = verdict(context, tool, SECONDS / tools.size());
      context.tested(
          "compute-sanitizer " + tool,
          verdict.status(),
          (System.nanoTime() - start) * 1e-9,
          verdict.message());
      failed += verdict.status().equals("failed") ? 1 : 0;
    }
    if (failed > 0) {
      throw new IllegalStateException(failed + " tools found something");
    }
  }

  /** Returns the tools that the option {@code --methods} names; all tools if it names no tool. */
  private static List<String> chosen(Context context, List<String> all) {
    List<String> named = all.stream().filter(context.options().methods()::contains).toList();
    return named.isEmpty() ? all : named;
  }

  private Verdict verdict(Context context, String tool, int seconds)
      throws IOException, InterruptedException {
    Path program = PLACES.stream().filter(Files::isExecutable).findFirst().orElse(null);
    if (program == null) {
      return new Verdict("skipped", "compute-sanitizer is not installed");
    }
    Path log = context.options().home().resolve("log").resolve("sanitizer-" + tool + ".log");
    Files.createDirectories(log.getParent());
    Process process =
        new ProcessBuilder(command(program, tool, chosen(context, classes)))
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    if (process.waitFor(seconds, TimeUnit.SECONDS) == false) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
      return new Verdict("skipped", "not done after " + seconds + " s, see " + log.getFileName());
    }
    return judge(process.exitValue(), log);
  }

  private static List<String> command(Path program, String tool, List<String> classes) {
    List<String> command = new ArrayList<>();
    command.addAll(
        List.of(
            program.toString(),
            "--tool",
            tool,
            "--error-exitcode",
            String.valueOf(FOUND_SOMETHING),
            // the driver looks for a kernel by asking each module, which counts as an API error
            "--report-api-errors",
            "no",
            "--print-limit",
            "100"));
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    for (String option : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (option.startsWith("-Xmx") == false) {
        command.add(option);
      }
    }
    // the tool needs host memory too
    command.addAll(List.of("-ea", "-Xmx4g", "-D" + TOOL_PROPERTY + "=" + tool));
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(SanitizedTests.class.getName());
    command.addAll(classes);
    return command;
  }

  /** Evaluates the output of the tool and the tests. */
  static Verdict judge(int status, Path log) throws IOException {
    String summary = null;
    String tests = null;
    String refusal = null;
    try (Stream<String> lines = Files.lines(log)) {
      for (String line : (Iterable<String>) lines::iterator) {
        Matcher matcher = SUMMARY.matcher(line);
        if (matcher.find()) {
          summary = matcher.group();
        }
        if (line.startsWith(SanitizedTests.SUMMARY)) {
          tests = line;
        }
        if (REFUSAL.matcher(line).matches()) {
          refusal = line.replaceFirst("^=+ *", "");
        }
      }
    }
    if (refusal != null) {
      return new Verdict("skipped", refusal);
    }
    if (summary == null || tests == null) {
      return new Verdict("failed", "no summary, status " + status);
    }
    boolean passed = status == 0 && tests.startsWith(SanitizedTests.SUMMARY + "0 ") == false;
    return new Verdict(passed ? "passed" : "failed", summary + "; " + tests);
  }
}
