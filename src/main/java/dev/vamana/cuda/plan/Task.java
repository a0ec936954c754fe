package dev.vamana.cuda.plan;

import java.util.Objects;

/**
 * Queries over one segment, as far as their cost depends on them.
 *
 * @param vectors vectors of the segment, at least 1
 * @param dimension components of a vector, at least 1
 * @param rowBytes bytes from one vector to the next where the device reads them, or of a vector
 * @param rows where the device can read exact vectors
 * @param accepted vectors that may be hits, 0 to {@code vectors}
 * @param filtered whether which they are has to be brought to the device
 * @param k hits wanted, at least 1
 * @param batch queries that are compared with the vectors together, at least 1
 * @param walk what a walk would be
 * @param cpu what the CPU would do
 */
public record Task(
    int vectors,
    int dimension,
    int rowBytes,
    Rows rows,
    int accepted,
    boolean filtered,
    int k,
    int batch,
    Walk walk,
    Cpu cpu) {

  /** Where the device can read exact vectors. */
  public enum Rows {
    /** In its own memory. */
    DEVICE,
    /** In the mapped file, over the bus. */
    HOST,
    /** Where a call brings them: it copies them from the mapped file, piece by piece. */
    STREAMED,
    /** Nowhere. */
    NONE
  }

  /** Where a walk on the device finds neighbours. */
  public enum Graph {
    /** In its own memory. */
    DEVICE,
    /** In the mapped file, over the bus. */
    MAPPED,
    /** The CPU fetches them for each step. */
    FETCHED,
    /** Nowhere: the device cannot walk. */
    NONE
  }

  /**
   * A walk on the device.
   *
   * @param graph where it finds neighbours
   * @param batch queries that walk at the same time, at least 1
   * @param steps that follow one another
   * @param distances that one query computes
   * @param bytes that it reads for a distance
   */
  public record Walk(Graph graph, int batch, double steps, double distances, int bytes) {
    public Walk {
      Objects.requireNonNull(graph, "graph");
      check("walk.batch", batch, 1, Integer.MAX_VALUE);
    }
  }

  /**
   * What the CPU would do.
   *
   * @param scans whether it would scan rather than walk
   * @param rounds queries that one thread answers one after the other
   * @param distances that one query computes
   */
  public record Cpu(boolean scans, double rounds, double distances) {}

  public Task {
    Objects.requireNonNull(rows, "rows");
    Objects.requireNonNull(walk, "walk");
    Objects.requireNonNull(cpu, "cpu");
    check("vectors", vectors, 1, Integer.MAX_VALUE);
    check("dimension", dimension, 1, Integer.MAX_VALUE);
    check("accepted", accepted, 0, vectors);
    check("k", k, 1, Integer.MAX_VALUE);
    check("batch", batch, 1, Integer.MAX_VALUE);
  }

  private static void check(String name, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + " must be between " + min + " and " + max + ", got " + value);
    }
  }
}
