package dev.vamana.pq;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * A codebook that has a name and is used by many segments, whose codes a merge can then copy.
 * Immutable and safe for use by many threads.
 *
 * <p>It is for fields of floats. Segments that use it carry its identity, which {@link #codebook()}
 * has: the 16 bytes of the training run together with this name and version.
 *
 * @param name 1 to {@value #MAX_NAME_BYTES} bytes of UTF-8, by the rules of {@link #checkName}
 * @param version 1 to {@value Integer#MAX_VALUE}, which is what the files of a segment can hold; of
 *     two versions of a name the larger is the newer
 * @param codebook the centroids; if its identity has another name or version it is replaced by one
 *     that has these and the same centroids
 * @param similarity of the fields whose vectors it was trained on, as Lucene sees them
 * @param training how it came about
 */
public record SharedCodebook(
    String name,
    long version,
    Codebook codebook,
    VectorSimilarityFunction similarity,
    CodebookTraining training) {

  /** The longest name in bytes of UTF-8. */
  public static final int MAX_NAME_BYTES = 255;

  private static final String FORBIDDEN = "\\/*?\"<>| ,#:";
  private static final String FORBIDDEN_AT_START = "-_+";

  /** Checks name and version; throws IllegalArgumentException naming what is wrong. */
  public SharedCodebook {
    checkName(name);
    if (version < 1 || version > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "version must be between 1 and " + Integer.MAX_VALUE + ", got " + version);
    }
    Objects.requireNonNull(similarity, "similarity");
    Objects.requireNonNull(training, "training");
    CodebookId given = codebook.id();
    CodebookId id = new CodebookId(given.id(), name, (int) version);
    if (id.equals(given) == false) {
      codebook = new Codebook(id, codebook.layout(), codebook.centroids());
    }
  }

  /**
   * Makes a shared codebook of a trained one, and measures its error on the vectors that it was
   * trained on.
   *
   * @param sample what the codebook was trained on
   * @param vectors number of vectors that the sample was drawn from
   * @param trainedFrom where they came from, for people to read
   * @param workers measure the error
   * @param abort called regularly
   */
  public static SharedCodebook of(
      String name,
      long version,
      Codebook codebook,
      VectorSimilarityFunction similarity,
      TrainingSample sample,
      long vectors,
      String trainedFrom,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    double error = codebook.quantizationError(sample, workers, abort);
    return new SharedCodebook(
        name,
        version,
        codebook,
        similarity,
        new CodebookTraining(vectors, sample.size(), error, trainedFrom));
  }

  /** Number of components of the vectors it encodes. */
  public int dimension() {
    return codebook.layout().dims();
  }

  /** Number of subspaces, so bytes of a code. */
  public int subspaces() {
    return codebook.layout().count();
  }

  /**
   * Why a field cannot use this codebook, or empty if it can. The field's vectors have to be floats
   * of the same dimension, compared by the same function; COSINE and DOT_PRODUCT count as one,
   * since both kinds of field are encoded as vectors of unit length.
   *
   * @return what was expected and found, like "has dimension 96, the field has 128"
   */
  public Optional<String> mismatch(
      int fieldDimension, VectorEncoding encoding, VectorSimilarityFunction fieldSimilarity) {
    if (encoding != VectorEncoding.FLOAT32) {
      return Optional.of("is for vectors of floats, the field has " + encoding);
    }
    if (fieldDimension != dimension()) {
      return Optional.of("has dimension " + dimension() + ", the field has " + fieldDimension);
    }
    if (likeDotProduct(fieldSimilarity) != likeDotProduct(similarity)) {
      return Optional.of("was trained for " + similarity + ", the field has " + fieldSimilarity);
    }
    return Optional.empty();
  }

  private static VectorSimilarityFunction likeDotProduct(VectorSimilarityFunction function) {
    return function == VectorSimilarityFunction.COSINE
        ? VectorSimilarityFunction.DOT_PRODUCT
        : function;
  }

  /**
   * Checks a name: lower case, 1 to {@value #MAX_NAME_BYTES} bytes of UTF-8, none of the characters
   * that index names cannot have, not starting with {@code -}, {@code _} or {@code +}, and neither
   * {@code .} nor {@code ..}.
   *
   * @return the name
   * @throws IllegalArgumentException naming the rule that it breaks
   */
  public static String checkName(String name) {
    String rule = brokenRule(name);
    if (rule != null) {
      throw new IllegalArgumentException("invalid codebook name [" + name + "]: " + rule);
    }
    return name;
  }

  private static String brokenRule(String name) {
    if (name == null || name.isEmpty()) {
      return "must not be empty";
    }
    int bytes = name.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > MAX_NAME_BYTES) {
      return "must have at most " + MAX_NAME_BYTES + " bytes, has " + bytes;
    }
    if (name.equals(name.toLowerCase(Locale.ROOT)) == false) {
      return "must be lower case";
    }
    if (FORBIDDEN_AT_START.indexOf(name.charAt(0)) >= 0) {
      return "must not start with '-', '_' or '+'";
    }
    if (name.equals(".") || name.equals("..")) {
      return "must not be '.' or '..'";
    }
    boolean forbidden =
        name.chars().anyMatch(c -> FORBIDDEN.indexOf(c) >= 0 || Character.isISOControl(c));
    return forbidden
        ? "must not contain blanks, control characters or any of \\ / * ? \" < > | , # :"
        : null;
  }

  /** The whole as bytes, which {@link #fromBytes} reads. */
  public byte[] toBytes() {
    return SharedCodebookFile.write(this);
  }

  /**
   * Reads what {@link #toBytes} wrote, on whatever machine.
   *
   * @throws IllegalArgumentException if the bytes are no codebook, are of a newer version of this
   *     form, are damaged or cut short, or hold values out of their ranges; the message says which
   */
  public static SharedCodebook fromBytes(byte[] bytes) {
    return SharedCodebookFile.read(bytes);
  }
}
