package dev.vamana.ivf;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqEncoder;
import dev.vamana.pq.PqEngine;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.util.VectorUtil;

/**
 * Trains the product quantizer of a field's residuals, with an optimized rotation (OPQ; Ge and
 * others, 2013, section 3.2.1, without a parametric start): in turn a codebook of the rotated
 * residuals, and in each block of {@link BlockRotation} the rotation that brings the residuals
 * nearest to what their codes decode to. The result does not depend on the number of threads.
 *
 * <p>It keeps the sample on the heap, {@value #MOST_BYTES} bytes at most, and another array of
 * those vectors of it that rotations are trained on.
 */
final class QuantizerTrainer {

  private static final long SEED = 42;
  private static final int MOST_BYTES = 64 << 20;

  private static final int ROTATION_ROWS = 4096;
  private static final int LEAST_ROTATION_ROWS = 512;
  private static final int ITERATIONS = 5;

  // components whose sums a thread adds up in one pass over the rows
  private static final int TOGETHER = 8;

  // of the mean of the diagonal: keeps components that are always 0 where they are
  private static final double RIDGE = 1e-4;

  private static final int QUERIES = 64;
  private static final int NEAR_LISTS = 8;
  private static final int MEMBERS = 8;
  private static final int LEAST_PAIRS = 100;
  // of a normal distribution below ListQuery.MARGIN deviations
  private static final double SHARE = 0.9713;

  private final ListVectors vectors;
  private final Centroids centroids;
  private final ListShape shape;
  private final ListAssignment lists;
  private final PqEngine engine;
  private final Workers workers;
  private final AbortCheck abort;
  private final SubspaceLayout layout;

  /**
   * Makes a trainer.
   *
   * @param centroids centroids before their rotation
   * @param lists the list of each vector
   * @param engine trains codebooks, or declines
   */
  QuantizerTrainer(
      ListVectors vectors,
      Centroids centroids,
      ListShape shape,
      ListAssignment lists,
      PqEngine engine,
      Workers workers,
      AbortCheck abort) {
    this.vectors = vectors;
    this.centroids = centroids;
    this.shape = shape;
    this.lists = lists;
    this.engine = engine;
    this.workers = workers;
    this.abort = abort;
    this.layout = ResidualQuantizer.layout(shape.dimension());
  }

  /** Returns a quantizer of the residuals. */
  ResidualQuantizer train() throws IOException {
    float[][] rows = sample();
    int[] starts = BlockRotation.starts(layout);
    double[][][] matrices = new double[starts.length - 1][][];
    for (int block = 0; block < matrices.length; block++) {
      matrices[block] = unit(starts[block + 1] - starts[block]);
    }
    int some = Math.min(rows.length, ROTATION_ROWS);
    if (some >= LEAST_ROTATION_ROWS) {
      float[][] turned = new float[some][];
      for (int i = 0; i < some; i++) {
        turned[i] = rows[(int) ((long) i * rows.length / some)].clone();
      }
      for (int i = 0; i < ITERATIONS; i++) {
        turn(turned, starts, matrices);
      }
    }
    BlockRotation rotation = new BlockRotation(layout, flat(matrices));
    workers.forEach(
        0,
        rows.length,
        () -> {
          float[] rotated = new float[shape.dimension()];
          return i -> {
            rotation.apply(rows[i], rotated);
            System.arraycopy(rotated, 0, rows[i], 0, rotated.length);
          };
        },
        abort);
    Codebook codebook = codebook(rows);
    return new ResidualQuantizer(rotation, codebook, quantile(rotation, codebook));
  }

  /**
   * Measures the quantile of this trainer's vectors with a quantizer that was trained on others,
   * and returns the quantizer with the larger of both quantiles. The field's vectors may have moved
   * since the training; then errors point where queries are.
   */
  ResidualQuantizer measured(ResidualQuantizer known) throws IOException {
    float own = quantile(known.rotation(), known.codebook());
    return own > known.errorQuantile()
        ? new ResidualQuantizer(known.rotation(), known.codebook(), own)
        : known;
  }

