package dev.vamana.elasticsearch.monitor;

import dev.vamana.search.SegmentView;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FilterDirectory;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.index.shard.IndexEventListener;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/**
 * Fails the shards of files whose checksum is wrong, so that an intact copy takes over, and tells
 * the operator of the node. Knows the shards of all indices that it listens to.
 */
public final class DamagedFiles implements IndexEventListener {
  private static final Logger logger = LogManager.getLogger(DamagedFiles.class);

  private final NodeNotices notices;
  private final Executor failing;
  private final Map<Directory, IndexShard> shards = new ConcurrentHashMap<>();

  /**
   * Makes an instance that records notices.
   *
   * @param failing fails shards, which takes longer than an upload may wait
   */
  public DamagedFiles(NodeNotices notices, Executor failing) {
    this.notices = notices;
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

  private static Directory directory(IndexShard shard) {
    return FilterDirectory.unwrap(shard.store().directory());
  }

  /**
   * Logs and records a damaged file, and fails its shard soon. Returns at once.
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
   * Logs and records a damaged file, and fails its shard.
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
    notices.add(NoticeKind.DAMAGED_FILE, where, cause.getMessage());
    logger.error(
        "{} has a damaged file, so this copy of the shard fails: {}", where, cause.getMessage());
  }
}
