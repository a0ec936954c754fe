package dev.vamana.elasticsearch.index;

import dev.vamana.codec.CodebookProvider;
import dev.vamana.pq.SharedCodebook;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/**
 * Gives the shared codebooks that one index names. Logs once per field and reason why segments do
 * not use the named codebook.
 */
final class IndexCodebooks implements CodebookProvider {
  private static final Logger logger = LogManager.getLogger(IndexCodebooks.class);

  private final String index;
  private final Map<String, String> names;
  private final Function<String, SharedCodebook> ready;
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  /**
   * Makes the provider of an index.
   *
   * @param names codebook name of each field that has one
   * @param ready returns the newest version of the codebook with a name, or null
   */
  IndexCodebooks(String index, Map<String, String> names, Function<String, SharedCodebook> ready) {
    this.index = index;
    this.names = Map.copyOf(names);
    this.ready = ready;
  }

  @Override
  public String nameFor(String field) {
    return names.get(field);
  }

  @Override
  public SharedCodebook current(
      String field, int dimension, VectorEncoding encoding, VectorSimilarityFunction similarity) {
    String name = names.get(field);
    if (name == null) {
      return null;
    }
    SharedCodebook shared = ready.apply(name);
    if (shared == null) {
      say(field, name, "is not ready on this node");
    } else {
      shared
          .mismatch(dimension, encoding, similarity)
          .ifPresent(mismatch -> say(field, name, mismatch));
    }
    return shared;
  }

  private void say(String field, String name, String reason) {
    if (said.add(field + ' ' + reason)) {
      logger.warn(
          "[{}] segments do not use a shared codebook for field [{}] although [{}] is [{}]: that"
              + " codebook {}",
          index,
          field,
          CodebookSetting.key(field),
          name,
          reason);
    }
  }
}
