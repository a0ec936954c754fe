package dev.vamana.vectors;

import java.io.IOException;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/**
 * Leaves out vectors that are probably farther from a query than a bound, by their {@link
 * SignCodes}. For one query on one thread.
 */
public final class SignFilter implements DistanceFilter {

  private final SignCodes.Rows rows;
  private final VectorSimilarityFunction similarity;
  private final long[] words;
  private final float norm;
  private final float squaredLength;
  private final float[] cosines;
  private int[] differences = new int[0];
  private float[] norms = new float[0];

  SignFilter(
      SignCodes.Rows rows,
      VectorSimilarityFunction similarity,
      float[] cosines,
      float[] query,
      long[] words,
      float norm) {
    this.rows = rows;
    this.similarity = similarity;
    this.words = words;
    this.norm = norm;
    this.squaredLength = VectorUtil.dotProduct(query, query);
    this.cosines = cosines;
  }

  @Override
  public int keep(int[] ordinals, int count, int[] leftOut, int at, float worst)
      throws IOException {
    if (differences.length < count) {
      differences = new int[count];
      norms = new float[count];
    }
    // reads do not wait for each other before anything is decided
    rows.read(ordinals, count, words, differences, norms);
    float bound = squaredDistance(worst);
    int kept = 0;
    for (int i = 0; i < count; i++) {
      float other = norms[i];
      float estimate = norm * norm + other * (other - 2 * norm * cosines[differences[i]]);
      int ordinal = ordinals[i];
      // not "<=", for damaged vectors
      if (estimate > bound) {
        leftOut[at + i - kept] = ordinal;
      } else {
        ordinals[kept++] = ordinal;
      }
    }
    return kept;
  }

  /** Squared distance of vectors with this score; of unit vectors unless it is Euclidean. */
  private float squaredDistance(float score) {
    return similarity == VectorSimilarityFunction.EUCLIDEAN
        ? 1 / score - 1
        : squaredLength + 1 - 2 * (2 * score - 1);
  }
}
