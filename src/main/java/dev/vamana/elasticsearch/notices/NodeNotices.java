package dev.vamana.elasticsearch.notices;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;

/**
 * The notices of a node since it started: one for each kind and subject, {@value #MAX_NOTICES} at
 * most; what comes later is only counted. Thread-safe.
 */
public final class NodeNotices {

  /** Most notices that are kept. */
  public static final int MAX_NOTICES = 100;

  private final LongSupplier clock;
  private final Map<Key, Notice> notices = new LinkedHashMap<>();
  private long dropped;

  private record Key(NoticeKind kind, String subject) {}

  /** The notices of one moment, oldest first, and how many more there was no room for. */
  public record Snapshot(List<Notice> notices, long dropped) {
    /** Copies the list. */
    public Snapshot {
      notices = List.copyOf(notices);
    }
  }

  /**
   * No notices.
   *
   * @param clock milliseconds since 1970
   */
  public NodeNotices(LongSupplier clock) {
    this.clock = clock;
  }

  /**
   * Takes note of something.
   *
   * @param subject what it is about; one of the same kind and subject is counted with the first
   * @return whether it is the first of its kind and subject, so that the log should have it
   */
  public synchronized boolean add(NoticeKind kind, String subject, String message) {
    Key key = new Key(kind, subject);
    Notice known = notices.get(key);
    if (known == null && notices.size() == MAX_NOTICES) {
      dropped++;
      return false;
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

  /** All of them now. */
  public synchronized Snapshot snapshot() {
    return new Snapshot(new ArrayList<>(notices.values()), dropped);
  }
}
