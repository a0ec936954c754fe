package dev.vamana.graph;

import java.util.Arrays;

/** A graph given row by row by a test. */
public record ListedAdjacency(int[][] rows) implements Adjacency {

  @Override
  public int size() {
    return rows.length;
  }

  @Override
  public int maxDegree() {
    return Arrays.stream(rows).mapToInt(row -> row.length).max().getAsInt();
  }

  @Override
  public int neighbors(int ordinal, int[] neighbors) {
    System.arraycopy(rows[ordinal], 0, neighbors, 0, rows[ordinal].length);
    return rows[ordinal].length;
  }

  @Override
  public Adjacency copy() {
    return this;
  }
}
