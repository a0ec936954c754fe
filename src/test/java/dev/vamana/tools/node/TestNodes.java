package dev.vamana.tools.node;

import java.util.Arrays;
import java.util.stream.Stream;

/** Nodes that tests start for a few requests. */
public final class TestNodes {
  private TestNodes() {}

  /**
   * Assertions are on, the server's assertions about files and threads too. The JVM takes the
   * arguments of the build's property {@code tests.node.jvm}: half the time of a start goes to the
   * optimizing compiler, which pays only in nodes that run for longer, and a tenth to checks of the
   * server's bytecode.
   *
   * @param more further arguments of the JVM
   */
  public static NodeOptions options(String... more) {
    String[] arguments = System.getProperty("tests.node.jvm", "").trim().split(" ");
    return NodeOptions.defaults()
        .withAssertions(true)
        .withJvmArguments(
            Stream.concat(Arrays.stream(arguments), Arrays.stream(more))
                .filter(argument -> argument.isEmpty() == false)
                .toArray(String[]::new));
  }
}
