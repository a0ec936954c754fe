package dev.vamana.codec;

import dev.vamana.graph.Adjacency;
import dev.vamana.vectors.FloatVectors;
import dev.vamana.vectors.ScalarCodes;
import dev.vamana.vectors.ScalarEncoder;
import dev.vamana.vectors.ScalarQuery;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.util.VectorUtil;

/** Writes the {@link ScalarCodes} of a field, and measures how far their estimates are off. */
final class ScalarWriter {

  // rows that are encoded between two writes
  private static final int BLOCK = 1 << 14;

  private static final int MAX_BLOCK_BYTES = 1 << 25;

  // pairs of vectors whose products are compared with estimates
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

  /**
   * Makes a writer.
   *
   * @param mean the mean of all vectors
   */
  ScalarWriter(
      KnnVectorValues vectors,
      VectorSimilarityFunction similarity,
      float[] mean,
      Workers workers,
      AbortCheck abort) {
    this.vectors = vectors;
    this.similarity = similarity;
    this.workers = workers;
    this.abort = abort;
    this.size = vectors.size();
    this.dimension = vectors.dimension();
    this.mean = mean;
  }

  private KnnVectorValues copy() throws IOException {
    synchronized (vectors) {
      return vectors.copy();
    }
  }

  private FloatVectors open() throws IOException {
    return new FloatVectors(copy(), similarity);
  }

  /** Writes codes and mean, as {@link ScalarCodes} reads them. */
  void write(IndexOutput out) throws IOException {
    int rowBytes = ScalarCodes.rowBytes(dimension);
    int together = Math.min(BLOCK, MAX_BLOCK_BYTES / rowBytes);
    byte[] block = new byte[Math.multiplyExact(Math.min(size, together), rowBytes)];
    for (long next = 0; next < size; next += together) {
      int start = (int) next;
      int to = (int) Math.min(size, next + together);
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
    private final long[] words = new long[ScalarCodes.words(dimension)];
    private final ScalarEncoder encoder = new ScalarEncoder(mean, ScalarCodes.BITS);
    private final ByteBuffer block;
    private final int start;

    Encoder(byte[] block, int start) throws IOException {
      this.block = ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN);
      this.start = start;
    }

    void encode(int from, int to) throws IOException {
      for (int ordinal = from; ordinal < to; ordinal++) {
        floats.read(ordinal, vector);
        encoder.encode(vector);
        int at = (ordinal - start) * ScalarCodes.rowBytes(dimension);
        ScalarCodes.write(encoder, words, block, at);
      }
    }
  }

  /**
   * Measures the deviation of estimates for pairs that a walk meets: nodes and what two or three
   * edges lead to. It does not depend on the number of threads.
   *
   * @return root of the mean squared error of products, divided by the lengths of both vectors less
   *     the mean; 1 if the similarity is a product and a vector has another length than 1, since
   *     distances then say nothing of scores
   */
  float deviation(Adjacency graph) throws IOException {
    if (similarity == VectorSimilarityFunction.DOT_PRODUCT && ofUnitLength() == false) {
      return 1;
    }
    int nodes = Math.min(size, PAIR_NODES);
    Errors[] parts = new Errors[(nodes + Workers.RANGE - 1) / Workers.RANGE];
    workers.forEachRange(
        0,
        nodes,
        () -> {
          Pairs pairs = new Pairs(graph.copy());
          return (from, to) -> {
            Errors part = new Errors();
            for (int i = from; i < to; i++) {
              pairs.add((int) ((long) i * size / nodes), part);
            }
            parts[from / Workers.RANGE] = part;
          };
        },
        abort);
    Errors all = new Errors();
    for (Errors part : parts) {
      all.add(part);
    }
    return all.deviation();
  }

  private boolean ofUnitLength() throws IOException {
    AtomicBoolean all = new AtomicBoolean(true);
    workers.forEachRange(
        0,
        size,
        () -> {
          FloatVectors floats = open();
          float[] vector = new float[dimension];
          return (from, to) -> {
            for (int ordinal = from; ordinal < to && all.get(); ordinal++) {
              floats.read(ordinal, vector);
              if (VectorUtil.isUnitVector(vector) == false) {
                all.set(false);
              }
            }
          };
        },
        abort);
    return all.get();
  }

  /** Pairs of a node and what edges lead to, for one thread. */
  private final class Pairs {
    private final Adjacency graph;
    private final int[] row;
    private final FloatVectors floats = open();
    private final float[] one = new float[dimension];
    private final float[] other = new float[dimension];
    private final long[] words = new long[ScalarCodes.words(dimension)];
    private final ScalarEncoder queries = new ScalarEncoder(mean, ScalarCodes.QUERY_BITS);
    private final ScalarEncoder encoder = new ScalarEncoder(mean, ScalarCodes.BITS);

    Pairs(Adjacency graph) throws IOException {
      this.graph = graph;
      this.row = new int[graph.maxDegree()];
    }

    void add(int node, Errors errors) throws IOException {
      SplittableRandom random = new SplittableRandom(SEED + node);
      floats.read(node, one);
      ScalarQuery query = new ScalarQuery(one, queries);
      for (int pair = 0; pair < PAIRS_OF_NODE; pair++) {
        int end = node;
        for (int edge = 0; edge < 2 + pair % 2; edge++) {
          int degree = graph.neighbors(end, row);
          end = degree == 0 ? end : row[random.nextInt(degree)];
        }
        floats.read(end, other);
        encoder.encode(other);
        encoder.write(words);
        errors.add(product(query), estimate(query), (double) query.norm() * encoder.norm());
      }
    }

    /** The product of both vectors less the mean, from their distances. */
    private double product(ScalarQuery query) {
      double norms =
          (double) query.norm() * query.norm() + (double) encoder.norm() * encoder.norm();
      return (norms - VectorUtil.squareDistance(one, other)) / 2;
    }

    private double estimate(ScalarQuery query) {
      float step = encoder.step();
      return query.product(query.dot(words), encoder.lowest(), step, step * encoder.sum());
    }
  }

  /** Sums of errors. */
  private static final class Errors {
    private double count;
    private double squares;

    void add(double product, double estimate, double lengths) {
      double error = (estimate - product) / lengths;
      // a vector that is the mean has no direction
      if (Double.isNaN(error) == false) {
        count++;
        squares += error * error;
      }
    }

    void add(Errors other) {
      count += other.count;
      squares += other.squares;
    }

    /** Without a pair, products may be anything. */
    float deviation() {
      return count == 0 ? 1 : (float) Math.sqrt(squares / count);
    }
  }
}
