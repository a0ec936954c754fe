package dev.vamana.vectors;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Objects;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.util.VectorUtil;

/**
 * Every component of each vector, less the mean of all vectors, rounded to {@value #BITS} bits. A
 * query is rounded to {@value #QUERY_BITS} bits a component. The product of the two, with the
 * distances of both to the mean, is an estimate of their distance. {@link ScalarFilter} uses it to
 * leave out vectors that are too far to matter, at a fraction of the memory that their components
 * take.
 *
 * <p>How far estimates are off depends on the vectors, so it is measured when a segment is written.
 */
public final class ScalarCodes {

  /**
   * Least dimension of vectors with codes. Below, a distance costs little more than an estimate.
   */
  public static final int MIN_DIMENSION = 96;

  /** Bits of a stored component. */
  public static final int BITS = 2;

  /** Bits of a query's component. */
  public static final int QUERY_BITS = 3;

  /** Largest deviation of useful estimates. Embeddings and images have 0.02 to 0.04. */
  public static final float MAX_DEVIATION = 0.08f;

  /**
   * Standard deviations by which an estimated product is taken to be too small. At two, a walk
   * finds as many neighbours as without codes.
   */
  private static final float MARGIN = 2;

  /**
   * Least number of equally large components that a query less the mean must be worth. Of fewer,
   * the errors of a stored vector's components do not cancel out, and its nearest vectors have the
   * largest ones, which are rounded most.
   */
  private static final int MIN_COMPONENTS = 16;

  // rows do not lie across more lines of a cache than they have to
  private static final int ROW_ALIGNMENT = 32;
  private static final int CACHE_LINE = 64;
  private static final int HEAD_BYTES = 4 * Float.BYTES;

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final FileRegion region;
  private final int size;
  private final int dimension;
  private final VectorSimilarityFunction similarity;
  private final float deviation;
  private final float[] mean;

  /**
   * Opens codes.
   *
   * @param region {@link #length} bytes: for each ordinal what {@link #write} writes, then the mean
   *     (float32)
   * @param deviation standard deviation of estimated products of vectors less the mean, divided by
   *     the lengths of both
   */
  public ScalarCodes(
      FileRegion region,
      int size,
      int dimension,
      VectorSimilarityFunction similarity,
      float deviation)
      throws IOException {
    this.region = region;
    this.size = size;
    this.dimension = dimension;
    this.similarity = similarity;
    this.deviation = deviation;
    if (region.length() != length(size, dimension)) {
      throw new IllegalArgumentException(
          "scalar codes of "
              + size
              + " vectors of "
              + dimension
              + " components do not take "
              + region.length()
              + " bytes");
    }
    this.mean = new float[dimension];
    IndexInput input = region.open();
    input.seek((long) size * rowBytes(dimension));
    input.readFloats(mean, 0, dimension);
  }

  /** Whether a segment's vectors get codes. */
  public static boolean suit(
      VectorEncoding encoding, VectorSimilarityFunction similarity, int dimension) {
    // a bound of inner products says nothing about distances
    return encoding == VectorEncoding.FLOAT32
        && similarity != VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT
        && dimension >= MIN_DIMENSION;
  }

  /** Whether estimates are so good that a walk is faster with them. */
  public static boolean useful(float deviation) {
    return deviation <= MAX_DEVIATION;
  }

  /** Words of 64 bits for the numbers of a vector's components. */
  public static int words(int dimension) {
    return BITS * ((dimension + Long.SIZE - 1) / Long.SIZE);
  }

