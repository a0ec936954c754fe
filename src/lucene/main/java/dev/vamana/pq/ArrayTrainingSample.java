package dev.vamana.pq;

/** A training sample of heap arrays. It is stateless, so copies share the instance. */
final class ArrayTrainingSample implements TrainingSample {

  private final int dims;
  private final float[][] vectors;

  ArrayTrainingSample(int dims, float[][] vectors) {
    for (int i = 0; i < vectors.length; i++) {
      if (vectors[i].length != dims) {
        throw new IllegalArgumentException(
            "vector " + i + " must have " + dims + " dims, got " + vectors[i].length);
      }
    }
    this.dims = dims;
    this.vectors = vectors;
  }

  @Override
  public int size() {
    return vectors.length;
  }

  @Override
  public int dims() {
    return dims;
  }

  @Override
  public void vector(int i, float[] dst) {
    System.arraycopy(vectors[i], 0, dst, 0, dims);
  }

  @Override
  public void subspace(int offset, int length, float[] dst) {
    for (int i = 0; i < vectors.length; i++) {
      System.arraycopy(vectors[i], offset, dst, i * length, length);
    }
  }

  @Override
  public TrainingSample copy() {
    return this;
  }
}
