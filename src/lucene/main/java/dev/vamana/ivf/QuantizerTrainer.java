package dev.vamana.ivf;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
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
 * Trains the product quantizer of a field's residuals and measures the errors of its estimates. The
 * result does not depend on the number of threads.
 *
 * <p>It keeps the sample on the heap, {@value #MOST_BYTES} bytes at most.
 */
final class QuantizerTrainer {

  private static final long SEED = 42;
  private static final int MOST_BYTES = 64 << 20;

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
    Codebook codebook =
        PqTrainer.train(
            engine,
            TrainingSample.of(shape.dimension(), sample()),
            layout,
            new CodebookId(centroids.id().bytes(), "", 1),
            PqTrainer.Options.defaults(SEED),
            workers,
            abort);
    return new ResidualQuantizer(codebook, quantile(codebook));
  }

  /**
   * Measures the quantile of this trainer's vectors with a quantizer that was trained on others,
   * and returns the quantizer with the larger of both quantiles. The field's vectors may have moved
   * since the training; then errors point where queries are.
   */
  ResidualQuantizer measured(ResidualQuantizer known) throws IOException {
    float own = quantile(known.codebook());
    return own > known.errorQuantile() ? new ResidualQuantizer(known.codebook(), own) : known;
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

  /**
   * Measures how large errors are, over pairs of a vector and a member of a list near to it. At
   * least what a random direction of the error gives.
   */
  private float quantile(Codebook codebook) throws IOException {
    int queries = Math.min(QUERIES, shape.size());
    double[][] found = new double[queries][];
    workers.forEach(
        0,
        queries,
        1,
        () -> {
          Pairs own = new Pairs(codebook);
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
    private final ListVectors own = vectors.copy();
    private final float[] vector = new float[shape.dimension()];
    private final float[] query = new float[shape.dimension()];
    private final float[] residual = new float[shape.dimension()];
    private final ResidualEncoder encoder;

    Pairs(Codebook codebook) throws IOException {
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
          query[d] = vector[d] - centroid[d];
        }
        int members = Math.min(MEMBERS, lists.count(list));
        for (int j = 0; j < members; j++) {
          int member = lists.member(list, (int) ((long) j * lists.count(list) / members));
          residual(own, member, residual);
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
