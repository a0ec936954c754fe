package dev.vamana.elasticsearch.notices;

import org.apache.lucene.index.CorruptIndexException;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/** Tells the operator of a node of files whose checksum is wrong, once for each segment. */
public final class DamagedFiles {
  private static final Logger logger = LogManager.getLogger(DamagedFiles.class);

  private final NodeNotices notices;

  /** Makes an instance that records notices. */
  public DamagedFiles(NodeNotices notices) {
    this.notices = notices;
  }

  /**
   * Records and logs a damaged file.
   *
   * @param segment where the file belongs, for instance segment and field
   * @param cause has the file's name in its message
   */
  public void found(String segment, CorruptIndexException cause) {
    if (notices.add(NoticeKind.DAMAGED_FILE, segment, cause.getMessage())) {
      logger.error(
          "{} has a damaged file, and searches of it may be wrong: {} (logged once; restore the"
              + " copy of the shard)",
          segment,
          cause.getMessage());
    }
  }
}
