package dev.vamana.elasticsearch.codebook.sample;

import dev.vamana.pq.SubspaceLayout;

/**
 * How vectors for a codebook are sampled, and when the codebook is trained.
 *
 * @param space the vectors that the codebook is for
 * @param subspaces length of a code in bytes, 0 to derive it from the dimension
 * @param sampleSize most vectors to train on
 * @param minDocuments number of vectors that a node has to see before it trains
 */
public record SampleOptions(VectorSpace space, int subspaces, int sampleSize, int minDocuments) {

  /** The smallest sample, because each subspace has 256 centroids. */
  public static final int MIN_SAMPLE_SIZE = 256;

  /** The largest sample. */
  public static final int MAX_SAMPLE_SIZE = 1 << 20;

  /** The default sample size. */
  public static final int DEFAULT_SAMPLE_SIZE = 65_536;

  /** Checks the ranges; throws an IllegalArgumentException that names option, value and range. */
  public SampleOptions {
    checkDims(space.dims());
    checkSubspaces(subspaces, space.dims());
    checkRange("sample_size", sampleSize, MIN_SAMPLE_SIZE, MAX_SAMPLE_SIZE);
    checkRange("min_documents", minDocuments, MIN_SAMPLE_SIZE, Integer.MAX_VALUE);
  }

  /** Returns these options with another sample size. */
  public SampleOptions atMost(int vectors) {
    return new SampleOptions(space, subspaces, vectors, minDocuments);
  }

  /** Throws an IllegalArgumentException if the dimension is out of range. */
  public static void checkDims(int dims) {
    checkRange("dims", dims, 1, SubspaceLayout.MAX_DIMS);
  }

  /**
   * Throws an IllegalArgumentException if the dimension does not allow this number of subspaces.
   */
  public static void checkSubspaces(int subspaces, int dims) {
    checkRange("subspaces", subspaces, 0, Math.min(dims, SubspaceLayout.MAX_SUBSPACES));
  }

  /** Makes the layout; derives the number of subspaces from the dimension if it is 0. */
  public static SubspaceLayout layout(int dims, int subspaces) {
    return new SubspaceLayout(
        dims, subspaces == 0 ? SubspaceLayout.defaultSubspaces(dims) : subspaces);
  }

  private static void checkRange(String option, int value, int from, int to) {
    if (value < from || value > to) {
      throw new IllegalArgumentException(
          "[" + option + "] must be between [" + from + "] and [" + to + "], got [" + value + "]");
    }
  }
}
