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

  /** Rotates several vectors at once. For one thread. */
  interface Together {
    /** Most vectors of a call, at least 1. */
    int most();

    /**
     * Rotates vectors, to the same bits as {@link VectorRotation#apply}.
     *
     * @param vectors at least {@code count} of them
     * @param count at most {@link #most()}
     * @param targets receive the rotated vectors; other arrays
     */
    void apply(float[][] vectors, int count, float[][] targets);
  }

  /** Returns what one thread needs to rotate several vectors at once. */
  default Together together() {
    return new Together() {
      @Override
      public int most() {
        return 1;
      }

      @Override
      public void apply(float[][] vectors, int count, float[][] targets) {
        for (int i = 0; i < count; i++) {
          VectorRotation.this.apply(vectors[i], targets[i]);
        }
      }
    };
  }
}
