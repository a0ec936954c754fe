package dev.vamana.elasticsearch.monitor;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The notices of a node since its start: one per kind and subject, at most {@value #MAX_NOTICES}.
 * Further ones are only counted. Thread-safe.
 */
public final class NodeNotices {

  /** Most notices that are kept. */
  public static final int MAX_NOTICES = 100;

  private final LongSupplier clock;
  private final Map<Key, Notice> notices = new LinkedHashMap<>();
  private long dropped;

  private record Key(NoticeKind kind, String subject) {}

  /** The notices at one moment, oldest first, and the number of notices that found no room. */
  public record Snapshot(List<Notice> notices, long dropped) {
    /** Copies the list. */
    public Snapshot {
      notices = List.copyOf(notices);
    }
  }

  /**
   * Makes an instance without notices.
   *
   * @param clock milliseconds since 1970
   */
  public NodeNotices(LongSupplier clock) {
    this.clock = clock;
  }

  /**
   * Records a notice.
   *
   * @param subject what the notice is about; a repeated kind and subject increases the count of the
   *     first
   * @return whether the caller should log the notice: it is new, or there was no room to keep it
   */
  public synchronized boolean add(NoticeKind kind, String subject, String message) {
    Key key = new Key(kind, subject);
    Notice known = notices.get(key);
    if (known == null && notices.size() == MAX_NOTICES) {
      dropped++;
      return true;
    }
    notices.put(
        key,
        known == null
            ? new Notice(kind.label(), subject, message, 1, clock.getAsLong())
            : new Notice(
                known.kind(),
                known.subject(),
                known.message(),
                known.count() + 1,
                known.firstMillis()));
    return known == null;
  }

  /** Returns the current notices. */
  public synchronized Snapshot snapshot() {
    return new Snapshot(new ArrayList<>(notices.values()), dropped);
  }
}
