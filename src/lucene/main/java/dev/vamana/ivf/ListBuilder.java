package dev.vamana.ivf;

import dev.vamana.pq.PqEngine;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.IndexOutput;

/**
 * Assigns the vectors of a field to lists, encodes them and writes the lists. The result depends on
 * vectors, centroids and sources, not on the number of threads.
 */
public final class ListBuilder {

  // bytes of numbers that are written at once
  private static final int NUMBER_BYTES = 1 << 14;

  private final ListVectors vectors;
  private Centroids centroids;
  private final ListShape shape;
  private final Estimates estimates;
  private final PqEngine engine;
  private final Workers workers;
  private final AbortCheck abort;

  /**
   * Lists that codes can be copied from.
   *
   * @param lists lists with the same centroids and kind of codes
   * @param newOrdinals for each ordinal of the lists its ordinal now, or -1 if it was deleted
   */
  public record Source(InvertedLists lists, int[] newOrdinals) {}

  /**
   * Result of writing lists.
   *
   * @param shape sizes
   * @param facts for the metadata
   * @param centroids centroids of the lists, with all data trained or measured meanwhile
   * @param copied codes that were copied
   * @param meanSquare mean squared distance of the vectors to the centroid of their list
   * @param durations how long that took
   */
  public record Written(
      ListShape shape,
      InvertedLists.Facts facts,
      Centroids centroids,
      int copied,
      double meanSquare,
      Durations durations) {}

  /**
   * Nanoseconds, as elapsed time.
   *
   * @param assignment the list of each vector
   * @param quantizer training or measurement of the quantizer, and the spread
   * @param entries codes, and all that is written
   */
  public record Durations(long assignment, long quantizer, long entries) {}

  /**
   * Makes a builder.
   *
   * @param values the vectors in random access by ordinal, at least as many as centroids
   * @param kind what a code holds
   * @param engine finds the nearest centroids, or declines
   */
  public ListBuilder(
      KnnVectorValues values,
      VectorSimilarityFunction similarity,
      CodeKind kind,
      Centroids centroids,
      PqEngine engine,
      Workers workers,
      AbortCheck abort) {
    this.vectors = new ListVectors(values, similarity);
    this.centroids = centroids;
    this.shape = new ListShape(values.size(), values.dimension(), centroids.plain().length, kind);
    this.estimates = Estimates.of(values.getEncoding(), similarity, values.dimension());
    this.engine = engine;
    this.workers = workers;
    this.abort = abort;
  }

  /**
   * Writes everything.
   *
   * @param out at a multiple of 64 bytes
   * @param sources lists to copy codes from
   */
  public Written write(IndexOutput out, List<Source> sources) throws IOException {
    long begun = System.nanoTime();
    ListAssignment lists = ListAssignment.of(vectors, centroids, sources, engine, workers, abort);
    long assigned = System.nanoTime();
    boolean quantized = shape.kind().isRabitq() == false;
    if (quantized) {
      QuantizerTrainer trainer =
          new QuantizerTrainer(vectors.copy(), centroids, shape, lists, engine, workers, abort);
      ResidualQuantizer known = centroids.quantizer();
      centroids = centroids.with(known == null ? trainer.train() : trainer.measured(known));
    }
    float spread = centroids.spread();
    if (Float.isNaN(spread)) {
      boolean fromOrigin = estimates.products() && estimates != Estimates.UNIT_PRODUCT;
      spread = Spread.measure(vectors.copy(), centroids.plain(), lists, fromOrigin);
      centroids = centroids.withSpread(spread);
    }
    long trained = System.nanoTime();
    long start = out.getFilePointer();
    writeCentroids(out);
    pad(out, start + shape.tableOffset());
    for (int list = 0; list < shape.lists(); list++) {
      out.writeInt(lists.count(list));
      out.writeInt(Float.floatToIntBits(lists.radius(list)));
      out.writeInt(Float.floatToIntBits(squaredNorm(centroids.rotated()[list])));
      out.writeInt(0);
    }
    pad(out, start + shape.numbersOffset());
    writeNumbers(out, lists);
    pad(out, start + shape.listsOffset());
    EntryMaker.Source entries =
        () -> new EntryMaker(vectors.copy(), centroids, shape, estimates, lists, sources);
    new EntryRuns(out, shape, lists, entries, workers, abort).write();
    float errorQuantile = 0;
    if (quantized) {
      centroids.quantizer().write(out);
      errorQuantile = centroids.quantizer().errorQuantile();
    }
    return new Written(
        shape,
        new InvertedLists.Facts(
            centroids.id(), centroids.seed(), spread, errorQuantile, lists.places()),
        centroids,
        lists.copied(),
        lists.meanSquare(),
        new Durations(assigned - begun, trained - assigned, System.nanoTime() - trained));
  }

  private void writeCentroids(IndexOutput out) throws IOException {
    ByteBuffer row =
        ByteBuffer.allocate(shape.padded() * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (float[] centroid : centroids.rotated()) {
      row.asFloatBuffer().put(centroid);
      out.writeBytes(row.array(), row.capacity());
    }
  }

  /** Writes the number of each vector's list, many at once: a call for each takes seconds. */
  private void writeNumbers(IndexOutput out, ListAssignment lists) throws IOException {
    ByteBuffer numbers = ByteBuffer.allocate(NUMBER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int ordinal = 0; ordinal < shape.size(); ordinal++) {
      numbers.putShort((short) lists.list(ordinal));
      if (numbers.hasRemaining() == false || ordinal == shape.size() - 1) {
        out.writeBytes(numbers.array(), numbers.position());
        numbers.clear();
      }
    }
  }

  private static float squaredNorm(float[] vector) {
    float sum = 0;
    for (float component : vector) {
      sum += component * component;
    }
    return sum;
  }

  private static void pad(IndexOutput out, long to) throws IOException {
    while (out.getFilePointer() < to) {
      out.writeByte((byte) 0);
    }
  }
}
