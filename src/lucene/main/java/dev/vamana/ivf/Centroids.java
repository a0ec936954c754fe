package dev.vamana.ivf;

import dev.vamana.pq.PqEngine;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.TrainingSample;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.SplittableRandom;
import org.apache.lucene.index.FloatVectorValues;

/**
 * Centroids and the rotation that goes with them. Immutable.
 *
 * @param id identity
 * @param seed seed of the rotation
 * @param rotation the rotation
 * @param quantizer product quantizer of the residuals; null with other codes, and until it was
 *     trained
 * @param plain centroids as trained, rows of the field's dimension
 * @param rotated rotated centroids, rows of {@link Rotation#padded()} components
 * @param spread what {@link InvertedLists.Facts} says, or NaN if it has to be measured
 */
public record Centroids(
    CentroidsId id,
    long seed,
    Rotation rotation,
    ResidualQuantizer quantizer,
    float[][] plain,
    float[][] rotated,
    float spread) {

  /** Returns how many vectors to train so many centroids on. */
  public static int sampleSize(int lists, int available) {
    return (int) Math.min(available, (long) lists * CentroidTrainer.SAMPLE_OF_LIST);
  }

  /**
   * Trains centroids.
   *
   * @param sample vectors in random order, at least as many as lists
   * @param lists number of centroids, at least 1
   * @param seed seed of the rotation
   * @param engine finds the nearest centroids, or declines
   */
  public static Centroids train(
      TrainingSample sample,
      int lists,
      long seed,
      PqEngine engine,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    return make(
        new CentroidTrainer(sample, lists, engine, workers, abort).train(), seed, Float.NaN);
  }

  /**
   * Makes the centroid of a single list. Its spread is 0, since no search chooses among lists.
   *
   * @param mean the mean of all vectors
   * @param seed seed of the rotation
   */
  public static Centroids ofAll(float[] mean, long seed) {
    return make(new float[][] {mean}, seed, 0);
  }

  private static Centroids make(float[][] plain, long seed, float spread) {
    long own = new SplittableRandom(seed).nextLong();
    Rotation rotation = new Rotation(plain[0].length, own);
    float[][] rotated = rotate(plain, rotation);
    return new Centroids(CentroidsId.random(), own, rotation, null, plain, rotated, spread);
  }

  private static float[][] rotate(float[][] plain, Rotation rotation) {
    float[][] rotated = new float[plain.length][Rotation.padded(plain[0].length)];
    for (int list = 0; list < plain.length; list++) {
      rotation.apply(plain[list], rotated[list]);
    }
    return rotated;
  }

  /** Returns the same centroids with a quantizer of residuals, which are not rotated. */
  Centroids with(ResidualQuantizer trained) {
    Rotation none = Rotation.identity(plain[0].length);
    return new Centroids(id, seed, none, trained, plain, rotate(plain, none), spread);
  }

  /** Whether lists with such codes can have these centroids without training anything. */
  public boolean suit(CodeKind kind) {
    return kind.isRabitq() == (quantizer == null);
  }

  /** Returns the bytes of centroids and quantizer on the heap. */
  public long bytes() {
    long floats = (long) plain.length * (plain[0].length + rotated[0].length);
    return floats * Float.BYTES
        + (quantizer == null ? 0 : ResidualQuantizer.bytes(plain[0].length));
  }

  /** Returns the same centroids with a spread that was measured. */
  public Centroids withSpread(float measured) {
    return new Centroids(id, seed, rotation, quantizer, plain, rotated, measured);
  }

  /** Returns the mean squared distance of a sample's vectors to the nearest centroid. */
  public double meanSquare(TrainingSample sample, Workers workers, AbortCheck abort)
      throws IOException {
    int count = sample.size();
    float[][] rows = new float[count][sample.dims()];
    for (int i = 0; i < count; i++) {
      sample.vector(i, rows[i]);
    }
    float[] distances = new float[count];
    try (Assigner assigner = new Assigner(plain, count, PqEngine.NONE, workers, abort)) {
      assigner.assign(RowSource.of(rows), count, new int[count], distances);
    }
    double sum = 0;
    for (float distance : distances) {
      sum += distance;
    }
    return sum / count;
  }

  /** Takes over the centroids of a segment. */
  public static Centroids of(InvertedLists lists) throws IOException {
    FloatVectorValues values = lists.centroids();
    float[][] rotated = new float[values.size()][];
    for (int list = 0; list < rotated.length; list++) {
      rotated[list] = values.vectorValue(list).clone();
    }
    InvertedLists.Facts facts = lists.facts();
    return new Centroids(
        facts.id(),
        facts.seed(),
        lists.rotation(),
        lists.shape().kind().isRabitq() ? null : lists.quantizer(),
        lists.plainCentroids(),
        rotated,
        facts.spread());
  }
}
