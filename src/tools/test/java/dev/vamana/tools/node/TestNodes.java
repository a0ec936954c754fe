package dev.vamana.tools.node;

import java.util.Arrays;
import java.util.stream.Stream;

/** Nodes that tests start for a few requests. */
public final class TestNodes {
  private TestNodes() {}

  /**
   * Assertions are on, the server's assertions about files and threads too. The JVM takes the
   * arguments of the build's property {@code tests.node.jvm}: half of what a start costs is the
   * optimizing compiler, which pays only in nodes that run for longer, and a tenth is checking the
   * bytecode of the server.
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
