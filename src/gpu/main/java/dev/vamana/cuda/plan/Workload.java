package dev.vamana.cuda.plan;

import dev.vamana.cuda.exact.ExactScans;
import java.util.Objects;

/**
 * Queries over one segment, or over several of about its size, described by the numbers that their
 * cost depends on. {@code call.Workloads} makes it, {@link CostModel} predicts its time.
 *
 * @param vectors number of vectors of the segment, at least 1
 * @param dimension components of a vector, at least 1
 * @param rowBytes bytes of a vector, padded as for the device
 * @param rows where the device can read exact vectors
 * @param accepted number of vectors that may be hits, 0 to {@code vectors}
 * @param filtered whether the set of accepted vectors has to be sent to the device
 * @param k hits of a query, at least 1
 * @param batch queries compared with the vectors together, at least 1
 * @param segments segments whose scans by few queries share a launch, this one included, at least 1
 * @param walk the walk on the device
 * @param cpu the work of the CPU
 */
public record Workload(
    int vectors,
    int dimension,
    int rowBytes,
    Rows rows,
    int accepted,
    boolean filtered,
    int k,
    int batch,
    int segments,
    Walk walk,
    Cpu cpu) {

  /** Where the device can read exact vectors. */
  public enum Rows {
    /** In device memory. */
    DEVICE,
    /** In the mapped file, over the bus. */
    HOST,
    /** Nowhere. */
    NONE
  }

  /** Where a walk on the device reads neighbours, or what it searches in their place. */
  public enum Graph {
    /** In device memory. */
    DEVICE,
    /** In the mapped file, over the bus. */
    MAPPED,
    /** From the CPU, which fetches them for each step. */
    FETCHED,
    /** The segment has inverted lists in place of a graph; they are in device memory. */
    LISTS,
    /** Nowhere: the device cannot walk. */
    NONE
  }

  /**
   * A walk on the device, or a search of inverted lists.
   *
   * @param graph where it reads neighbours
   * @param batch queries that walk at the same time, at least 1
   * @param steps number of consecutive steps; of lists, how many are searched for one query
   * @param parents nodes expanded in one step, at least 1; 1 for lists
   * @param distances distances computed for one query; of lists, their entries
   * @param bytes bytes read for one distance; of lists, the bytes of a code in a head
   */
  public record Walk(
      Graph graph, int batch, double steps, int parents, double distances, int bytes) {
    public Walk {
      Objects.requireNonNull(graph, "graph");
      check("walk.batch", batch, 1, Integer.MAX_VALUE);
      check("walk.parents", parents, 1, Integer.MAX_VALUE);
    }

    /** Returns this walk by another number of queries, unless the device cannot walk. */
    Walk of(int newBatch) {
      return graph == Graph.NONE
          ? this
          : new Walk(graph, newBatch, steps, parents, distances, bytes);
    }
  }

  /**
   * The work of the CPU.
   *
   * @param scans whether it would scan rather than walk
   * @param rounds queries that one thread answers one after the other
   * @param distances distances computed for one query
   */
  public record Cpu(boolean scans, double rounds, double distances) {}

  public Workload {
    Objects.requireNonNull(rows, "rows");
    Objects.requireNonNull(walk, "walk");
    Objects.requireNonNull(cpu, "cpu");
    check("vectors", vectors, 1, Integer.MAX_VALUE);
    check("dimension", dimension, 1, Integer.MAX_VALUE);
    check("accepted", accepted, 0, vectors);
    check("k", k, 1, Integer.MAX_VALUE);
    check("batch", batch, 1, Integer.MAX_VALUE);
    check("segments", segments, 1, Integer.MAX_VALUE);
  }

  /** Whether the device can walk, where that misses no more hits than the CPU. */
  public boolean walks() {
    return cpu.scans() == false && walk.graph() != Graph.NONE && searchesLists() == false;
  }

  /** Whether the device can search inverted lists. */
  public boolean searchesLists() {
    return walk.graph() == Graph.LISTS;
  }

  /** Whether a launch may scan several segments for these queries. */
  public boolean scansTogether() {
    return (rows == Rows.DEVICE || rows == Rows.HOST) && ExactScans.few(batch, k);
  }

  /** Whether a few launches compare the queries with so many vectors, without matrix products. */
  boolean few(int candidates) {
    return ExactScans.few(batch, k, (long) candidates * dimension);
  }

  /** Returns how many times such launches read the vectors. */
  int readings() {
    return (batch + ExactScans.QUERIES_A_LAUNCH - 1) / ExactScans.QUERIES_A_LAUNCH;
  }

  /** Returns this task over several segments of this size. */
  public Workload over(int newSegments) {
    return newSegments == segments ? this : with(newSegments, cpu);
  }

  /**
   * Returns this task over several segments of this size.
   *
   * @param rounds as {@link Cpu#rounds}
   */
  public Workload over(int newSegments, double rounds) {
    return with(newSegments, new Cpu(cpu.scans(), rounds, cpu.distances()));
  }

  /** Returns this task as several callers ask for it at the same time. */
  Workload asked(int callers) {
    return beside(rows, batch * callers, walk.batch() * callers, cpu.rounds());
  }

  /**
   * Returns this task beside other work.
   *
   * @param newRows where the device can read exact vectors
   * @param newBatch queries compared with the vectors together, at least 1
   * @param walking queries that walk at the same time, at least 1
   * @param rounds as {@link Cpu#rounds}
   */
  public Workload beside(Rows newRows, int newBatch, int walking, double rounds) {
    return new Workload(
        vectors,
        dimension,
        rowBytes,
        newRows,
        accepted,
        filtered,
        k,
        newBatch,
        segments,
        walk.of(walking),
        new Cpu(cpu.scans(), rounds, cpu.distances()));
  }

  /** Returns this task with a scan as the work of the CPU. */
  public Workload scanned() {
    return with(segments, new Cpu(true, cpu.rounds(), accepted));
  }

  private Workload with(int newSegments, Cpu newCpu) {
    return new Workload(
        vectors,
        dimension,
        rowBytes,
        rows,
        accepted,
        filtered,
        k,
        batch,
        newSegments,
        walk,
        newCpu);
  }

  private static void check(String name, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + " must be between " + min + " and " + max + ", got " + value);
    }
  }
}