  /** Returns the residuals of vectors that lie evenly in the segment. */
  private float[][] sample() throws IOException {
    int dimension = shape.dimension();
    int most = MOST_BYTES / (Float.BYTES * dimension);
    int count = Math.min(PqTrainer.sampleSize(layout, shape.size()), most);
    float[][] rows = new float[count][dimension];
    workers.forEach(
        0,
        count,
        () -> {
          ListVectors own = vectors.copy();
          return i -> residual(own, (int) ((long) i * shape.size() / count), rows[i]);
        },
        abort);
    return rows;
  }

  private void residual(ListVectors own, int ordinal, float[] target) throws IOException {
    own.read(ordinal, target);
    float[] centroid = centroids.plain()[lists.list(ordinal)];
    for (int d = 0; d < target.length; d++) {
      target[d] -= centroid[d];
    }
  }

  private Codebook codebook(float[][] rows) throws IOException {
    return PqTrainer.train(
        engine,
        TrainingSample.of(shape.dimension(), rows),
        layout,
        new CodebookId(centroids.id().bytes(), "", 1),
        PqTrainer.Options.defaults(SEED),
        workers,
        abort);
  }

  /** Trains a codebook of the rows, and turns these and the matrices towards it. */
  private void turn(float[][] rows, int[] starts, double[][][] matrices) throws IOException {
    Codebook codebook = codebook(rows);
    float[][] decoded = decoded(codebook, rows);
    double[][][] turns = new double[matrices.length][][];
    for (int block = 0; block < matrices.length; block++) {
      turns[block] = covariance(rows, decoded, starts[block], starts[block + 1]);
    }
    workers.forEach(
        0,
        matrices.length,
        1,
        () ->
            block -> {
              turns[block] = PolarFactor.of(turns[block]);
              if (turns[block] != null) {
                matrices[block] = product(matrices[block], turns[block]);
              }
            },
        abort);
    workers.forEach(
        0,
        rows.length,
        () ->
            i -> {
              for (int block = 0; block < turns.length; block++) {
                if (turns[block] != null) {
                  turn(rows[i], starts[block], turns[block]);
                }
              }
            },
        abort);
  }

  private float[][] decoded(Codebook codebook, float[][] rows) throws IOException {
    float[][] decoded = new float[rows.length][shape.dimension()];
    workers.forEach(
        0,
        rows.length,
        () -> {
          PqEncoder encoder = new PqEncoder(codebook);
          byte[] code = new byte[layout.count()];
          return i -> {
            encoder.encode(rows[i], code, 0);
            codebook.decode(code, 0, decoded[i]);
          };
        },
        abort);
    return decoded;
  }

  private double[][] covariance(float[][] rows, float[][] decoded, int from, int to)
      throws IOException {
    double[][] sums = new double[to - from][to - from];
    workers.forEach(
        0,
        (sums.length + TOGETHER - 1) / TOGETHER,
        1,
        () -> {
          double[] y = new double[sums.length];
          return part -> {
            int first = part * TOGETHER;
            int end = Math.min(sums.length, first + TOGETHER);
            for (int i = 0; i < rows.length; i++) {
              for (int d = 0; d < y.length; d++) {
                y[d] = decoded[i][from + d];
              }
              for (int d = first; d < end; d++) {
                add(sums[d], rows[i][from + d], y);
              }
            }
          };
        },
        abort);
    double diagonal = 0;
    for (int d = 0; d < sums.length; d++) {
      diagonal += Math.abs(sums[d][d]);
    }
    for (int d = 0; d < sums.length; d++) {
      sums[d][d] += RIDGE * diagonal / sums.length;
    }
    return sums;
  }

  private static void turn(float[] row, int from, double[][] turn) {
    double[] turned = new double[turn.length];
    addRows(row, from, turn, turned);
    for (int d = 0; d < turned.length; d++) {
      row[from + d] = (float) turned[d];
    }
  }

  private static void addRows(float[] vector, int from, double[][] matrix, double[] target) {
    for (int d = 0; d < matrix.length; d++) {
      add(target, vector[from + d], matrix[d]);
    }
  }

