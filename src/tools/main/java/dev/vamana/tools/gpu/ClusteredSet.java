package dev.vamana.tools.gpu;

import dev.vamana.tools.datasets.ElementType;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.datasets.VectorTable;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.lucene.util.VectorUtil;

/**
 * A generated vector set, the same on every machine: clusters of unequal size in a space of lower
 * dimension, like learned embeddings.
 *
 * <p>Each of {@code clusters} centres is a point of {@code latent} normal components. A vector
 * takes a centre, lower numbers more often (number = floor(clusters * u^1.5) for a uniform u), adds
 * a normal point of {@code latent} components scaled by 0.7, maps the sum to {@code dimension}
 * components by a fixed normal matrix divided by the square root of {@code latent}, and adds normal
 * noise of 0.05 to each component. Sets compared by cosine are brought to unit length. Vector i is
 * generated from seed i only, and queries use the seeds after the full base's seeds, so a smaller
 * base has the same queries. Normal numbers are sums of 12 uniform ones minus 6, which is exact
 * arithmetic everywhere.
 *
 * @param name name in reports
 * @param metric how vectors are compared
 * @param dimension components of a vector
 * @param latent components of a centre
 * @param clusters number of centres
 * @param size vectors of the whole set
 * @param queries number of queries
 */
record ClusteredSet(
    String name, Metric metric, int dimension, int latent, int clusters, int size, int queries) {

  private static final long SEED = 20_261_121;
  private static final float STEPS = 28;

  /** Vectors of few components, many of them. */
  static final ClusteredSet NARROW = narrow(2, 96);

  /** Five times as many. */
  static final ClusteredSet NARROW_10M = narrow(10, 96);

  /** A million vectors of 128 components. */
  static final ClusteredSet OF_128 = narrow(1, 128);

  /** As many as fit on one device, as bytes. */
  static final ClusteredSet LARGE =
      new ClusteredSet("generated-96-bytes", Metric.L2, 96, 16, 20_000, 100_000_000, 10_000);

  /** Sets of the sizes that public benchmarks of vector databases ask for. */
  private static final List<ClusteredSet> EMBEDDINGS =
      List.of(embeddings(768, 1_000), embeddings(1_024, 1_000), embeddings(1_536, 500));

  private static ClusteredSet narrow(int millions, int dimension) {
    return new ClusteredSet(
        "clustered" + millions + "m-" + dimension,
        Metric.L2,
        dimension,
        24,
        4_000,
        millions * 1_000_000,
        1_000);
  }

  private static ClusteredSet embeddings(int dimension, int thousands) {
    return new ClusteredSet(
        "embeddings" + thousands + "k-" + dimension,
        Metric.COSINE,
        dimension,
        32,
        2_000,
        thousands * 1_000,
        200);
  }

  /** Returns the set of a name, or null if no generated set has it. */
  static ClusteredSet named(String name) {
    return Stream.concat(Stream.of(NARROW, NARROW_10M, OF_128), EMBEDDINGS.stream())
        .filter(set -> set.name.equals(name))
        .findFirst()
        .orElse(null);
  }

  /** Generates the first vectors of the set, with queries and exact neighbours. */
  SuiteSet generate(int limit) {
    Points points = new Points();
    VectorSet set =
        VectorSet.of(
            name,
            metric,
            new VectorTable(ElementType.FLOAT32, dimension, points.rows(0, Math.min(limit, size))),
            new VectorTable(ElementType.FLOAT32, dimension, points.rows(size, queries)));
    return new SuiteSet(metric == Metric.COSINE ? set.ofUnitLength() : set);
  }

  /** The vectors of the set and, from the number of its vectors on, its queries. */
  final class Points {
    private final float[][] centres = new float[clusters][];
    private final float[][] map = new float[dimension][];

    Points() {
      for (int c = 0; c < clusters; c++) {
        centres[c] = normals(new SplittableRandom(SEED + 1_000_003L * (c + 1)), latent, 1);
      }
      float scale = (float) (1 / Math.sqrt(latent));
      for (int d = 0; d < dimension; d++) {
        map[d] = normals(new SplittableRandom(SEED - 1_000_033L * (d + 1)), latent, scale);
      }
    }

    private float[][] rows(int first, int count) {
      float[][] rows = new float[count][];
      IntStream.range(0, count).parallel().forEach(i -> rows[i] = row(first + i));
      return rows;
    }

    /** Returns a vector. */
    float[] row(int number) {
      SplittableRandom random = new SplittableRandom(number);
      double u = random.nextDouble();
      float[] centre = centres[(int) (clusters * u * Math.sqrt(u))];
      float[] point = normals(random, latent, 0.7f);
      float[] row = normals(random, dimension, 0.05f);
      for (int d = 0; d < dimension; d++) {
        float sum = row[d];
        for (int l = 0; l < latent; l++) {
          sum += map[d][l] * (centre[l] + point[l]);
        }
        row[d] = sum;
      }
      return metric == Metric.COSINE ? VectorUtil.l2normalize(row) : row;
    }

    /** Returns a vector in steps of a 28th, rounded to bytes. */
    byte[] bytes(int number) {
      float[] row = row(number);
      byte[] bytes = new byte[row.length];
      for (int d = 0; d < row.length; d++) {
        int rounded = Math.round(row[d] * STEPS);
        bytes[d] = (byte) Math.max(Byte.MIN_VALUE, Math.min(Byte.MAX_VALUE, rounded));
      }
      return bytes;
    }
  }

  private static float[] normals(SplittableRandom random, int count, float scale) {
    float[] normals = new float[count];
    for (int i = 0; i < count; i++) {
      double sum = -6;
      for (int j = 0; j < 12; j++) {
        sum += random.nextDouble();
      }
      normals[i] = (float) sum * scale;
    }
    return normals;
  }
}
