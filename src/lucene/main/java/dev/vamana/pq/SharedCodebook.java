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
 * A codebook with a name that many segments use, so that merges can copy their codes. Immutable and
 * thread-safe.
 *
 * <p>It is for fields of float vectors. Segments store its identity, the {@link CodebookId} of
 * {@link #codebook()}: the 16 bytes of the training run together with this name and version.
 *
 * @param name 1 to {@value #MAX_NAME_BYTES} bytes of UTF-8, by the rules of {@link #checkName}
 * @param version 1 to {@value Integer#MAX_VALUE}, the range of the segment files; of two versions
 *     of a name the larger is the newer
 * @param codebook the centroids; if its identity has another name or version, it is replaced by a
 *     codebook with these and the same centroids
 * @param similarity similarity, in Lucene's terms, of the fields on whose vectors it was trained
 * @param training origin of the codebook
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

  /** Checks name and version. Throws IllegalArgumentException that names the problem. */
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
   * Makes a shared codebook of a trained one, and measures its error on the training sample.
   *
   * @param sample the vectors on which the codebook was trained
   * @param vectors number of vectors from which the sample was drawn
   * @param trainedFrom human-readable source of the vectors
   * @param workers threads that measure the error
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

  /** Returns the number of components of the vectors that it encodes. */
  public int dimension() {
    return codebook.layout().dims();
  }

  /** Returns the number of subspaces, which is the number of bytes of a code. */
  public int subspaces() {
    return codebook.layout().count();
  }

  /**
   * Returns why a field cannot use this codebook, or empty if it can. The field must have float
   * vectors of the same dimension and the same similarity. COSINE and DOT_PRODUCT count as the
   * same, since vectors of both kinds of field are encoded at unit length.
   *
   * @return the expected and the actual value, for instance "has dimension 96, the field has 128"
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
   * Checks a name: lower case, 1 to {@value #MAX_NAME_BYTES} bytes of UTF-8, no character that is
   * forbidden in index names, not starting with {@code -}, {@code _} or {@code +}, and neither
   * {@code .} nor {@code ..}.
   *
   * @return the name
   * @throws IllegalArgumentException if a rule is broken; the message names the rule
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

  /** Returns the codebook as bytes, which {@link #fromBytes} reads. */
  public byte[] toBytes() {
    return SharedCodebookFile.write(this);
  }

  /**
   * Reads the bytes of {@link #toBytes}, from any machine.
   *
   * @throws IllegalArgumentException if the bytes are not a codebook, have a newer format, are
   *     damaged or truncated, or hold values out of range; the message says which
   */
  public static SharedCodebook fromBytes(byte[] bytes) {
    return SharedCodebookFile.read(bytes);
  }
}
