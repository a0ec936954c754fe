package dev.vamana.elasticsearch.monitor;

import dev.vamana.search.SegmentView;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FilterDirectory;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.Index;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.shard.IndexEventListener;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.indices.cluster.IndexRemovalReason;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/**
 * Fails the shards of files whose checksum is wrong, so that an intact copy takes over, and keeps
 * what was found for the health of the node. Knows the shards of all indices that it listens to.
 */
public final class DamagedFiles implements IndexEventListener {
  private static final Logger logger = LogManager.getLogger(DamagedFiles.class);

  private final Executor failing;
  private final Map<Directory, IndexShard> shards = new ConcurrentHashMap<>();
  private final Map<ShardId, Trouble> troubles = new ConcurrentHashMap<>();

  /**
   * Makes an instance that knows of no damage.
   *
   * @param failing fails shards, which takes longer than an upload may wait
   */
  public DamagedFiles(Executor failing) {
    this.failing = failing;
  }

  /** Listens to an index that is being opened. */
  public void register(IndexModule module) {
    module.addIndexEventListener(this);
  }

  @Override
  public void afterIndexShardCreated(IndexShard shard) {
    shards.put(directory(shard), shard);
  }

  @Override
  public void beforeIndexShardClosed(ShardId id, IndexShard shard, Settings indexSettings) {
    if (shard != null) {
      shards.remove(directory(shard));
    }
  }

  @Override
  public void afterIndexShardStarted(IndexShard shard) {
    troubles.remove(shard.shardId());
  }

  @Override
  public void afterIndexRemoved(Index index, IndexSettings settings, IndexRemovalReason reason) {
    if (reason == IndexRemovalReason.DELETED) {
      troubles.keySet().removeIf(shard -> shard.getIndex().equals(index));
    }
  }

  /** The damage of copies that this node has not replaced. */
  public Collection<Trouble> troubles() {
    return troubles.values();
  }

  private static Directory directory(IndexShard shard) {
    return FilterDirectory.unwrap(shard.store().directory());
  }

  /**
   * Logs and keeps a damaged file, and fails its shard soon. Returns at once.
   *
   * @param cause has the file's name in its message
   */
  public void found(SegmentView segment, CorruptIndexException cause) {
    Directory directory = segment.directory();
    IndexShard shard = directory == null ? null : shards.get(directory);
    tell(shard, segment.name(), cause);
    if (shard != null) {
      failing.execute(() -> ShardFailures.failIfCorrupt(shard, cause));
    }
  }

  /**
   * Logs and keeps a damaged file, and fails its shard.
   *
   * @param segment where the file belongs, for instance segment and field
   * @param cause has the file's name in its message
   */
  public void found(IndexShard shard, String segment, CorruptIndexException cause) {
    tell(shard, segment, cause);
    ShardFailures.failIfCorrupt(shard, cause);
  }

  private void tell(IndexShard shard, String segment, CorruptIndexException cause) {
    String where = shard == null ? segment : shard.shardId() + " " + segment;
    if (shard != null) {
      Trouble trouble = new Trouble(Trouble.Kind.DAMAGED_FILE, where, cause.getMessage());
      troubles.put(shard.shardId(), trouble);
    }
    logger.error(
        "{} has a damaged file, so this copy of the shard fails: {}", where, cause.getMessage());
  }
}
