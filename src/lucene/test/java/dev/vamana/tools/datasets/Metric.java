package dev.vamana.tools.datasets;

import java.util.Locale;
import org.apache.lucene.index.VectorSimilarityFunction;

/** The metric of a vector set, which defines near. */
public enum Metric {
  /** Squared Euclidean distance. */
  L2("l2", VectorSimilarityFunction.EUCLIDEAN),
  /** One minus the cosine of the angle. */
  COSINE("cosine", VectorSimilarityFunction.COSINE),
  /** Negated inner product. */
  IP("ip", VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT);

  private final String label;
  private final VectorSimilarityFunction similarity;

  Metric(String label, VectorSimilarityFunction similarity) {
    this.label = label;
    this.similarity = similarity;
  }

  /** The name in options, in {@code meta.json} and in names of ground truth files. */
  public String label() {
    return label;
  }

  /** Lucene's similarity for vectors as they are in the files. */
  public VectorSimilarityFunction similarity() {
    return similarity;
  }

  /**
   * Returns the metric with a name.
   *
   * @throws IllegalArgumentException if the name is not {@code l2}, {@code cosine} or {@code ip}
   */
  public static Metric of(String label) {
    for (Metric metric : values()) {
      if (metric.label.equals(label.toLowerCase(Locale.ROOT))) {
        return metric;
      }
    }
    throw new IllegalArgumentException("metric is '" + label + "', allowed are l2, cosine and ip");
  }

  /**
   * Distance of two vectors of equal length; smaller is nearer. Sums in double precision, so that
   * the result as a float hardly depends on the order of the sum.
   */
  public double distance(float[] a, float[] b) {
    if (this == L2) {
      double sum = 0;
      for (int i = 0; i < a.length; i++) {
        double difference = (double) a[i] - b[i];
        sum += difference * difference;
      }
      return sum;
    }
    double dot = 0;
    double normA = 0;
    double normB = 0;
    for (int i = 0; i < a.length; i++) {
      dot += (double) a[i] * b[i];
      normA += (double) a[i] * a[i];
      normB += (double) b[i] * b[i];
    }
    if (this == IP) {
      return -dot;
    }
    double norms = Math.sqrt(normA) * Math.sqrt(normB);
    return norms == 0 ? 1 : 1 - dot / norms;
  }
}
