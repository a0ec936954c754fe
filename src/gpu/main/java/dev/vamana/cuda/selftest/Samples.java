package dev.vamana.cuda.selftest;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.PqEncoder;
import dev.vamana.pq.RowSource;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/**
 * Computes a few of a device's answers again on the CPU. Each method returns what is wrong, or
 * null. Tolerances are far above the rounding of sums that are added up in another order. A session
 * has an instance, which chooses among the answers of its searches. Thread-safe.
 */
public final class Samples {

  /** One of so many answers of searches is computed again. */
  static final int EVERY = 1_024;

  private static final float RELATIVE = 1e-3f;
  // of the product of the lengths of both vectors
  private static final float ROUNDING = 1e-4f;

  /** Rounding of each product of a score, in parts of the lengths of both vectors. */
  private static final float EPSILONS = 0x1p-22f;

  private static final int ROWS = 4;

  // the first answer is one of those
  private final AtomicLong answered = new AtomicLong(EVERY - 1);

  /** Whether one of these answers, which the device has just given, is to be computed again. */
  public boolean due(int answers) {
    long before = answered.getAndAdd(answers);
    return before / EVERY != (before + answers) / EVERY;
  }

  /** Scores the hits of a search again. */
  public static String wrongAnswer(WorkItem item, WorkResult found) throws IOException {
    if (Arrays.stream(found.ordinals()).distinct().count() < found.ordinals().length) {
      return "a search found an ordinal twice";
    }
    WorkResult expected = CpuExecutor.rerank(item, found.ordinals(), 0, true);
    for (int rank = 0; rank < found.scores().length; rank++) {
      float score = found.scores()[rank];
      float right = expected.scores()[rank];
      if (Float.compare(score, right) != 0
          && near(score, right, RELATIVE * Math.abs(right)) == false
          && isRounding(item, expected.ordinals()[rank], score, right) == false) {
        return "score " + score + " instead of " + right + " at rank " + rank;
      }
    }
    return null;
  }

  private static boolean near(float one, float other, float most) {
    // false if one is not a number
    return Math.abs(one - other) <= most;
  }

  /** Whether two scores differ by no more than the rounding of a distance or product. */
  private static boolean isRounding(WorkItem item, int ordinal, float one, float other)
      throws IOException {
    float lengths = 1;
    if (item.segment().vectors() instanceof FloatVectorValues vectors) {
      float[] query = item.query().floats();
      float[] vector = vectors.vectorValue(ordinal);
      double squares = (double) squaredLength(query) * squaredLength(vector);
      lengths = (float) Math.max(1, Math.sqrt(squares));
    }
    // a sum of so many products, in any order
    float rounding = item.segment().dimension() * EPSILONS * lengths;
    return item.segment().similarity() == VectorSimilarityFunction.EUCLIDEAN
        ? near(1 / one, 1 / other, rounding)
        : near(one, other, rounding);
  }

  private static float squaredLength(float[] vector) {
    return VectorUtil.dotProduct(vector, vector);
  }

  /**
   * Whether a squared distance is larger than the least one, whose rounding is that of a vector.
   */
  private static boolean farther(float distance, float least, float[] vector) {
    float most = least * (1 + RELATIVE) + ROUNDING * squaredLength(vector);
    return most < Float.POSITIVE_INFINITY && (distance <= most) == false;
  }

  /**
   * Encodes a few of {@code count} vectors again.
   *
   * @param codes the codes that the device computed, one after the other
   */
  public static String wrongCode(Codebook codebook, RowSource rows, int count, byte[] codes)
      throws IOException {
    RowSource.Reader reader = rows.open();
    PqEncoder encoder = new PqEncoder(codebook);
    int length = codebook.layout().count();
    float[] vector = new float[codebook.layout().dims()];
    float[] decoded = new float[vector.length];
    byte[] own = new byte[length];
    for (int i = 0; i < Math.min(ROWS, count); i++) {
      int row = (int) ((long) i * count / ROWS);
      reader.read(row, vector);
      float least = encoder.encode(vector, own, 0);
      codebook.decode(codes, row * length, decoded);
      if (farther(VectorUtil.squareDistance(vector, decoded), least, vector)) {
        return "a code is not of the nearest centroids";
      }
    }
    return null;
  }

  /**
   * Looks for the nearest centroids of a few of {@code count} vectors again.
   *
   * @param found the numbers of the centroids that the device found
   * @param distances their squared distances
   */
  public static String wrongCentroid(
      float[][] centroids, RowSource rows, int count, int[] found, float[] distances)
      throws IOException {
    RowSource.Reader reader = rows.open();
    float[] vector = new float[centroids[0].length];
    for (int i = 0; i < Math.min(ROWS, count); i++) {
      int row = (int) ((long) i * count / ROWS);
      reader.read(row, vector);
      float least = Float.POSITIVE_INFINITY;
      for (float[] centroid : centroids) {
        least = Math.min(least, VectorUtil.squareDistance(vector, centroid));
      }
      if (found[row] < 0
          || found[row] >= centroids.length
          || farther(VectorUtil.squareDistance(vector, centroids[found[row]]), least, vector)
          || farther(distances[row], least, vector)
          || farther(least, distances[row], vector)) {
        return "a centroid is not the nearest";
      }
    }
    return null;
  }
}
