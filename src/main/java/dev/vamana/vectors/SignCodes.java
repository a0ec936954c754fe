package dev.vamana.vectors;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Objects;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.util.VectorUtil;

/**
 * One bit for each component of each vector: whether it is greater than the mean of all vectors.
 * Or, where that tells little, one bit for each of as many {@linkplain SignMix sums of components}.
 *
 * <p>The share of bits in which two codes differ tells the angle between the two vectors as seen
 * from the mean (SONG, section 7, after Charikar's random hyperplanes). With their distances to the
 * mean, that is an estimate of their distance. {@link SignFilter} uses it to leave out vectors that
 * are too far to matter, at a fraction of the memory that their components take.
 *
 * <p>How well bits tell the angle depends on the vectors, so it was measured when a segment was
 * written: {@link Angles}. Versions 1 to 3 of the format wrote these codes; {@link ScalarCodes}
 * have taken their place.
 */
public final class SignCodes {

  /**
   * Standard deviations by which an estimated angle is taken to be too large. At two, a walk over
   * text embeddings computes two fifths of the distances and finds as many neighbours.
   */
  private static final float MARGIN = 2;

  private static final ValueLayout.OfLong WORD =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final FileRegion region;
  private final int size;
  private final int dimension;
  private final VectorSimilarityFunction similarity;
  private final float[] cosines;
  private final float[] mean;
  // null unless mixed
  private final SignMix.Terms terms;

  /**
   * A line through pairs of vectors: angle = intercept + slope * number of different bits.
   *
   * @param intercept radians
   * @param slope radians for each bit
   * @param deviation standard deviation of angles from the line, radians
   * @param mixed whether bits tell the signs of sums of components instead of components
   */
  public record Angles(float intercept, float slope, float deviation, boolean mixed) {

    /** Whether the numbers can come from a measurement. */
    public boolean valid() {
      return Float.isFinite(intercept)
          && Float.isFinite(slope)
          && Float.isFinite(deviation)
          && deviation >= 0;
    }

    /** Cosines of the least likely angles, by number of different bits. */
    private float[] cosines(int dimension) {
      // damaged codes may differ in bits that belong to no component
      float[] cosines = new float[words(dimension) * Long.SIZE + 1];
      for (int bits = 0; bits < cosines.length; bits++) {
        double angle = intercept + slope * bits - MARGIN * deviation;
        cosines[bits] = (float) Math.cos(Math.max(0, Math.min(Math.PI, angle)));
      }
      return cosines;
    }
  }

  /**
   * Opens codes.
   *
   * @param region {@link #length} bytes: for each ordinal its words, then the distance to the mean
   *     (float32) and 4 bytes of 0; then the mean (float32)
   */
  public SignCodes(
      FileRegion region,
      int size,
      int dimension,
      VectorSimilarityFunction similarity,
      Angles angles)
      throws IOException {
    this.region = region;
    this.size = size;
    this.dimension = dimension;
    this.similarity = similarity;
    this.cosines = angles.cosines(dimension);
    this.mean =
        CodesAndMean.mean(
            "sign codes", region, length(size, dimension), size, rowBytes(dimension), dimension);
    this.terms = angles.mixed ? SignMix.Terms.of(dimension) : null;
  }

  /** Whether bits tell the signs of sums of components instead of components. */
  public boolean mixed() {
    return terms != null;
  }

  /** Words of 64 bits for each vector. */
  public static int words(int dimension) {
    return (dimension + Long.SIZE - 1) / Long.SIZE;
  }

  /** Bytes for each vector. */
  public static int rowBytes(int dimension) {
    return (words(dimension) + 1) * Long.BYTES;
  }

  /** Bytes for all vectors and the mean. */
  public static long length(int size, int dimension) {
    return (long) size * rowBytes(dimension) + (long) dimension * Float.BYTES;
  }

  /** Returns a filter for one query, for the calling thread. */
  public SignFilter filter(float[] query) throws IOException {
    float[] asked = query;
    if (similarity == VectorSimilarityFunction.COSINE) {
      asked = VectorUtil.l2normalize(query.clone(), false);
    }
    long[] words = new long[words(dimension)];
    float norm = new SignEncoder(mean, terms).encode(asked, words);
    return new SignFilter(new Rows(), similarity, cosines, asked, words, norm);
  }

  /** Reads rows, for one thread. */
  final class Rows {
    private final MemorySegment mapped = region.segment();
    private final IndexInput input;
    private final int words = words(dimension);

    private Rows() throws IOException {
      input = mapped == null ? region.open() : null;
    }

    /**
     * Reads vectors' codes.
     *
     * @param code the code to compare with
     * @param differences receives in how many bits each differs
     * @param norms receives the distances to the mean
     */
    void read(int[] ordinals, int count, long[] code, int[] differences, float[] norms)
        throws IOException {
      try {
        if (mapped == null) {
          readInput(ordinals, count, code, differences, norms);
        } else {
          // Both ends of all rows first: these reads are so short that a processor has many of
          // them under way at once, where it would wait for the memory of one row after the other.
          readEnds(ordinals, count, code, differences, norms);
          readMiddles(ordinals, count, code, differences);
        }
      } catch (IllegalStateException e) {
        throw new AlreadyClosedException("the codes were closed: " + region, e);
      }
    }

    private long row(int ordinal) {
      return (long) Objects.checkIndex(ordinal, size) * (words + 1) * Long.BYTES;
    }

    private void readEnds(
        int[] ordinals, int count, long[] code, int[] differences, float[] norms) {
      for (int i = 0; i < count; i++) {
        long at = row(ordinals[i]);
        differences[i] = Long.bitCount(mapped.get(WORD, at) ^ code[0]);
        norms[i] = Float.intBitsToFloat((int) mapped.get(WORD, at + (long) words * Long.BYTES));
      }
    }

    private void readMiddles(int[] ordinals, int count, long[] code, int[] differences) {
      for (int i = 0; i < count; i++) {
        long at = row(ordinals[i]);
        int different = differences[i];
        for (int word = 1; word < words; word++) {
          different += Long.bitCount(mapped.get(WORD, at + (long) word * Long.BYTES) ^ code[word]);
        }
        differences[i] = different;
      }
    }

    private void readInput(int[] ordinals, int count, long[] code, int[] differences, float[] norms)
        throws IOException {
      for (int i = 0; i < count; i++) {
        input.seek(row(ordinals[i]));
        int different = 0;
        for (int word = 0; word < words; word++) {
          different += Long.bitCount(input.readLong() ^ code[word]);
        }
        differences[i] = different;
        norms[i] = Float.intBitsToFloat((int) input.readLong());
      }
    }
  }
}
