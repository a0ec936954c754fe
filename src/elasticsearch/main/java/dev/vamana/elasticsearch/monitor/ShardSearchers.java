package dev.vamana.elasticsearch.monitor;

import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.shard.IndexShard;

/** Searchers of shards that the plugin reads for itself. */
public final class ShardSearchers {
  private ShardSearchers() {}

  /**
   * Acquires a searcher from the engine: also while the shard allows no searches yet, and without
   * the wrappers that hide documents from a user.
   *
   * @param source names the caller in messages
   * @return the searcher, which the caller closes; null without an engine
   */
  public static Engine.Searcher acquire(IndexShard shard, String source) {
    return shard.withEngineOrNull(
        engine ->
            engine == null ? null : engine.acquireSearcher(source, Engine.SearcherScope.EXTERNAL));
  }
}
