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

  /** Vectors of few components, many of them. */
  static final ClusteredSet NARROW = narrow(2, 96);

  /** Five times as many. */
  static final ClusteredSet NARROW_10M = narrow(10, 96);

  /** A million vectors of 128 components. */
  static final ClusteredSet OF_128 = narrow(1, 128);

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
    float[][] centres = new float[clusters][];
    for (int c = 0; c < clusters; c++) {
      centres[c] = normals(new SplittableRandom(SEED + 1_000_003L * (c + 1)), latent, 1);
    }
    float[][] map = new float[dimension][];
    for (int d = 0; d < dimension; d++) {
      map[d] =
          normals(
              new SplittableRandom(SEED - 1_000_033L * (d + 1)),
              latent,
              (float) (1 / Math.sqrt(latent)));
    }
    float[][] base = rows(0, Math.min(limit, size), centres, map);
    float[][] asked = rows(size, queries, centres, map);
    VectorSet set =
        VectorSet.of(
            name,
            metric,
            new VectorTable(ElementType.FLOAT32, dimension, base),
            new VectorTable(ElementType.FLOAT32, dimension, asked));
    return new SuiteSet(metric == Metric.COSINE ? set.ofUnitLength() : set);
  }

  private float[][] rows(int first, int count, float[][] centres, float[][] map) {
    float[][] rows = new float[count][];
    IntStream.range(0, count)
        .parallel()
        .forEach(i -> rows[i] = row(new SplittableRandom(first + (long) i), centres, map));
    return rows;
  }

  private float[] row(SplittableRandom random, float[][] centres, float[][] map) {
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
    if (metric == Metric.COSINE) {
      VectorUtil.l2normalize(row);
    }
    return row;
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
