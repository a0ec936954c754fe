package dev.vamana.tools.datasets;

import java.util.Arrays;

/** A base row and its distance from a query. Ordered nearest first, ties by lower ordinal. */
record Neighbour(int ordinal, double distance) implements Comparable<Neighbour> {

  static int[] ordinals(Neighbour[] neighbours) {
    return Arrays.stream(neighbours).mapToInt(Neighbour::ordinal).toArray();
  }

  static float[] distances(Neighbour[] neighbours) {
    float[] distances = new float[neighbours.length];
    for (int i = 0; i < distances.length; i++) {
      distances[i] = (float) neighbours[i].distance;
    }
    return distances;
  }

  @Override
  public int compareTo(Neighbour other) {
    int byDistance = Double.compare(distance, other.distance);
    return byDistance != 0 ? byDistance : Integer.compare(ordinal, other.ordinal);
  }
}