  private static void add(double[] target, double times, double[] row) {
    for (int i = 0; i < target.length; i++) {
      target[i] += times * row[i];
    }
  }

  private static double[][] product(double[][] left, double[][] right) {
    double[][] product = new double[left.length][left.length];
    for (int row = 0; row < left.length; row++) {
      for (int d = 0; d < left.length; d++) {
        add(product[row], left[row][d], right[d]);
      }
    }
    return product;
  }

  private static double[][] unit(int length) {
    double[][] unit = new double[length][length];
    for (int d = 0; d < length; d++) {
      unit[d][d] = 1;
    }
    return unit;
  }

  private static float[] flat(double[][][] matrices) {
    int length = 0;
    for (double[][] matrix : matrices) {
      length += matrix.length * matrix.length;
    }
    float[] flat = new float[length];
    int at = 0;
    for (double[][] matrix : matrices) {
      for (double[] row : matrix) {
        for (double value : row) {
          flat[at++] = (float) value;
        }
      }
    }
    return flat;
  }

  /**
   * Measures how large errors are, over pairs of a vector and a member of a list near to it. At
   * least what a random direction of the error gives.
   */
  private float quantile(BlockRotation rotation, Codebook codebook) throws IOException {
    int queries = Math.min(QUERIES, shape.size());
    double[][] found = new double[queries][];
    workers.forEach(
        0,
        queries,
        1,
        () -> {
          Pairs own = new Pairs(rotation, codebook);
          return i -> found[i] = own.of((int) ((long) i * shape.size() / queries));
        },
        abort);
    double[] shares = Arrays.stream(found).flatMapToDouble(Arrays::stream).sorted().toArray();
    int pairs = shares.length;
    if (pairs < LEAST_PAIRS) {
      return 1;
    }
    double random = ListQuery.MARGIN / Math.sqrt(shape.dimension());
    return (float) Math.min(1, Math.max(random, shares[(int) (SHARE * (pairs - 1))]));
  }

  /** Errors of the pairs of a vector, for one thread. */
  private final class Pairs {
    private final BlockRotation rotation;
    private final ListVectors own = vectors.copy();
    private final float[] vector = new float[shape.dimension()];
    private final float[] difference = new float[shape.dimension()];
    private final float[] query = new float[shape.dimension()];
    private final float[] residual = new float[shape.dimension()];
    private final ResidualEncoder encoder;

    Pairs(BlockRotation rotation, Codebook codebook) throws IOException {
      this.rotation = rotation;
      this.encoder = new ResidualEncoder(shape, codebook, false);
    }

    /** Returns the finite shares of a vector and members of the lists nearest to it. */
    double[] of(int ordinal) throws IOException {
      double[] shares = new double[NEAR_LISTS * MEMBERS];
      int pairs = 0;
      own.read(ordinal, vector);
      for (int list : nearest(vector)) {
        float[] centroid = centroids.plain()[list];
        for (int d = 0; d < vector.length; d++) {
          difference[d] = vector[d] - centroid[d];
        }
        rotation.apply(difference, query);
        int members = Math.min(MEMBERS, lists.count(list));
        for (int j = 0; j < members; j++) {
          int member = lists.member(list, (int) ((long) j * lists.count(list) / members));
          residual(own, member, difference);
          rotation.apply(difference, residual);
          encoder.set(residual);
          double share = encoder.share(query);
          if (member != ordinal && Double.isFinite(share)) {
            shares[pairs++] = share;
          }
        }
      }
      return Arrays.copyOf(shares, pairs);
    }
  }

  private int[] nearest(float[] query) {
    float[][] plain = centroids.plain();
    long[] order = new long[plain.length];
    for (int list = 0; list < order.length; list++) {
      float square = VectorUtil.squareDistance(query, plain[list]);
      order[list] = (long) Float.floatToIntBits(square) << 32 | list;
    }
    Arrays.sort(order);
    int[] nearest = new int[Math.min(NEAR_LISTS, order.length)];
    for (int i = 0; i < nearest.length; i++) {
      nearest[i] = (int) order[i];
    }
    return nearest;
  }
}
