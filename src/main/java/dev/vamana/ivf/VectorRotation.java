package dev.vamana.ivf;

/** An orthogonal map of vectors, which keeps distances. Immutable and thread-safe. */
public interface VectorRotation {

  /**
   * Rotates a vector.
   *
   * @param vector at least as many components as the field's dimension
   * @param target receives {@link ListShape#padded()} components; another array
   */
  void apply(float[] vector, float[] target);

  /**
   * Turns a rotated vector back.
   *
   * @param rotated {@link ListShape#padded()} components, which may be overwritten
   * @param target receives the components of the vector; another array
   */
  void invert(float[] rotated, float[] target);
}
