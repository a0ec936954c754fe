package dev.vamana.elasticsearch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/** Code blocks of a page, and running them. */
final class PrintedCommands {
  /** Where the pages' commands expect a node. */
  static final String PRINTED_ADDRESS = "localhost:9253";

  /** A block of code; its groups are the language and the lines. */
  static final Pattern BLOCK =
      Pattern.compile("^```(\\w*)\\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);

  private PrintedCommands() {}

  /**
   * The blocks of a page in their order.
   *
   * @param language that the page gives, empty for none
   */
  static List<String> blocks(Path page, String language) throws IOException {
    List<String> blocks = new ArrayList<>();
    BLOCK
        .matcher(Files.readString(page))
        .results()
        .filter(block -> block.group(1).equals(language))
        .forEach(block -> blocks.add(block.group(2)));
    return blocks;
  }

  /** Whether this machine has a shell and curl. */
  static boolean canRun() throws IOException {
    try {
      return new ProcessBuilder("bash", "-c", "curl --version > /dev/null").start().waitFor() == 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    } catch (IOException noShell) {
      return false;
    }
  }

  /**
   * Returns the output of a command.
   *
   * @throws AssertionError if it fails or takes longer than a minute
   */
  static String run(Path folder, String... command) throws IOException {
    Path errors = Files.createTempFile(folder, "errors", ".txt");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(errors.toFile())
            .start();
    try {
      String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      boolean ended = process.waitFor(60, TimeUnit.SECONDS);
      if (ended == false || process.exitValue() != 0) {
        throw new AssertionError(
            String.join(" ", command) + "\n" + printed + "\n" + Files.readString(errors));
      }
      return printed;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    } finally {
      process.destroyForcibly();
    }
  }
}
