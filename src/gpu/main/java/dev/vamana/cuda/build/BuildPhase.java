package dev.vamana.cuda.build;

import java.util.Locale;

/** A part of a build on the device, whose time is counted. */
public enum BuildPhase {
  /** Vectors, and rows of an existing graph, are brought to the device. */
  BRING,
  /** Nodes are inserted for the first time. */
  FIRST_PASS,
  /** Nodes are inserted again. */
  SECOND_PASS,
  /** All rows are pruned. */
  TRIM,
  /** A search tree shows which nodes can be reached. */
  REACH,
  /** Rows are copied to the host. */
  FETCH,
  /** The CPU makes every node reachable. */
  FINISH;

  /** Name of its time among the counters, such as {@code first_pass_nanos}. */
  public String counterName() {
    return name().toLowerCase(Locale.ROOT) + "_nanos";
  }

  /** Takes what becomes known of a build: the times of its phases, above all. */
  @FunctionalInterface
  public interface Clock {
    /** Adds the time of a phase that has ended. */
    void ended(BuildPhase phase, long nanos);

    /** Takes that rows, or rows and vectors, lie in host memory, where a build is slower. */
    default void inHostMemory() {}
  }
}
