package dev.vamana.search;

import dev.vamana.vectors.FloatVectors;
import java.util.Objects;
import org.apache.lucene.index.VectorEncoding;

/**
 * A query's vector, of floats or bytes according to the field's encoding. The array is not copied
 * and must not be changed.
 */
public final class QueryVector {

  private final float[] floats;
  private final byte[] bytes;
  // kept here, so that items are made without a look at the arrays, which may not be in the cache
  private final int dimension;
  // null until it is asked for; threads that find it out at the same time find the same
  private Boolean ofBytes;

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

  /** Whether this is a float query whose components are all integers from 0 to 255. */
  public boolean ofBytes() {
    Boolean known = ofBytes;
    if (known == null) {
      known = floats != null && FloatVectors.areBytes(floats);
      ofBytes = known;
    }
    return known;
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
