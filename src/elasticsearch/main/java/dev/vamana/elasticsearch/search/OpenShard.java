package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.Map;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.core.Releasables;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.search.SearchContextMissingException;
import org.elasticsearch.search.SearchService;
import org.elasticsearch.search.internal.ContextIndexSearcher;
import org.elasticsearch.search.internal.ReaderContext;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.elasticsearch.tasks.CancellableTask;

/** A shard's point-in-time reader during its use, with the wrappers that protect the index. */
final class OpenShard implements Releasable {

  private static final String SOURCE = "vamana_batch_search";

  private final ReaderContext reader;
  private final ContextIndexSearcher searcher;
  private final Releasable resources;

  private OpenShard(ReaderContext reader, ContextIndexSearcher searcher, Releasable resources) {
    this.reader = reader;
    this.searcher = searcher;
    this.resources = resources;
  }

  /**
   * Opens a searcher over a point-in-time reader.
   *
   * @param task its cancellation ends the searcher's work
   * @throws SearchContextMissingException if the reader has been closed
   */
  static OpenShard of(
      SearchService service, ShardId shardId, ShardSearchContextId id, CancellableTask task)
      throws IOException {
    ReaderContext reader =
        service.getActivePITContexts(shardId).stream()
            .filter(open -> open.id().equals(id))
            .findFirst()
            .orElseThrow(() -> new SearchContextMissingException(id));
    Releasable used = reader.markAsUsed(service.getDefaultKeepAliveInMillis());
    Engine.Searcher engine = null;
    try {
      engine = reader.acquireSearcher(SOURCE);
      ContextIndexSearcher searcher =
          new ContextIndexSearcher(
              engine.getIndexReader(),
              engine.getSimilarity(),
              engine.getQueryCache(),
              engine.getQueryCachingPolicy(),
              true);
      searcher.addQueryCancellation(task::ensureNotCancelled);
      OpenShard open = new OpenShard(reader, searcher, Releasables.wrap(searcher, engine, used));
      used = null;
      engine = null;
      return open;
    } finally {
      Releasables.close(engine, used);
    }
  }

  ReaderContext reader() {
    return reader;
  }

  ContextIndexSearcher searcher() {
    return searcher;
  }

  /** Makes a context that parses and rewrites queries for this reader. */
  SearchExecutionContext executionContext(long nowMillis) {
    return reader
        .indexService()
        .newSearchExecutionContext(
            reader.indexShard().shardId().id(),
            0,
            searcher,
            () -> nowMillis,
            null,
            Map.of(),
            null,
            null);
  }

  @Override
  public void close() {
    resources.close();
  }
}
