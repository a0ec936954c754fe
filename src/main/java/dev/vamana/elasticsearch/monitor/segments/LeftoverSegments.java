package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.monitor.NodeNotices;
import dev.vamana.elasticsearch.monitor.NoticeKind;
import org.apache.lucene.store.AlreadyClosedException;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.engine.EngineException;
import org.elasticsearch.index.shard.IllegalIndexShardStateException;
import org.elasticsearch.index.shard.IndexEventListener;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;
import org.elasticsearch.snapshots.SearchableSnapshotsSettings;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Tells once per index if it has segments in this plugin's format although it is not opted in, when
 * a shard starts on the node: such segments are easily forgotten before the plugin is removed.
 */
public final class LeftoverSegments implements IndexEventListener {
  private static final Logger logger = LogManager.getLogger(LeftoverSegments.class);

  private static final String MESSAGE =
      "segments are in this plugin's format, but [index.vamana.enabled] is not [true]: Elasticsearch"
          + " cannot open them without the plugin; GET /_vamana/removal lists what needs it";

  private final ThreadPool threads;
  private final NodeNotices notices;

  private LeftoverSegments(ThreadPool threads, NodeNotices notices) {
    this.threads = threads;
    this.notices = notices;
  }

  /**
   * Whether to look at the segments of an index that is not opted in. Not at those of a partially
   * mounted snapshot: Elasticsearch opens their files for each search, and reads them from the
   * repository.
   */
  public static boolean looksAt(Settings settings) {
    return SearchableSnapshotsSettings.isPartialSearchableSnapshotIndex(settings) == false;
  }

  /** Listens to an index that is being opened and is not opted in. */
  public static void register(IndexModule module, ThreadPool threads, NodeNotices notices) {
    module.addIndexEventListener(new LeftoverSegments(threads, notices));
  }

  @Override
  public void afterIndexShardStarted(IndexShard shard) {
    // not on the thread that applies cluster states
    threads.generic().execute(() -> look(shard));
  }

  private void look(IndexShard shard) {
    try (Engine.Searcher searcher = shard.acquireSearcher("vamana_leftovers")) {
      if (SegmentLister.anyOurs(searcher.getIndexReader())) {
        String index = shard.shardId().getIndexName();
        if (notices.add(NoticeKind.LEFTOVER_SEGMENTS, index, MESSAGE)) {
          logger.info("[{}] {}", index, MESSAGE);
        }
      }
    } catch (EngineException | AlreadyClosedException | IllegalIndexShardStateException e) {
      logger.debug("not looked at, the shard is closed", e);
    }
  }
}
