package dev.vamana.elasticsearch.codebook.sample;

import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * The vectors that a codebook is for, in the terms of a {@code dense_vector} mapping.
 *
 * @param dims number of components, 1 to 4,096
 * @param similarity similarity of the mapping
 */
public record VectorSpace(int dims, Similarity similarity) implements Writeable {

  /** The similarities of {@code dense_vector}. */
  public enum Similarity {
    /** Euclidean distance. */
    L2_NORM(VectorSimilarityFunction.EUCLIDEAN),
    /** Cosine; vectors are stored, and therefore sampled, with unit length. */
    COSINE(VectorSimilarityFunction.DOT_PRODUCT),
    /** Dot product of unit vectors. */
    DOT_PRODUCT(VectorSimilarityFunction.DOT_PRODUCT),
    /** Dot product of vectors of any length. */
    MAX_INNER_PRODUCT(VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT);

    private final VectorSimilarityFunction function;

    Similarity(VectorSimilarityFunction function) {
      this.function = function;
    }

    /** Lucene's similarity function of the field. */
    public VectorSimilarityFunction function() {
      return function;
    }

    /** The name in mappings. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** The names in mappings of the similarities that can share a codebook, each in brackets. */
    public static String labels(VectorSimilarityFunction function) {
      return switch (function) {
        case EUCLIDEAN -> "[l2_norm]";
        case DOT_PRODUCT, COSINE -> "[cosine] or [dot_product]";
        case MAXIMUM_INNER_PRODUCT -> "[max_inner_product]";
      };
    }

    /**
     * Returns the similarity with a name.
     *
     * @throws IllegalArgumentException if there is none; the message lists the allowed names
     */
    public static Similarity of(String label) {
      for (Similarity similarity : values()) {
        if (similarity.label().equals(label)) {
          return similarity;
        }
      }
      throw new IllegalArgumentException(
          "[similarity] must be one of "
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
   * Converts a vector in place to the form in which an index stores it: unit length for cosine.
   *
   * @param vector the vector; changed in place
   * @return the reason why the vector cannot be stored, or null if it can
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
