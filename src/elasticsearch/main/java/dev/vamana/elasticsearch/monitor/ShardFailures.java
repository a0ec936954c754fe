package dev.vamana.elasticsearch.monitor;

import org.apache.lucene.store.AlreadyClosedException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.common.lucene.Lucene;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/**
 * Fails shards whose files are corrupt. Elasticsearch does so after its own searches, so that an
 * intact copy takes over; what reads a shard by other ways has to do it, too.
 */
public final class ShardFailures {
  private static final Logger logger = LogManager.getLogger(ShardFailures.class);

  private ShardFailures() {}

  /** Makes a listener that fails the shard before it passes a corruption on. */
  public static <T> ActionListener<T> failing(IndexShard shard, ActionListener<T> listener) {
    return listener.delegateResponse(
        (next, failure) -> {
          failIfCorrupt(shard, failure);
          next.onFailure(failure);
        });
  }

  /**
   * Fails a shard if the failure tells of corrupt files, and marks its files as corrupt. Does
   * nothing for other failures, nor if the shard is closed already.
   *
   * @param shard the shard; null if the node does not have it any more
   */
  public static void failIfCorrupt(IndexShard shard, Exception failure) {
    if (shard == null || Lucene.isCorruptionException(failure) == false) {
      return;
    }
    try {
      shard.failShard("vamana read corrupt files", failure);
    } catch (AlreadyClosedException e) {
      logger.debug("{} is closed already", shard.shardId());
    }
  }
}
