package dev.vamana.codec;

import dev.vamana.pq.SharedCodebook;
import java.util.Map;
import java.util.function.Function;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Gives the shared codebooks that new segments are quantized with. Thread-safe.
 *
 * <p>A flush or merge asks once for each field that gets codes, on the thread that writes, and
 * takes the answer as it is: an implementation answers from memory and never waits. Where there is
 * none, or one that does not fit the field, the segment gets a codebook of its own.
 */
public interface CodebookProvider {

  /** No field has a shared codebook. */
  CodebookProvider NONE = of(Map.of(), name -> null);

  /** The name of the codebook that a field is to use, or null if it is to use none. */
  String nameFor(String field);

  /**
   * The newest version of the field's codebook, or null if the field names none or it is not ready.
   * The caller checks that it fits ({@link SharedCodebook#mismatch}).
   *
   * @param field name of the field
   * @param dimension of its vectors
   * @param encoding of its vectors
   * @param similarity of the field, as Lucene sees it
   */
  SharedCodebook current(
      String field, int dimension, VectorEncoding encoding, VectorSimilarityFunction similarity);

  /**
   * A provider for fields whose codebooks are known by name.
   *
   * @param names the codebook's name of each field that has one; copied
   * @param ready gives the newest version of a name, or null while there is none; thread-safe and
   *     never waits
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
