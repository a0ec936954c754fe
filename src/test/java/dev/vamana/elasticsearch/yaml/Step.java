package dev.vamana.elasticsearch.yaml;

import java.io.IOException;

/** One entry of a test: a call, an assertion, or the keeping of a value. */
interface Step {

  /**
   * Runs it.
   *
   * @throws AssertionError if what it asserts is not so
   * @throws IllegalArgumentException if it cannot be run as it is written
   */
  void run(Execution execution) throws IOException;

  /**
   * Reads a step.
   *
   * @param kind such as {@code match}
   * @param argument what stands behind it
   * @throws IllegalArgumentException if there is no such step, or it has other arguments
   */
  static Step parse(String kind, Object argument) {
    return switch (kind) {
      case "do" -> DoStep.parse(argument);
      case "set" -> Keeping.set(argument);
      case "eventually" -> EventuallyStep.parse(argument);
      case "transform_and_set" -> Keeping.transformAndSet(argument);
      default -> Assertions.parse(kind, argument);
    };
  }
}
