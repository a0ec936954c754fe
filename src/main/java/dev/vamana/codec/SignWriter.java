package dev.vamana.codec;

import dev.vamana.graph.Adjacency;
import dev.vamana.vectors.FloatVectors;
import dev.vamana.vectors.SignCodes;
import dev.vamana.vectors.SignEncoder;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.util.VectorUtil;

/** Writes the {@link SignCodes} of a field, and measures what they tell about angles. */
final class SignWriter {

  // rows that are encoded between two writes
  private static final int BLOCK = 1 << 14;

  // pairs of vectors whose angles are compared with their codes
  private static final int PAIR_NODES = 1_000;
  private static final int PAIRS_OF_NODE = 16;
  private static final long SEED = 7;

  private final KnnVectorValues vectors;
  private final VectorSimilarityFunction similarity;
  private final Workers workers;
  private final AbortCheck abort;
  private final int size;
  private final int dimension;
  private final float[] mean;
  private final boolean mixed;

  /**
   * Makes a writer.
   *
   * @param mean the mean of all vectors
   * @param mixed whether bits tell the signs of sums of components
   */
  SignWriter(
      KnnVectorValues vectors,
      VectorSimilarityFunction similarity,
      float[] mean,
      boolean mixed,
      Workers workers,
      AbortCheck abort) {
    this.vectors = vectors;
    this.similarity = similarity;
    this.workers = workers;
    this.abort = abort;
    this.size = vectors.size();
    this.dimension = vectors.dimension();
    this.mean = mean;
    this.mixed = mixed;
  }

  private KnnVectorValues copy() throws IOException {
    synchronized (vectors) {
      return vectors.copy();
    }
  }

  private FloatVectors open() throws IOException {
    return new FloatVectors(copy(), similarity);
  }

  /** Writes codes and mean, as {@link SignCodes} reads them. */
  void write(IndexOutput out) throws IOException {
    int rowBytes = SignCodes.rowBytes(dimension);
    byte[] block = new byte[Math.multiplyExact(Math.min(size, BLOCK), rowBytes)];
    for (long next = 0; next < size; next += BLOCK) {
      int start = (int) next;
      int to = (int) Math.min(size, next + BLOCK);
      workers.forEachRange(start, to, () -> new Encoder(block, start)::encode, abort);
      out.writeBytes(block, 0, (to - start) * rowBytes);
    }
    for (float component : mean) {
      out.writeInt(Float.floatToIntBits(component));
    }
  }

  /** Encodes ranges of ordinals, for one thread. */
  private final class Encoder {
    private final FloatVectors floats = open();
    private final float[] vector = new float[dimension];
    private final long[] words = new long[SignCodes.words(dimension)];
    private final SignEncoder encoder = new SignEncoder(mean, mixed);
    private final ByteBuffer block;
    private final int start;

    Encoder(byte[] block, int start) throws IOException {
      this.block = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
      this.start = start;
    }

    void encode(int from, int to) throws IOException {
      for (int ordinal = from; ordinal < to; ordinal++) {
        floats.read(ordinal, vector);
        float norm = encoder.encode(vector, words);
        int at = (ordinal - start) * SignCodes.rowBytes(dimension);
        for (long word : words) {
          block.putLong(at, word);
          at += Long.BYTES;
        }
        block.putLong(at, Integer.toUnsignedLong(Float.floatToIntBits(norm)));
      }
    }
  }

  /**
   * Fits a line through the angles of pairs that a walk meets: nodes and what two or three edges
   * lead to. The line does not depend on the number of threads.
   */
  SignCodes.Angles angles(Adjacency graph) throws IOException {
    int nodes = Math.min(size, PAIR_NODES);
    Line[] parts = new Line[(nodes + Workers.RANGE - 1) / Workers.RANGE];
    workers.forEachRange(
        0,
        nodes,
        () -> {
          Pairs pairs = new Pairs(graph.copy());
          return (from, to) -> {
            Line part = new Line();
            for (int i = from; i < to; i++) {
              pairs.add((int) ((long) i * size / nodes), part);
            }
            parts[from / Workers.RANGE] = part;
          };
        },
        abort);
    Line line = new Line();
    for (Line part : parts) {
      line.add(part);
    }
    return line.fit(mixed);
  }

  /** Pairs of a node and what edges lead to, for one thread. */
  private final class Pairs {
    private final Adjacency graph;
    private final int[] row;
    private final Sampled one = new Sampled();
    private final Sampled other = new Sampled();

    Pairs(Adjacency graph) throws IOException {
      this.graph = graph;
      this.row = new int[graph.maxDegree()];
    }

    void add(int node, Line line) throws IOException {
      SplittableRandom random = new SplittableRandom(SEED + node);
      one.read(node);
      for (int pair = 0; pair < PAIRS_OF_NODE; pair++) {
        int end = node;
        for (int edge = 0; edge < 2 + pair % 2; edge++) {
          int degree = graph.neighbors(end, row);
          end = degree == 0 ? end : row[random.nextInt(degree)];
        }
        other.read(end);
        line.add(one, other);
      }
    }
  }

  /** A vector and its code. */
  private final class Sampled {
    private final FloatVectors floats = open();
    private final float[] vector = new float[dimension];
    private final long[] words = new long[SignCodes.words(dimension)];
    private final SignEncoder encoder = new SignEncoder(mean, mixed);
    private float norm;

    private Sampled() throws IOException {}

    void read(int ordinal) throws IOException {
      floats.read(ordinal, vector);
      norm = encoder.encode(vector, words);
    }

    int differences(Sampled other) {
      int differences = 0;
      for (int i = 0; i < words.length; i++) {
        differences += Long.bitCount(words[i] ^ other.words[i]);
      }
      return differences;
    }

    /** The angle at the mean; NaN if a vector is the mean. */
    double angle(Sampled other) {
      double cosine =
          ((double) norm * norm
                  + (double) other.norm * other.norm
                  - VectorUtil.squareDistance(vector, other.vector))
              / (2.0 * norm * other.norm);
      return Math.acos(Math.max(-1, Math.min(1, cosine)));
    }
  }

  /** Least squares of angles over differences. */
  private static final class Line {
    private double count;
    private double x;
    private double y;
    private double xx;
    private double xy;
    private double yy;

    void add(Sampled one, Sampled other) {
      double angle = one.angle(other);
      if (Double.isNaN(angle)) {
        return;
      }
      double differences = one.differences(other);
      count++;
      x += differences;
      y += angle;
      xx += differences * differences;
      xy += differences * angle;
      yy += angle * angle;
    }

    void add(Line other) {
      count += other.count;
      x += other.x;
      y += other.y;
      xx += other.xx;
      xy += other.xy;
      yy += other.yy;
    }

    /** Without variation, bits tell nothing: then every angle is possible. */
    SignCodes.Angles fit(boolean mixed) {
      double variance = count * xx - x * x;
      if (count < 2 || variance <= 0) {
        return new SignCodes.Angles(0, 0, (float) Math.PI, mixed);
      }
      double slope = (count * xy - x * y) / variance;
      double intercept = (y - slope * x) / count;
      double squares = yy - intercept * y - slope * xy;
      return new SignCodes.Angles(
          (float) intercept, (float) slope, (float) Math.sqrt(Math.max(0, squares / count)), mixed);
    }
  }
}