  /** Bytes for each vector, a multiple of {@value #ROW_ALIGNMENT}. */
  public static int rowBytes(int dimension) {
    int used = words(dimension) * Long.BYTES + HEAD_BYTES;
    return (used + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
  }

  /** Bytes for all vectors and the mean. */
  public static long length(int size, int dimension) {
    return (long) size * rowBytes(dimension) + (long) dimension * Float.BYTES;
  }

  /**
   * Writes the code of the vector that was encoded last: its words; the distance to the mean, the
   * lowest level, the step and the step times the sum of all numbers (float32); then 0.
   *
   * @param words scratch of {@link #words} elements; holds the words afterwards
   * @param at first byte of the row
   */
  public static void write(ScalarEncoder encoder, long[] words, ByteBuffer block, int at) {
    encoder.write(words);
    int next = at;
    for (long word : words) {
      block.putLong(next, word);
      next += Long.BYTES;
    }
    float step = encoder.step();
    block.putFloat(next, encoder.norm());
    block.putFloat(next + Float.BYTES, encoder.lowest());
    block.putFloat(next + 2 * Float.BYTES, step);
    block.putFloat(next + 3 * Float.BYTES, step * encoder.sum());
  }

  /**
   * Returns a filter for one query, for the calling thread; null if few components make up most of
   * the query, for which estimates are too bad.
   */
  public ScalarFilter filter(float[] query) throws IOException {
    float[] asked = query;
    if (similarity == VectorSimilarityFunction.COSINE) {
      asked = VectorUtil.l2normalize(query.clone(), false);
    }
    if (hasFewComponents(asked)) {
      return null;
    }
    return new ScalarFilter(
        new Rows(),
        similarity,
        new ScalarQuery(asked, new ScalarEncoder(mean, QUERY_BITS)),
        similarity == VectorSimilarityFunction.EUCLIDEAN ? 0 : VectorUtil.dotProduct(asked, asked),
        MARGIN * deviation);
  }

  private boolean hasFewComponents(float[] query) {
    double squares = 0;
    double fourths = 0;
    for (int d = 0; d < dimension; d++) {
      double component = query[d] - mean[d];
      double square = component * component;
      squares += square;
      fourths += square * square;
    }
    return squares * squares < MIN_COMPONENTS * fourths;
  }

  /** Reads rows, for one thread. */
  final class Rows {
    private final MemorySegment mapped = region.segment();
    private final IndexInput input;
    private final int words = words(dimension);
    private final int rowBytes = rowBytes(dimension);

    // what was read ahead: the compiler must not leave out the reads
    @SuppressWarnings("UnusedVariable")
    private long ahead;

    private Rows() throws IOException {
      input = mapped == null ? region.open() : null;
    }

    /**
     * Estimates products of a query with vectors, both less the mean.
     *
     * @param products receives the estimates
     * @param norms receives the distances of the vectors to the mean
     */
    void read(int[] ordinals, int count, ScalarQuery query, float[] products, float[] norms)
        throws IOException {
      try {
        if (mapped == null) {
          readInput(ordinals, count, query, products, norms);
        } else {
          // All lines of all rows first: these reads are so short that a processor has many of
          // them under way at once, where it would wait for the memory of one row after the other.
          for (int line = 0; line < rowBytes; line += CACHE_LINE) {
            readAhead(ordinals, count, line);
          }
          readMapped(ordinals, count, query, products, norms);
        }
      } catch (IllegalStateException e) {
        throw new AlreadyClosedException("the codes were closed: " + region, e);
      }
    }

    private void readAhead(int[] ordinals, int count, int line) {
      long seen = 0;
      for (int i = 0; i < count; i++) {
        seen |= mapped.get(WORD, (long) ordinals[i] * rowBytes + line);
      }
      ahead |= seen;
    }

    private void readMapped(
        int[] ordinals, int count, ScalarQuery query, float[] products, float[] norms) {
      MemorySegment rows = mapped;
      long[] asked = query.words();
      int headAt = words * Long.BYTES;
      for (int i = 0; i < count; i++) {
        long at = (long) ordinals[i] * rowBytes;
        // sums of bits that have the same weight in both numbers together
        int ones = 0;
        int twos = 0;
        int fours = 0;
        int eights = 0;
        long head = at + headAt;
        for (int word = 0; word < asked.length; word += QUERY_BITS) {
          long low = rows.get(WORD, at);
          long high = rows.get(WORD, at + Long.BYTES);
          at += BITS * Long.BYTES;
          long first = asked[word];
          long second = asked[word + 1];
          long third = asked[word + 2];
          ones += Long.bitCount(low & first);
          twos += Long.bitCount(low & second) + Long.bitCount(high & first);
          fours += Long.bitCount(low & third) + Long.bitCount(high & second);
          eights += Long.bitCount(high & third);
        }
        long one = rows.get(WORD, head);
        long other = rows.get(WORD, head + Long.BYTES);
        norms[i] = Float.intBitsToFloat((int) one);
        products[i] =
            query.product(
                ones + (twos << 1) + (fours << 2) + (eights << 3),
                Float.intBitsToFloat((int) (one >>> Integer.SIZE)),
                Float.intBitsToFloat((int) other),
                Float.intBitsToFloat((int) (other >>> Integer.SIZE)));
      }
    }

    private void readInput(
        int[] ordinals, int count, ScalarQuery query, float[] products, float[] norms)
        throws IOException {
      long[] code = new long[words];
      for (int i = 0; i < count; i++) {
        input.seek((long) Objects.checkIndex(ordinals[i], size) * rowBytes);
        input.readLongs(code, 0, words);
        norms[i] = Float.intBitsToFloat(input.readInt());
        products[i] =
            query.product(
                query.dot(code),
                Float.intBitsToFloat(input.readInt()),
                Float.intBitsToFloat(input.readInt()),
                Float.intBitsToFloat(input.readInt()));
      }
    }
  }
}
