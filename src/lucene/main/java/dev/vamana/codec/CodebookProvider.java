package dev.vamana.codec;

import dev.vamana.pq.SharedCodebook;
import java.util.Map;
import java.util.function.Function;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Gives the shared codebooks that quantize new segments. Thread-safe.
 *
 * <p>A flush or merge asks once for each field that gets codes, on the thread that writes the
 * segment. An implementation answers from memory and never waits. If there is no codebook, or it
 * does not fit the field, the segment keeps a codebook of the merge's source segments or trains its
 * own.
 */
public interface CodebookProvider {

  /** A provider without codebooks. */
  CodebookProvider NONE = of(Map.of(), name -> null);

  /** The name of the codebook that a field uses, or null if the field uses none. */
  String nameFor(String field);

  /**
   * The newest version of the field's codebook, or null if the field names none or it is not ready.
   * The caller checks that it fits ({@link SharedCodebook#mismatch}).
   *
   * @param field name of the field
   * @param dimension dimension of the field's vectors
   * @param encoding encoding of the field's vectors
   * @param similarity Lucene similarity of the field
   */
  SharedCodebook current(
      String field, int dimension, VectorEncoding encoding, VectorSimilarityFunction similarity);

  /**
   * Makes a provider from a map of field names to codebook names.
   *
   * @param names codebook name of each field that uses one; copied
   * @param ready gives the newest version of a named codebook, or null while there is none;
   *     thread-safe, never waits
   */
  static CodebookProvider of(Map<String, String> names, Function<String, SharedCodebook> ready) {
    Map<String, String> known = Map.copyOf(names);
    return new CodebookProvider() {
      @Override
      public String nameFor(String field) {
        return known.get(field);
      }

      @Override
      public SharedCodebook current(
          String field,
          int dimension,
          VectorEncoding encoding,
          VectorSimilarityFunction similarity) {
        String name = nameFor(field);
        return name == null ? null : ready.apply(name);
      }
    };
  }
}
