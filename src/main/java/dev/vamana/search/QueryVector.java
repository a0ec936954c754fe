package dev.vamana.search;

import java.util.Objects;
import org.apache.lucene.index.VectorEncoding;

/**
 * A query's vector, of floats or bytes according to the field's encoding. The array is not copied
 * and must not be changed.
 */
public final class QueryVector {

  private static final int UNKNOWN = 0;
  private static final int YES = 1;
  private static final int NO = 2;

  private final float[] floats;
  private final byte[] bytes;
  // kept here, so that items are made without a look at the arrays, which may not be in the cache
  private final int dimension;
  // threads that find it out at the same time find the same
  private int ofBytes;

  private QueryVector(float[] floats, byte[] bytes, int dimension) {
    this.floats = floats;
    this.bytes = bytes;
    this.dimension = dimension;
  }

  /** Makes a query for a field of float vectors. */
  public static QueryVector of(float[] vector) {
    return new QueryVector(Objects.requireNonNull(vector, "vector"), null, vector.length);
  }

  /** Makes a query for a field of byte vectors. */
  public static QueryVector of(byte[] vector) {
    return new QueryVector(null, Objects.requireNonNull(vector, "vector"), vector.length);
  }

  /** Returns the encoding of the fields that the query fits. */
  public VectorEncoding encoding() {
    return floats != null ? VectorEncoding.FLOAT32 : VectorEncoding.BYTE;
  }

  /** Returns the number of components. */
  public int dimension() {
    return dimension;
  }

  /** Returns the components of a float query; null for a byte query. */
  public float[] floats() {
    return floats;
  }

  /** Returns the components of a byte query; null for a float query. */
  public byte[] bytes() {
    return bytes;
  }

  /**
   * Whether the components are floats and integers from 0 to 255, as those of images and of many
   * descriptors are.
   */
  public boolean ofBytes() {
    int known = ofBytes;
    if (known == UNKNOWN) {
      known = floats != null && allBytes(floats) ? YES : NO;
      ofBytes = known;
    }
    return known == YES;
  }

  private static boolean allBytes(float[] vector) {
    for (float component : vector) {
      // not a number is no integer, too
      if ((component >= 0 && component <= 255 && component == (int) component) == false) {
        return false;
      }
    }
    return true;
  }

  /** Returns the components as floats, in a new array. */
  public float[] toFloats() {
    if (floats != null) {
      return floats.clone();
    }
    float[] converted = new float[bytes.length];
    for (int d = 0; d < converted.length; d++) {
      converted[d] = bytes[d];
    }
    return converted;
  }
}
