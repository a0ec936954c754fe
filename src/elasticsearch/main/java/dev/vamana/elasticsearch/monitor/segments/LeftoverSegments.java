package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.monitor.ShardSearchers;
import dev.vamana.elasticsearch.monitor.Trouble;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.store.AlreadyClosedException;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexService;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.engine.EngineException;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;
import org.elasticsearch.snapshots.SearchableSnapshotsSettings;

/**
 * Finds the indices of this node that have segments in this plugin's format although they are not
 * opted in: such segments are easily forgotten before the plugin is removed.
 */
public final class LeftoverSegments {
  private static final Logger logger = LogManager.getLogger(LeftoverSegments.class);

  private static final String MESSAGE =
      "segments are in this plugin's format, but [index.vamana.enabled] is not [true]: Elasticsearch"
          + " cannot open them without the plugin; GET /_vamana/removal lists what needs it";

  private final Iterable<IndexService> indices;

  /**
   * Makes an instance.
   *
   * @param indices the indices that the node has at the time
   */
  public LeftoverSegments(Iterable<IndexService> indices) {
    this.indices = indices;
  }

  /** The indices that have such segments, each once. Reads nothing from files. */
  public List<Trouble> troubles() {
    List<Trouble> troubles = new ArrayList<>();
    for (IndexService index : indices) {
      if (looksAt(index.getIndexSettings().getSettings()) && hasOurs(index)) {
        troubles.add(new Trouble(Trouble.Kind.LEFTOVER_SEGMENTS, index.index().getName(), MESSAGE));
      }
    }
    return troubles;
  }

  /**
   * Whether to look at the segments of an index. A partially mounted snapshot is left out, because
   * Elasticsearch opens its files for each search and reads them from the repository.
   */
  static boolean looksAt(Settings settings) {
    return settings.getAsBoolean("index.vamana.enabled", false) == false
        && SearchableSnapshotsSettings.isPartialSearchableSnapshotIndex(settings) == false;
  }

  private static boolean hasOurs(IndexService index) {
    for (IndexShard shard : index) {
      try (Engine.Searcher searcher = ShardSearchers.acquire(shard, "vamana_leftovers")) {
        if (searcher != null && SegmentLister.anyOurs(searcher.getIndexReader())) {
          return true;
        }
      } catch (EngineException | AlreadyClosedException e) {
        logger.debug("not looked at, the shard is closed", e);
      }
    }
    return false;
  }
}
