package dev.vamana.elasticsearch;

import static org.junit.Assume.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.rules.ExternalResource;

/**
 * Elasticsearch's own JavaScript client, to be a rule of a class. Each folder {@code node<version>}
 * in {@code src/test/javascript} pins the newest client for that version of Node; the newest that
 * this machine's Node can run is installed below {@code target}. Without Node, or without the
 * packages and a way to npm's registry, its tests are skipped and say why.
 */
final class JavaScriptClient extends ExternalResource {
  static final Path SOURCES = Path.of("src/test/javascript");

  private static final Pattern FOLDER = Pattern.compile("node(\\d+)");
  private static final Pattern VERSION = Pattern.compile("v(\\d+)\\.\\S+");

  private final Path work = Path.of("target", "javascript").toAbsolutePath();
  private Path packages;
  private String missing;

  /** What a program printed, standard error included, and its exit status. */
  record Result(int status, String printed) {}

  @Override
  protected void before() throws IOException {
    Files.createDirectories(work);
    missing = prepare();
  }

  /** What is missing, or null. */
  private String prepare() throws IOException {
    Result node = run(work, 60, "node", "--version");
    Matcher version = VERSION.matcher(node.printed().strip());
    if (node.status() != 0 || version.matches() == false) {
      return "there is no Node: " + node.printed();
    }
    int major = Integer.parseInt(version.group(1));
    List<Integer> pinned = pinned();
    Optional<Integer> best =
        pinned.stream().filter(each -> each <= major).max(Comparator.naturalOrder());
    return best.isPresent()
        ? install("node" + best.get())
        : "Node is " + version.group() + ", clients are pinned for " + pinned;
  }

  /** Versions of Node for which a client is pinned. */
  private static List<Integer> pinned() throws IOException {
    List<Integer> versions = new ArrayList<>();
    try (Stream<Path> folders = Files.list(SOURCES)) {
      for (Path folder : folders.toList()) {
        Matcher matcher = FOLDER.matcher(folder.getFileName().toString());
        if (matcher.matches()) {
          versions.add(Integer.valueOf(matcher.group(1)));
        }
      }
    }
    return versions;
  }

  /** Installs what a lock file lists, unless that was done before; returns why it cannot. */
  private String install(String name) throws IOException {
    Path from = SOURCES.resolve(name);
    Path lock = from.resolve("package-lock.json");
    packages = Files.createDirectories(work.resolve(name));
    Path installed = packages.resolve("installed-lock.json");
    if (Files.exists(installed) && Files.mismatch(installed, lock) < 0) {
      return null;
    }
    for (String file : List.of("package.json", "package-lock.json")) {
      Files.copy(from.resolve(file), packages.resolve(file), StandardCopyOption.REPLACE_EXISTING);
    }
    // without a way to the registry it gives up after seconds
    Result npm =
        run(
            packages,
            120,
            "npm",
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--prefer-offline",
            "--fetch-retries=1",
            "--fetch-retry-mintimeout=1000",
            "--fetch-timeout=20000");
    if (npm.status() != 0) {
      return npm.printed()
          .lines()
          .filter(line -> line.matches("npm (ERR!|error).*") || npm.status() > 1)
          .limit(5)
          .collect(
              Collectors.joining(
                  "; ", "npm cannot install the client; no npm, or no way to its registry: ", ""));
    }
    Files.copy(lock, installed, StandardCopyOption.REPLACE_EXISTING);
    return null;
  }

  /**
   * The folder with the client's {@code package.json} and {@code node_modules}. Skips the test if
   * there is none; the reason is in the report and, since that hides it, on the console.
   */
  Path packages() {
    if (missing != null) {
      System.out.println("JavaScriptClientIT is skipped: " + missing);
    }
    assumeTrue(missing, missing == null);
    return packages;
  }

  /** Runs a program. */
  Result run(Path script, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add("node");
    command.add(script.toAbsolutePath().toString());
    command.addAll(List.of(arguments));
    return run(work, 120, command.toArray(String[]::new));
  }

  /** The status is that of a shell if there is no such program, or if it does not end in time. */
  private static Result run(Path folder, int seconds, String... command) throws IOException {
    Path printed = Files.createTempFile(folder, "printed", ".txt");
    Process process = null;
    try {
      process =
          new ProcessBuilder(command)
              .directory(folder.toFile())
              .redirectErrorStream(true)
              .redirectInput(new File("/dev/null"))
              .redirectOutput(printed.toFile())
              .start();
      if (process.waitFor(seconds, TimeUnit.SECONDS) == false) {
        return new Result(124, "did not end within " + seconds + " seconds");
      }
      return new Result(process.exitValue(), Files.readString(printed, StandardCharsets.UTF_8));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    } catch (IOException e) {
      if (process != null) {
        throw e;
      }
      return new Result(127, e.getMessage());
    } finally {
      if (process != null) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
      Files.delete(printed);
    }
  }
}
