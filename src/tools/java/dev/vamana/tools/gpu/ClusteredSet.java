package dev.vamana.tools.gpu;

import dev.vamana.tools.datasets.ElementType;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.datasets.VectorTable;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * A generated vector set, the same on every machine: clusters of unequal size in a space of lower
 * dimension, like learned embeddings.
 *
 * <p>Each of {@value #CLUSTERS} centres is a point of {@value #LATENT} normal components. A vector
 * takes a centre, lower numbers more often (number = floor(clusters * u^1.5) for a uniform u), adds
 * a normal point of {@value #LATENT} components scaled by 0.7, maps the sum to {@value #DIMENSION}
 * components by a fixed normal matrix divided by the square root of {@value #LATENT}, and adds
 * normal noise of 0.05 to each component. Vector i is generated from seed i only, and queries use
 * the seeds after the full base's seeds, so a smaller base has the same queries. Normal numbers are
 * sums of 12 uniform ones minus 6, which is exact arithmetic everywhere.
 */
final class ClusteredSet {

  static final String NAME = "clustered2m-96";
  static final int SIZE = 2_000_000;
  private static final int DIMENSION = 96;
  private static final int LATENT = 24;
  private static final int CLUSTERS = 4_000;
  private static final int QUERIES = 1_000;
  private static final long SEED = 20_261_121;

  private ClusteredSet() {}

  /** Generates the first vectors of the set, with queries and exact neighbours. */
  static SuiteSet generate(int size) {
    float[][] centres = new float[CLUSTERS][];
    for (int c = 0; c < CLUSTERS; c++) {
      centres[c] = normals(new SplittableRandom(SEED + 1_000_003L * (c + 1)), LATENT, 1);
    }
    float[][] map = new float[DIMENSION][];
    for (int d = 0; d < DIMENSION; d++) {
      map[d] =
          normals(
              new SplittableRandom(SEED - 1_000_033L * (d + 1)),
              LATENT,
              (float) (1 / Math.sqrt(LATENT)));
    }
    float[][] base = rows(0, size, centres, map);
    float[][] queries = rows(SIZE, QUERIES, centres, map);
    VectorSet set =
        VectorSet.of(
            NAME,
            Metric.L2,
            new VectorTable(ElementType.FLOAT32, DIMENSION, base),
            new VectorTable(ElementType.FLOAT32, DIMENSION, queries));
    return new SuiteSet(set, hash(base, queries));
  }

  private static float[][] rows(int first, int count, float[][] centres, float[][] map) {
    float[][] rows = new float[count][];
    IntStream.range(0, count)
        .parallel()
        .forEach(i -> rows[i] = row(new SplittableRandom(first + (long) i), centres, map));
    return rows;
  }

  private static float[] row(SplittableRandom random, float[][] centres, float[][] map) {
    double u = random.nextDouble();
    float[] centre = centres[(int) (CLUSTERS * u * Math.sqrt(u))];
    float[] point = normals(random, LATENT, 0.7f);
    float[] row = normals(random, DIMENSION, 0.05f);
    for (int d = 0; d < DIMENSION; d++) {
      float sum = row[d];
      for (int l = 0; l < LATENT; l++) {
        sum += map[d][l] * (centre[l] + point[l]);
      }
      row[d] = sum;
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

  private static String hash(float[][] base, float[][] queries) {
    MessageDigest digest = SourcesHash.sha256();
    ByteBuffer bytes = ByteBuffer.allocate(DIMENSION * Float.BYTES);
    for (float[][] table : new float[][][] {base, queries}) {
      for (float[] row : table) {
        bytes.clear().asFloatBuffer().put(row);
        digest.update(bytes.array());
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }
}
