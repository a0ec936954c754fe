package dev.vamana.vectors;

import java.io.IOException;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/**
 * Reads stored vectors, of bytes or floats, as floats; scales them to unit length for COSINE.
 * {@link Medoid} and quantization work with these. For one thread.
 */
public final class FloatVectors {

  private final KnnVectorValues values;
  private final VectorSimilarityFunction similarity;
  private final float[] scratch;

  /**
   * Makes a view.
   *
   * @param values the stored vectors, random access by ordinal
   * @param similarity the field's similarity
   */
  public FloatVectors(KnnVectorValues values, VectorSimilarityFunction similarity) {
    this.values = values;
    this.similarity = similarity;
    this.scratch = new float[values.dimension()];
  }

  /** The field's similarity. */
  public VectorSimilarityFunction similarity() {
    return similarity;
  }

  /** Copies a vector into {@code target}, which has room for at least {@code dimension} floats. */
  public void read(int ordinal, float[] target) throws IOException {
    readStored(ordinal, target);
    if (similarity == VectorSimilarityFunction.COSINE) {
      float scale = scale(target);
      for (int d = 0; d < values.dimension(); d++) {
        target[d] *= scale;
      }
    }
  }

  /** The factor that scales a stored vector to unit length; 1 for the zero vector. */
  public float scale(int ordinal) throws IOException {
    readStored(ordinal, scratch);
    return scale(scratch);
  }

  private static float scale(float[] vector) {
    float squaredNorm = VectorUtil.dotProduct(vector, vector);
    return squaredNorm > 0f ? (float) (1 / Math.sqrt(squaredNorm)) : 1f;
  }

  private void readStored(int ordinal, float[] target) throws IOException {
    if (values instanceof FloatVectorValues floats) {
      System.arraycopy(floats.vectorValue(ordinal), 0, target, 0, values.dimension());
    } else {
      byte[] bytes = ((ByteVectorValues) values).vectorValue(ordinal);
      for (int d = 0; d < bytes.length; d++) {
        target[d] = bytes[d];
      }
    }
  }

  /** Whether all components of a vector are integers from 0 to 255. */
  public static boolean areBytes(float[] vector) {
    for (float component : vector) {
      // not a number is no integer, too
      if ((component >= 0 && component <= 255 && component == Math.rint(component)) == false) {
        return false;
      }
    }
    return true;
  }
}
