package dev.vamana.codec;

import dev.vamana.pq.TrainingSample;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.apache.lucene.codecs.lucene95.HasIndexSlice;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.IndexInput;

/**
 * Evenly spaced vectors of a field, as quantization sees them: floats, of unit length for COSINE.
 * Read from the mapped file as they are needed, never copied as a whole.
 */
final class VectorSample implements TrainingSample {

  private static final ValueLayout.OfFloat LITTLE_ENDIAN_FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final KnnVectorValues values;
  private final FloatVectors vectors;
  private final int count;
  private final MemorySegment mapped;
  // 1 / norm of each sample vector for COSINE, else null
  private final float[] scales;

  private VectorSample(
      KnnVectorValues values, VectorSimilarityFunction similarity, int count, float[] scales)
      throws IOException {
    this.values = values;
    this.vectors = new FloatVectors(values, similarity);
    this.count = count;
    this.scales = scales;
    this.mapped = mapped(values);
  }

  static VectorSample of(KnnVectorValues values, VectorSimilarityFunction similarity, int most)
      throws IOException {
    int count = Math.min(most, values.size());
    float[] scales = null;
    if (similarity == VectorSimilarityFunction.COSINE) {
      scales = new float[count];
      FloatVectors vectors = new FloatVectors(values, similarity);
      for (int i = 0; i < count; i++) {
        scales[i] = vectors.scale(ordinal(i, count, values.size()));
      }
    }
    return new VectorSample(values, similarity, count, scales);
  }

  private static MemorySegment mapped(KnnVectorValues values) throws IOException {
    if (values.getEncoding() == VectorEncoding.FLOAT32
        && values instanceof HasIndexSlice sliced
        && sliced.getSlice() != null) {
      IndexInput slice = sliced.getSlice();
      return FileRegion.of(slice, 0, slice.length()).segment();
    }
    return null;
  }

  private static int ordinal(int i, int count, int size) {
    return (int) ((long) i * size / count);
  }

  @Override
  public int size() {
    return count;
  }

  @Override
  public int dims() {
    return values.dimension();
  }

  @Override
  public void vector(int i, float[] dst) throws IOException {
    vectors.read(ordinal(i, count, values.size()), dst);
  }

  @Override
  public void subspace(int offset, int length, float[] dst) throws IOException {
    float[] whole = mapped == null ? new float[dims()] : null;
    for (int i = 0; i < count; i++) {
      int ordinal = ordinal(i, count, values.size());
      if (mapped == null) {
        vectors.read(ordinal, whole);
        System.arraycopy(whole, offset, dst, i * length, length);
        continue;
      }
      long start = ((long) ordinal * dims() + offset) * Float.BYTES;
      MemorySegment.copy(mapped, LITTLE_ENDIAN_FLOAT, start, dst, i * length, length);
      if (scales != null) {
        for (int d = i * length, end = d + length; d < end; d++) {
          dst[d] *= scales[i];
        }
      }
    }
  }

  @Override
  public TrainingSample copy() throws IOException {
    return new VectorSample(values.copy(), vectors.similarity(), count, scales);
  }
}
