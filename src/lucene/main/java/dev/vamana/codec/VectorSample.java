package dev.vamana.codec;

import dev.vamana.pq.TrainingSample;
import dev.vamana.vectors.FloatVectors;
import dev.vamana.vectors.MappedRows;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.SplittableRandom;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * A random sample of a field's vectors for training a codebook, spread evenly over the ordinals and
 * in random order. The vectors are floats, scaled to unit length for COSINE. They are read from the
 * mapped file on demand; the sample is never copied as a whole.
 */
final class VectorSample implements TrainingSample {

  private final KnnVectorValues values;
  private final FloatVectors vectors;
  private final int[] ordinals;
  private final MemorySegment mapped;
  // 1 / norm of each sampled vector for COSINE, else null
  private final float[] scales;

  private VectorSample(
      KnnVectorValues values, VectorSimilarityFunction similarity, int[] ordinals, float[] scales)
      throws IOException {
    this.values = values;
    this.vectors = new FloatVectors(values, similarity);
    this.ordinals = ordinals;
    this.scales = scales;
    this.mapped = MappedRows.of(values);
  }

  /**
   * Draws a sample without repetition.
   *
   * @param most size of the sample; the sample is smaller if there are fewer vectors
   * @param seed seed of the draw
   */
  static VectorSample of(
      KnnVectorValues values, VectorSimilarityFunction similarity, int most, long seed)
      throws IOException {
    int[] ordinals = draw(values.size(), Math.min(most, values.size()), seed);
    float[] scales = null;
    if (similarity == VectorSimilarityFunction.COSINE) {
      scales = new float[ordinals.length];
      FloatVectors vectors = new FloatVectors(values, similarity);
      for (int i = 0; i < scales.length; i++) {
        scales[i] = vectors.scale(ordinals[i]);
      }
    }
    return new VectorSample(values, similarity, ordinals, scales);
  }

  /** Draws one ordinal from each of {@code count} equal ranges and shuffles them. */
  private static int[] draw(int size, int count, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    int[] ordinals = new int[count];
    for (int i = 0; i < count; i++) {
      int from = (int) ((long) i * size / count);
      int to = (int) ((i + 1L) * size / count);
      int at = random.nextInt(i + 1);
      ordinals[i] = ordinals[at];
      ordinals[at] = random.nextInt(from, to);
    }
    return ordinals;
  }

  @Override
  public int size() {
    return ordinals.length;
  }

  @Override
  public int dims() {
    return values.dimension();
  }

  @Override
  public void vector(int i, float[] dst) throws IOException {
    vectors.read(ordinals[i], dst);
  }

  @Override
  public void subspace(int offset, int length, float[] dst) throws IOException {
    float[] whole = mapped == null ? new float[dims()] : null;
    for (int i = 0; i < ordinals.length; i++) {
      if (mapped == null) {
        vectors.read(ordinals[i], whole);
        System.arraycopy(whole, offset, dst, i * length, length);
        continue;
      }
      long start = ((long) ordinals[i] * dims() + offset) * Float.BYTES;
      MemorySegment.copy(mapped, MappedRows.COMPONENT, start, dst, i * length, length);
      if (scales != null) {
        for (int d = i * length, end = d + length; d < end; d++) {
          dst[d] *= scales[i];
        }
      }
    }
  }

  @Override
  public TrainingSample copy() throws IOException {
    return new VectorSample(values.copy(), vectors.similarity(), ordinals, scales);
  }
}
