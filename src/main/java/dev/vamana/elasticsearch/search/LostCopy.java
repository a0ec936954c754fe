package dev.vamana.elasticsearch.search;

import org.apache.lucene.store.AlreadyClosedException;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.NoShardAvailableActionException;
import org.elasticsearch.common.util.concurrent.EsRejectedExecutionException;
import org.elasticsearch.index.IndexNotFoundException;
import org.elasticsearch.index.shard.IllegalIndexShardStateException;
import org.elasticsearch.index.shard.ShardNotFoundException;
import org.elasticsearch.node.NodeClosedException;
import org.elasticsearch.search.SearchContextMissingException;
import org.elasticsearch.transport.ConnectTransportException;

/**
 * Tells whether a copy of a shard, or its reader, is gone: the node has left or is closing, or has
 * closed the shard. Another copy may have the documents. A copy that is out of memory or has too
 * much to do is not lost; asking others then would add to the load.
 */
final class LostCopy {

  private LostCopy() {}

  /** Whether a failure of a copy is due to its loss. */
  static boolean isCauseOf(Exception failure) {
    if (ExceptionsHelper.unwrap(failure, EsRejectedExecutionException.class)
        instanceof EsRejectedExecutionException rejected) {
      return rejected.isExecutorShutdown();
    }
    return ExceptionsHelper.unwrap(
            failure,
            SearchContextMissingException.class,
            ConnectTransportException.class,
            NodeClosedException.class,
            NoShardAvailableActionException.class,
            ShardNotFoundException.class,
            IndexNotFoundException.class,
            IllegalIndexShardStateException.class,
            AlreadyClosedException.class)
        != null;
  }
}
