package dev.vamana.cuda.question;

import dev.vamana.pq.Codebook;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Generated vectors and queries. Components are integers from 0 to 105, so every precision and
 * every order of summation gives the same squared distances. Each query has {@value #NEIGHBORS}
 * vectors at the squared distances 1, 4, 9, 16 and 25; all others are thousands of times farther,
 * so rounding cannot bring them nearer. All questions are about them.
 */
final class KnownVectors {

  /** Components of a vector. */
  static final int DIMENSION = 64;

  /** Number of vectors. */
  static final int SIZE = 384;

  /** Number of queries. */
  static final int QUERIES = 20;

  /** Components of the parts of which all but the first 256 vectors are put together. */
  static final int PART = 4;

  /** Vectors near a query. */
  static final int NEIGHBORS = 5;

  private static final long SEED = 0x5EED_0F_0A11L;
  private static final int LARGEST = 100;
  private static final double TOLERANCE = 1e-4;

  private final int[][] vectors = new int[SIZE][];
  private final int[][] queries = new int[QUERIES][];

  /** Generates them, always the same. */
  KnownVectors() {
    SplittableRandom random = new SplittableRandom(SEED);
    int at = 0;
    for (int q = 0; q < QUERIES; q++) {
      queries[q] = vector(random, DIMENSION);
      for (int n = 1; n <= NEIGHBORS; n++) {
        int[] neighbor = queries[q].clone();
        neighbor[random.nextInt(DIMENSION)] += n;
        vectors[at++] = neighbor;
      }
    }
    while (at < Codebook.CENTROIDS) {
      vectors[at++] = vector(random, DIMENSION);
    }
    int others = QUERIES * NEIGHBORS;
    while (at < SIZE) {
      int[] joined = new int[DIMENSION];
      for (int d = 0; d < DIMENSION; d += PART) {
        int from = others + random.nextInt(Codebook.CENTROIDS - others);
        System.arraycopy(vectors[from], d, joined, d, PART);
      }
      vectors[at++] = joined;
    }
  }

  /** Returns random components. */
  static int[] vector(SplittableRandom random, int dimension) {
    int[] vector = new int[dimension];
    Arrays.setAll(vector, d -> random.nextInt(LARGEST + 1));
    return vector;
  }

  /** Returns the vectors as floats. */
  List<float[]> floats() {
    return Arrays.stream(vectors).map(KnownVectors::toFloats).toList();
  }

  /** Returns the vectors as bytes. */
  List<byte[]> bytes() {
    return Arrays.stream(vectors).map(KnownVectors::toBytes).toList();
  }

  /** Returns a query as floats. */
  float[] query(int query) {
    return toFloats(queries[query]);
  }

  /** Returns a query as bytes. */
  byte[] byteQuery(int query) {
    return toBytes(queries[query]);
  }

  static float[] toFloats(int[] vector) {
    float[] floats = new float[vector.length];
    for (int d = 0; d < floats.length; d++) {
      floats[d] = vector[d];
    }
    return floats;
  }

  private static byte[] toBytes(int[] vector) {
    byte[] bytes = new byte[vector.length];
    for (int d = 0; d < bytes.length; d++) {
      bytes[d] = (byte) vector[d];
    }
    return bytes;
  }

  /** Returns a squared Euclidean distance. */
  private int distance(int query, int ordinal) {
    int sum = 0;
    for (int d = 0; d < DIMENSION; d++) {
      int difference = queries[query][d] - vectors[ordinal][d];
      sum += difference * difference;
    }
    return sum;
  }

  /**
   * Compares the hits of a query with the vectors that are nearest to it.
   *
   * @param k number of hits that were asked for
   * @param scale factor by which vectors and query were multiplied
   * @param accepted ascending ordinals that may be hits; null for all
   * @return what is wrong, or null
   */
  String wrong(int query, int[] ordinals, float[] scores, int k, double scale, int[] accepted) {
    int[] among = accepted != null ? accepted : all();
    int[] nearest =
        Arrays.stream(among).map(ordinal -> distance(query, ordinal)).sorted().toArray();
    int expected = Math.min(k, nearest.length);
    if (ordinals.length != expected || scores.length != expected) {
      return ordinals.length + " hits instead of " + expected;
    }
    List<Integer> seen = new ArrayList<>();
    for (int rank = 0; rank < expected; rank++) {
      int ordinal = ordinals[rank];
      if (Arrays.binarySearch(among, ordinal) < 0 || seen.contains(ordinal)) {
        return "ordinal " + ordinal + " at rank " + rank;
      }
      seen.add(ordinal);
      double score = score(nearest[rank], scale);
      if (far(scores[rank], score) || far(score(distance(query, ordinal), scale), score)) {
        return "ordinal "
            + ordinal
            + ", score "
            + scores[rank]
            + " instead of "
            + score
            + " at rank "
            + rank;
      }
    }
    return null;
  }

  private static int[] all() {
    int[] all = new int[SIZE];
    Arrays.setAll(all, i -> i);
    return all;
  }

  private static double score(int distance, double scale) {
    return 1 / (1 + distance * scale * scale);
  }

  private static boolean far(double score, double expected) {
    // not "greater than", which is false for NaN
    return (Math.abs(score - expected) <= TOLERANCE * expected) == false;
  }
}
