package dev.vamana.tools.node;

import java.util.Arrays;

/** Nodes that tests start for a few requests. */
public final class TestNodes {
  private TestNodes() {}

  /**
   * Assertions are on, the server's assertions about files and threads too. The JVM takes the
   * arguments of the build's property {@code tests.node.jvm}: half of what a start costs is the
   * optimizing compiler, which pays only in nodes that run for longer.
   */
  public static NodeOptions options() {
    String[] arguments = System.getProperty("tests.node.jvm", "").trim().split(" ");
    return NodeOptions.defaults()
        .withAssertions(true)
        .withJvmArguments(
            Arrays.stream(arguments)
                .filter(argument -> argument.isEmpty() == false)
                .toArray(String[]::new));
  }
}
