package dev.vamana.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/**
 * Vectors whose exact neighbours are computed by brute force.
 *
 * @param base vectors; a document's id is its row
 */
record TestVectors(VectorSimilarityFunction similarity, List<QueryVector> base) {

  private static final float BYTE_SCALE = 24;

  /** Vectors in clusters, unit length where the similarity asks for it. */
  static TestVectors clustered(
      Random random,
      VectorEncoding encoding,
      VectorSimilarityFunction similarity,
      int count,
      int dimension) {
    int clusters = 12;
    float[][] centers = new float[clusters][];
    for (int c = 0; c < clusters; c++) {
      centers[c] = gaussian(random, dimension, 1);
    }
    List<QueryVector> base = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      float[] vector = gaussian(random, dimension, 0.6f);
      float[] center = centers[random.nextInt(clusters)];
      for (int d = 0; d < dimension; d++) {
        vector[d] += center[d];
      }
      base.add(encode(vector, encoding, similarity));
    }
    return new TestVectors(similarity, base);
  }

  static float[] gaussian(Random random, int dimension, float deviation) {
    float[] vector = new float[dimension];
    for (int d = 0; d < dimension; d++) {
      vector[d] = (float) random.nextGaussian() * deviation;
    }
    return vector;
  }

  private static QueryVector encode(
      float[] vector, VectorEncoding encoding, VectorSimilarityFunction similarity) {
    if (encoding == VectorEncoding.BYTE) {
      byte[] bytes = new byte[vector.length];
      for (int d = 0; d < bytes.length; d++) {
        bytes[d] = (byte) Math.max(-127, Math.min(127, Math.round(vector[d] * BYTE_SCALE)));
      }
      return QueryVector.of(bytes);
    }
    if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
      VectorUtil.l2normalize(vector);
    }
    return QueryVector.of(vector);
  }

  int size() {
    return base.size();
  }

  QueryVector get(int id) {
    return base.get(id);
  }

  /** Lucene's score of a document. */
  float score(QueryVector query, int id) {
    QueryVector vector = base.get(id);
    return query.floats() != null
        ? similarity.compare(query.floats(), vector.floats())
        : similarity.compare(query.bytes(), vector.bytes());
  }

  /** Ids of the k best accepted documents, best first, equal scores by lower id. */
  int[] exact(QueryVector query, int k, IntPredicate accepted) {
    float[] scores = new float[size()];
    for (int id = 0; id < scores.length; id++) {
      scores[id] = accepted.test(id) ? score(query, id) : Float.NaN;
    }
    return IntStream.range(0, scores.length)
        .filter(id -> Float.isNaN(scores[id]) == false)
        .boxed()
        .sorted(
            (a, b) ->
                scores[a] != scores[b]
                    ? Float.compare(scores[b], scores[a])
                    : Integer.compare(a, b))
        .limit(k)
        .mapToInt(Integer::intValue)
        .toArray();
  }

  /** Share of the k best accepted that were found; a tie with the last of them counts as found. */
  double recall(QueryVector query, int k, IntPredicate accepted, int[] found) {
    int[] exact = exact(query, k, accepted);
    if (exact.length == 0) {
      return 1;
    }
    float last = score(query, exact[exact.length - 1]);
    Set<Integer> distinct = new java.util.HashSet<>();
    Arrays.stream(found).limit(k).filter(id -> score(query, id) >= last).forEach(distinct::add);
    return Math.min(exact.length, distinct.size()) / (double) exact.length;
  }
}
