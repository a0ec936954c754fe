package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.monitor.Trouble;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.apache.lucene.store.AlreadyClosedException;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.engine.EngineException;
import org.elasticsearch.index.shard.IllegalIndexShardStateException;
import org.elasticsearch.index.shard.IndexEventListener;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;
import org.elasticsearch.snapshots.SearchableSnapshotsSettings;

/**
 * Knows the shards of this node that have segments in this plugin's format although their index is
 * not opted in: such segments are easily forgotten before the plugin is removed.
 */
public final class LeftoverSegments implements IndexEventListener {
  private static final Logger logger = LogManager.getLogger(LeftoverSegments.class);

  private static final String MESSAGE =
      "segments are in this plugin's format, but [index.vamana.enabled] is not [true]: Elasticsearch"
          + " cannot open them without the plugin; GET /_vamana/removal lists what needs it";

  private final Executor looking;
  private final Map<ShardId, IndexShard> found = new ConcurrentHashMap<>();
  private final Set<String> said = ConcurrentHashMap.newKeySet();

  /**
   * Makes an instance that knows of no index.
   *
   * @param looking looks at shards that start, which takes longer than a cluster state may wait
   */
  public LeftoverSegments(Executor looking) {
    this.looking = looking;
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
  public void register(IndexModule module) {
    module.addIndexEventListener(this);
  }

  @Override
  public void afterIndexShardStarted(IndexShard shard) {
    looking.execute(
        () -> {
          if (hasOurs(shard)) {
            found.put(shard.shardId(), shard);
            if (said.add(shard.shardId().getIndexName())) {
              logger.info("[{}] {}", shard.shardId().getIndexName(), MESSAGE);
            }
          }
        });
  }

  private static boolean hasOurs(IndexShard shard) {
    try (Engine.Searcher searcher = shard.acquireSearcher("vamana_leftovers")) {
      return SegmentLister.anyOurs(searcher.getIndexReader());
    } catch (EngineException | AlreadyClosedException | IllegalIndexShardStateException e) {
      logger.debug("not looked at, the shard is closed", e);
      return false;
    }
  }

  /** The indices that have such segments still, each once. */
  public Collection<Trouble> troubles() {
    found.values().removeIf(shard -> hasOurs(shard) == false);
    return found.keySet().stream()
        .map(ShardId::getIndexName)
        .distinct()
        .sorted()
        .map(index -> new Trouble(Trouble.Kind.LEFTOVER_SEGMENTS, index, MESSAGE))
        .toList();
  }
}
