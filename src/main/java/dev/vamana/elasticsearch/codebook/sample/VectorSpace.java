package dev.vamana.elasticsearch.codebook.sample;

import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * What vectors a codebook is for, in the words of a {@code dense_vector} mapping.
 *
 * @param dims number of components, 1 to 4,096
 * @param similarity how they are compared
 */
public record VectorSpace(int dims, Similarity similarity) implements Writeable {

  /** The similarities of {@code dense_vector}. */
  public enum Similarity {
    /** Euclidean distance. */
    L2_NORM(VectorSimilarityFunction.EUCLIDEAN),
    /** Cosine; vectors are stored, and so sampled, with unit length. */
    COSINE(VectorSimilarityFunction.DOT_PRODUCT),
    /** Dot product of vectors that have unit length. */
    DOT_PRODUCT(VectorSimilarityFunction.DOT_PRODUCT),
    /** Dot product of any vectors. */
    MAX_INNER_PRODUCT(VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT);

    private final VectorSimilarityFunction function;

    Similarity(VectorSimilarityFunction function) {
      this.function = function;
    }

    /** The function that Lucene sees in the field. */
    public VectorSimilarityFunction function() {
      return function;
    }

    /** The name in mappings. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The similarity of a mapping's name.
     *
     * @throws IllegalArgumentException naming the allowed ones
     */
    public static Similarity of(String label) {
      for (Similarity similarity : values()) {
        if (similarity.label().equals(label)) {
          return similarity;
        }
      }
      throw new IllegalArgumentException(
          "similarity must be one of "
              + Arrays.stream(values()).map(Similarity::label).toList()
              + ", got ["
              + label
              + "]");
    }
  }

  /** Reads what {@link #writeTo} wrote. */
  public VectorSpace(StreamInput in) throws IOException {
    this(in.readVInt(), in.readEnum(Similarity.class));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeVInt(dims);
    out.writeEnum(similarity);
  }

  /**
   * Turns a vector into the form in which an index stores it: unit length for cosine.
   *
   * @param vector {@code dims} components; changed in place
   * @return why it cannot be stored, or null if it is ready
   */
  public String prepare(float[] vector) {
    if (vector.length != dims) {
      return "has " + vector.length + " components instead of " + dims;
    }
    double squares = 0;
    for (float component : vector) {
      if (!Float.isFinite(component)) {
        return "has a component that is not a finite number";
      }
      squares += (double) component * component;
    }
    if (similarity == Similarity.COSINE) {
      if (squares == 0) {
        return "has length 0, which cosine does not allow";
      }
      double length = Math.sqrt(squares);
      for (int i = 0; i < vector.length; i++) {
        vector[i] = (float) (vector[i] / length);
      }
    }
    return null;
  }
}
