package dev.vamana.pq;

import java.util.Random;

/** Small generated vector sets. */
final class PqTestData {

  private PqTestData() {}

  /** Rows of independent standard normal components. */
  static float[][] gaussian(Random random, int n, int dims) {
    float[][] rows = new float[n][dims];
    for (float[] row : rows) {
      for (int d = 0; d < dims; d++) {
        row[d] = (float) random.nextGaussian();
      }
    }
    return rows;
  }

  /** Rows around {@code clusters} uniform centres, with normal noise of the given deviation. */
  static float[][] clustered(Random random, int n, int dims, int clusters, double deviation) {
    float[][] centres = new float[clusters][dims];
    for (float[] centre : centres) {
      for (int d = 0; d < dims; d++) {
        centre[d] = random.nextFloat() * 2 - 1;
      }
    }
    float[][] rows = gaussian(random, n, dims);
    for (float[] row : rows) {
      float[] centre = centres[random.nextInt(clusters)];
      for (int d = 0; d < dims; d++) {
        row[d] = (float) (centre[d] + deviation * row[d]);
      }
    }
    return rows;
  }

  /** A codebook of standard normal centroids, not trained on anything. */
  static Codebook randomCodebook(Random random, SubspaceLayout layout) {
    float[] centroids = gaussian(random, 1, Codebook.CENTROIDS * layout.dims())[0];
    return new Codebook(CodebookId.random(), layout, centroids);
  }

  /** A random layout of up to {@code maxDims} dimensions, often an uneven one. */
  static SubspaceLayout randomLayout(Random random, int maxDims) {
    int dims = 1 + random.nextInt(maxDims);
    return new SubspaceLayout(
        dims, 1 + random.nextInt(Math.min(dims, SubspaceLayout.MAX_SUBSPACES)));
  }

  static double squaredDistance(float[] a, float[] b) {
    double sum = 0;
    for (int d = 0; d < a.length; d++) {
      double difference = (double) a[d] - b[d];
      sum += difference * difference;
    }
    return sum;
  }

  static double innerProduct(float[] a, float[] b) {
    double sum = 0;
    for (int d = 0; d < a.length; d++) {
      sum += (double) a[d] * b[d];
    }
    return sum;
  }

  /** Mean squared distance of the rows to their mean: the error of the best single centroid. */
  static double variance(float[][] rows) {
    int dims = rows[0].length;
    float[] mean = new float[dims];
    for (int d = 0; d < dims; d++) {
      double sum = 0;
      for (float[] row : rows) {
        sum += row[d];
      }
      mean[d] = (float) (sum / rows.length);
    }
    double sum = 0;
    for (float[] row : rows) {
      sum += squaredDistance(row, mean);
    }
    return sum / rows.length;
  }
}
