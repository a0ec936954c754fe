package dev.vamana.tools.node;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Options for starting a node.
 *
 * @param settings node settings as in {@code elasticsearch.yml}; they override the defaults of
 *     {@link RunningNode}
 * @param heap the node's heap as for {@code -Xmx}, such as {@code 1g}
 * @param assertions whether Java's assertions are enabled in the node
 * @param jvmArguments further arguments of the node's JVM, before the main class
 * @param environment variables of the node's process in addition to those it inherits
 * @param awaitStatus the cluster health to wait for: {@code green}, {@code yellow} or {@code red};
 *     red accepts any health, so it only waits until the node answers
 * @param startTimeout most time that a start may take
 */
public record NodeOptions(
    Map<String, String> settings,
    String heap,
    boolean assertions,
    List<String> jvmArguments,
    Map<String, String> environment,
    String awaitStatus,
    Duration startTimeout) {

  /** Checks the values. */
  public NodeOptions {
    settings = Map.copyOf(settings);
    jvmArguments = List.copyOf(jvmArguments);
    environment = Map.copyOf(environment);
    if (heap.matches("[1-9][0-9]*[kmgKMG]") == false) {
      throw new IllegalArgumentException("heap must be like 512m or 1g, is [" + heap + "]");
    }
    if (List.of("green", "yellow", "red").contains(awaitStatus) == false) {
      throw new IllegalArgumentException(
          "awaitStatus must be green, yellow or red, is [" + awaitStatus + "]");
    }
  }

  /**
   * Options of a single node with a heap of 512 MB and without assertions; a start waits for yellow
   * health.
   */
  public static NodeOptions defaults() {
    return new NodeOptions(
        Map.of(), "512m", false, List.of(), Map.of(), "yellow", Duration.ofMinutes(3));
  }

  /** Returns these options with one setting added or replaced. */
  public NodeOptions withSetting(String name, String value) {
    Map<String, String> changed = new TreeMap<>(settings);
    changed.put(name, value);
    return new NodeOptions(
        changed, heap, assertions, jvmArguments, environment, awaitStatus, startTimeout);
  }

  /** Returns these options with another heap. */
  public NodeOptions withHeap(String changed) {
    return new NodeOptions(
        settings, changed, assertions, jvmArguments, environment, awaitStatus, startTimeout);
  }

  /** Returns these options with assertions on or off. */
  public NodeOptions withAssertions(boolean changed) {
    return new NodeOptions(
        settings, heap, changed, jvmArguments, environment, awaitStatus, startTimeout);
  }

  /** Returns these options with other JVM arguments. */
  public NodeOptions withJvmArguments(String... changed) {
    return new NodeOptions(
        settings, heap, assertions, List.of(changed), environment, awaitStatus, startTimeout);
  }

  /** Returns these options with other environment variables. */
  public NodeOptions withEnvironment(Map<String, String> changed) {
    return new NodeOptions(
        settings, heap, assertions, jvmArguments, changed, awaitStatus, startTimeout);
  }

  /** Returns these options with another health to wait for. */
  public NodeOptions withAwaitStatus(String changed) {
    return new NodeOptions(
        settings, heap, assertions, jvmArguments, environment, changed, startTimeout);
  }
}
