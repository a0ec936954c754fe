package dev.vamana.ivf;

import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.util.VectorUtil;

/**
 * Measures how far the vectors of a list reach towards a query: the root of the mean squared cosine
 * between the query and a member, as seen from the list's centroid. It tells how many dimensions
 * the vectors seem to have, since it is {@code 1 / sqrt(D)} for random directions in D dimensions.
 */
final class Spread {

  private static final int QUERIES = 64;
  private static final int LISTS = 8;
  private static final int MEMBERS = 16;

  private Spread() {}

  /**
   * Measures pairs of vectors and members of the lists near to them.
   *
   * @param products whether distances are inner products of vectors whose lengths differ; the query
   *     is then seen from the origin
   * @return 0 to 1; 1 if there is nothing to measure
   */
  static float measure(
      ListVectors vectors, float[][] centroids, ListAssignment lists, boolean products)
      throws IOException {
    int dimension = vectors.dimension();
    float[] query = new float[dimension];
    float[] member = new float[dimension];
    double sum = 0;
    long pairs = 0;
    int queries = Math.min(QUERIES, vectors.size());
    for (int i = 0; i < queries; i++) {
      int ordinal = (int) ((long) i * vectors.size() / queries);
      vectors.read(ordinal, query);
      for (int list : nearest(query, centroids, lists.list(ordinal))) {
        float[] centroid = centroids[list];
        int count = lists.count(list);
        for (int j = 0; j < Math.min(MEMBERS, count); j++) {
          vectors.read(
              lists.member(list, (int) ((long) j * count / Math.min(MEMBERS, count))), member);
          double cosine = cosine(query, member, centroid, products);
          if (Double.isNaN(cosine) == false) {
            sum += cosine * cosine;
            pairs++;
          }
        }
      }
    }
    return pairs == 0 ? 1 : (float) Math.min(1, Math.sqrt(sum / pairs));
  }

  /** Returns the lists nearest to a vector, except its own. */
  private static int[] nearest(float[] query, float[][] centroids, int own) {
    long[] order = new long[centroids.length];
    for (int list = 0; list < order.length; list++) {
      float square =
          list == own ? Float.MAX_VALUE : VectorUtil.squareDistance(query, centroids[list]);
      order[list] = (long) Float.floatToIntBits(square) << 32 | list;
    }
    Arrays.sort(order);
    int[] nearest = new int[Math.min(LISTS, order.length - 1)];
    for (int i = 0; i < nearest.length; i++) {
      nearest[i] = (int) order[i];
    }
    return nearest;
  }

  private static double cosine(float[] query, float[] member, float[] centroid, boolean products) {
    double both = 0;
    double one = 0;
    double other = 0;
    for (int d = 0; d < query.length; d++) {
      double a = query[d] - (products ? 0 : centroid[d]);
      double b = member[d] - centroid[d];
      both += a * b;
      one += a * a;
      other += b * b;
    }
    return both / Math.sqrt(one * other);
  }
}
