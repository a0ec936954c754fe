package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.monitor.ShardSearchers;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.store.AlreadyClosedException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.CheckedConsumer;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.engine.EngineException;
import org.elasticsearch.index.shard.IndexEventListener;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.IndexShardState;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Keeps the segments of a warm index on the device. It uploads them when a shard starts, before the
 * shard is reported as started; after each refresh; and when the index's settings change.
 *
 * <p>Uploads run in the background. Only the start of a shard waits for them, without blocking a
 * thread and no longer than the index's settings allow.
 */
public final class IndexWarming implements IndexEventListener {
  private static final Logger logger = LogManager.getLogger(IndexWarming.class);

  private static final String SOURCE = "vamana_warm";

  private final IndexSettings settings;
  private final ThreadPool threads;
  private final Set<IndexShard> shards = ConcurrentHashMap.newKeySet();

  private IndexWarming(IndexSettings settings, ThreadPool threads) {
    this.settings = settings;
    this.threads = threads;
  }

  /** Listens to an index that is being opened. */
  public static void register(IndexModule module, ThreadPool threads) {
    IndexWarming warming = new IndexWarming(module.indexSettings(), threads);
    module.addIndexEventListener(warming);
    module.addSettingsUpdateConsumer(WarmSettings.WARM, warming::changed);
  }

  /**
   * Keeps the segments of a reader on the device if the index is warm. Engines call it for each
   * reader before searches use it.
   */
  public static void keep(IndexReader reader, IndexSettings settings) {
    if (WarmSettings.warm(settings.getSettings())) {
      new ShardSegments(reader).keep(true);
    }
  }

  @Override
  public void afterIndexShardCreated(IndexShard shard) {
    shards.add(shard);
  }

  @Override
  public void beforeIndexShardClosed(ShardId id, IndexShard shard, Settings indexSettings) {
    if (shard != null) {
      shards.remove(shard);
    }
  }

  /** Called before the shard is reported as started, and therefore before any search. */
  @Override
  public void afterIndexShardRecovery(IndexShard shard, ActionListener<Void> listener) {
    if (WarmSettings.warm(settings.getSettings()) == false) {
      listener.onResponse(null);
      return;
    }
    Engine.Searcher searcher;
    try {
      searcher = ShardSearchers.acquire(shard, SOURCE);
    } catch (EngineException | AlreadyClosedException e) {
      logger.debug("not warmed, the shard is closed", e);
      searcher = null;
    }
    if (searcher == null) {
      listener.onResponse(null);
      return;
    }
    // the shard starts even if uploads fail
    ActionListener<Void> last =
        ActionListener.runBefore(listener, searcher::close).delegateResponse(this::startAnyway);
    Engine.Searcher open = searcher;
    ActionListener.run(last, start -> keepAndWait(shard, open, start));
  }

  private void startAnyway(ActionListener<Void> start, Exception e) {
    logger.warn("[" + settings.getIndex().getName() + "] not warmed", e);
    start.onResponse(null);
  }

  private void keepAndWait(IndexShard shard, Engine.Searcher searcher, ActionListener<Void> start) {
    ShardSegments segments = new ShardSegments(searcher.getIndexReader());
    segments.keep(true);
    UploadWait.begin(
        threads,
        threads.generic(),
        segments,
        WarmSettings.WARM_TIMEOUT.get(settings.getSettings()),
        () -> shard.state() == IndexShardState.CLOSED,
        start.map(
            over -> {
              if (over) {
                logger.info(
                    "{} starts before all of its segments are on the device", shard.shardId());
              }
              return null;
            }));
  }

  private void changed(boolean warm) {
    for (IndexShard shard : shards) {
      // not on the thread that applies cluster states
      threads.generic().execute(() -> withSegments(shard, segments -> segments.keep(warm)));
    }
  }

  private void withSegments(IndexShard shard, CheckedConsumer<ShardSegments, IOException> action) {
    try (Engine.Searcher searcher = ShardSearchers.acquire(shard, SOURCE)) {
      if (searcher != null) {
        action.accept(new ShardSegments(searcher.getIndexReader()));
      }
    } catch (EngineException | AlreadyClosedException | IOException e) {
      logger.debug("not warmed, the shard is closed", e);
    }
  }
}
