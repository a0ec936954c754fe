package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.unit.ByteSizeValue;

/**
 * Ids of segments of which batched searches read many. {@link IdReader} asks it, because a batch of
 * 100 vectors with ten hits each otherwise decompresses a thousand blocks of stored fields, which
 * takes longer than the search.
 *
 * <p>Ids of a segment are read as a whole, on a thread of its own, when as many single ids have
 * been read as cost the same. They stay until the segment is closed, or another segment needs the
 * room and these were not used for a minute. Memory is bounded by {@link #SIZE} and counted in the
 * circuit breaker {@code fielddata}; what finds no room is read as before. Thread-safe.
 */
public final class IdCache {

  /** Most heap for ids; 0 for none. */
  public static final Setting<ByteSizeValue> SIZE =
      Setting.memorySizeSetting("vamana.batch.id_cache.size", "2%", Setting.Property.NodeScope);

  private static final Logger LOG = LogManager.getLogger(IdCache.class);
  private static final String LABEL = "<vamana_ids>";

  /** Documents whose ids take as long to read from terms as one from stored fields. */
  private static final int TERMS_FOR_A_BLOCK = 16;

  private static final long IDLE_NANOS = 60_000_000_000L;

  private final long most;
  private final CircuitBreaker breaker;
  private final Executor loader;
  private final LongSupplier clock;
  private final Map<IndexReader.CacheKey, Segment> segments = new ConcurrentHashMap<>();
  private final AtomicLong used = new AtomicLong();

  /**
   * Makes an empty cache.
   *
   * @param most bytes; 0 for none
   * @param breaker counts the memory
   * @param loader reads ids of whole segments
   */
  public IdCache(long most, CircuitBreaker breaker, Executor loader) {
    this(most, breaker, loader, System::nanoTime);
  }

  /** Makes a cache with another clock, in nanoseconds. */
  IdCache(long most, CircuitBreaker breaker, Executor loader, LongSupplier clock) {
    this.most = most;
    this.breaker = breaker;
    this.loader = loader;
    this.clock = clock;
  }

  /** The ids of a segment, and the memory reserved for them. */
  private final class Segment {
    private final AtomicLong read = new AtomicLong();
    private long reserved;
    private boolean loading;
    private volatile boolean closed;
    private volatile SegmentIds ids;
    private volatile long lastUse;

    /** Reserves memory for the ids, also at the cost of segments that are not used. */
    private boolean reserve(long bytes) {
      // not under this object's lock, since other segments may be dropped
      if (closed || IdCache.this.reserve(bytes) == false) {
        return false;
      }
      synchronized (this) {
        reserved += bytes;
      }
      return true;
    }

    private synchronized boolean begin() {
      if (closed || loading || ids != null) {
        return false;
      }
      loading = true;
      return true;
    }

    /** Ends loading, with ids or without. */
    private synchronized void end(SegmentIds loaded) {
      loading = false;
      read.set(0);
      if (loaded == null || closed) {
        drop();
      } else {
        lastUse = clock.getAsLong();
        ids = loaded;
      }
    }

    private synchronized void drop() {
      ids = null;
      read.set(0);
      used.addAndGet(-reserved);
      breaker.addWithoutBreaking(-reserved);
      reserved = 0;
    }

    private synchronized void close() {
      closed = true;
      if (loading == false) {
        drop();
      }
    }
  }

  /**
   * Returns the ids of a segment, or null if they are not at hand.
   *
   * @param count number of ids that will be read
   */
  SegmentIds get(LeafReader reader, int count) {
    IndexReader.CacheHelper core = most == 0 ? null : reader.getCoreCacheHelper();
    if (core == null) {
      return null;
    }
    Segment segment = segments.get(core.getKey());
    if (segment == null) {
      segment = add(core);
    }
    SegmentIds ids = segment.ids;
    if (ids != null) {
      segment.lastUse = clock.getAsLong();
      return ids;
    }
    if (segment.read.addAndGet(count) * TERMS_FOR_A_BLOCK >= reader.maxDoc()) {
      load(segment, reader);
    }
    return null;
  }

  private Segment add(IndexReader.CacheHelper core) {
    Segment made = new Segment();
    Segment there = segments.putIfAbsent(core.getKey(), made);
    if (there != null) {
      return there;
    }
    core.addClosedListener(
        key -> {
          segments.remove(key);
          made.close();
        });
    return made;
  }

  private void load(Segment segment, LeafReader wrapped) {
    // wrappers have counts of references of their own
    LeafReader reader = FilterLeafReader.unwrap(wrapped);
    if (segment.begin() == false) {
      return;
    }
    if (reader.tryIncRef() == false) {
      segment.end(null);
      return;
    }
    try {
      loader.execute(() -> read(segment, reader));
    } catch (RejectedExecutionException e) {
      segment.end(null);
      release(reader);
    }
  }

  private void read(Segment segment, LeafReader reader) {
    SegmentIds loaded = null;
    try {
      loaded = SegmentIds.read(reader, segment::reserve);
    } catch (IOException | RuntimeException e) {
      LOG.warn("the ids of segment {} could not be read at once", reader, e);
    } finally {
      segment.end(loaded);
      release(reader);
    }
  }

  private static void release(LeafReader reader) {
    try {
      reader.decRef();
    } catch (IOException e) {
      LOG.warn("segment {} could not be closed", reader, e);
    }
  }

  private synchronized boolean reserve(long bytes) {
    if (used.get() + bytes > most) {
      makeRoom(bytes);
    }
    if (used.get() + bytes > most) {
      return false;
    }
    try {
      breaker.addEstimateBytesAndMaybeBreak(bytes, LABEL);
    } catch (CircuitBreakingException e) {
      LOG.debug("no ids are kept for a segment: {}", e.getMessage());
      return false;
    }
    used.addAndGet(bytes);
    return true;
  }

  /** Drops ids that were not used for a minute, the oldest first, until there is room. */
  private void makeRoom(long bytes) {
    long now = clock.getAsLong();
    List<Segment> idle =
        segments.values().stream()
            .filter(segment -> segment.ids != null && now - segment.lastUse > IDLE_NANOS)
            .sorted(Comparator.comparingLong(segment -> segment.lastUse - now))
            .toList();
    for (Segment segment : idle) {
      if (used.get() + bytes <= most) {
        return;
      }
      segment.drop();
    }
  }

  /** Returns the bytes of heap that are {@code used}, and their {@code limit}. */
  public SortedMap<String, Long> stats() {
    return new TreeMap<>(Map.of("used", used.get(), "limit", most));
  }
}
