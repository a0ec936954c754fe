package dev.vamana.tools.node;

import java.util.Arrays;

/** Nodes that tests start for a few requests. */
public final class TestNodes {
  private TestNodes() {}

  /**
   * Assertions are on, the server's assertions about files and threads too. The JVM compiles as the
   * build's property {@code tests.jvm} says: half of what a start costs is the optimizing compiler,
   * which pays only in nodes that run for longer.
   */
  public static NodeOptions options() {
    String[] arguments = System.getProperty("tests.jvm", "").trim().split(" ");
    return NodeOptions.defaults()
        .withAssertions(true)
        .withJvmArguments(
            Arrays.stream(arguments)
                .filter(argument -> argument.isEmpty() == false)
                .toArray(String[]::new));
  }
}
