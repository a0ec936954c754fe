package dev.vamana.elasticsearch.codebook.sample;

import dev.vamana.pq.SubspaceLayout;
import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * How vectors for a codebook are sampled, and when it is trained.
 *
 * @param space what vectors it is for
 * @param subspaces bytes of a code, 0 to derive them from the dimension
 * @param sampleSize most vectors to train on
 * @param minDocuments vectors that have to be seen before training starts, all nodes together
 */
public record SampleOptions(VectorSpace space, int subspaces, int sampleSize, int minDocuments)
    implements Writeable {

  /** The smallest sample: each subspace has 256 centroids. */
  public static final int MIN_SAMPLE_SIZE = 256;

  /** The largest sample. */
  public static final int MAX_SAMPLE_SIZE = 1 << 20;

  /** The sample size if none is given. */
  public static final int DEFAULT_SAMPLE_SIZE = 65_536;

  /** How many times the sample size has to be seen if nothing is said. */
  public static final int DEFAULT_DOCUMENTS_FACTOR = 4;

  /** Checks the ranges; throws IllegalArgumentException naming option, value and range. */
  public SampleOptions {
    checkDims(space.dims());
    checkSubspaces(subspaces, space.dims());
    checkSampleSize(sampleSize);
    checkRange("min_documents", minDocuments, MIN_SAMPLE_SIZE, Integer.MAX_VALUE);
  }

  /** Reads what {@link #writeTo} wrote. */
  public SampleOptions(StreamInput in) throws IOException {
    this(new VectorSpace(in), in.readVInt(), in.readVInt(), in.readVInt());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    space.writeTo(out);
    out.writeVInt(subspaces);
    out.writeVInt(sampleSize);
    out.writeVInt(minDocuments);
  }

  /** Throws IllegalArgumentException unless the dimension is in its range. */
  public static void checkDims(int dims) {
    checkRange("dims", dims, 1, SubspaceLayout.MAX_DIMS);
  }

  /** Throws IllegalArgumentException unless the sample size is in its range. */
  public static void checkSampleSize(int sampleSize) {
    checkRange("sample_size", sampleSize, MIN_SAMPLE_SIZE, MAX_SAMPLE_SIZE);
  }

  /** Throws IllegalArgumentException unless there can be so many subspaces of a dimension. */
  public static void checkSubspaces(int subspaces, int dims) {
    checkRange("subspaces", subspaces, 0, Math.min(dims, SubspaceLayout.MAX_SUBSPACES));
  }

  /** The subspaces, derived if they are to be. */
  public static SubspaceLayout layout(int dims, int subspaces) {
    return new SubspaceLayout(
        dims, subspaces == 0 ? SubspaceLayout.defaultSubspaces(dims) : subspaces);
  }

  private static void checkRange(String option, int value, int from, int to) {
    if (value < from || value > to) {
      throw new IllegalArgumentException(
          option + " must be between " + from + " and " + to + ", got " + value);
    }
  }

  @Override
  public String toString() {
    return "dims="
        + space.dims()
        + ", similarity="
        + space.similarity().label()
        + ", subspaces="
        + subspaces
        + ", sample_size="
        + sampleSize
        + ", min_documents="
        + minDocuments;
  }
}
