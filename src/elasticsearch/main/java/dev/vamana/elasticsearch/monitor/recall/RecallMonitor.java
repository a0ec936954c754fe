package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.elasticsearch.monitor.ShardFailures;
import java.io.Closeable;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.apache.lucene.store.AlreadyClosedException;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Evaluates samples one at a time while the node is idle, and rests after each, so that evaluation
 * takes no more than a share of one processor. Used by {@link RecallSampler}, which takes samples.
 *
 * <p>There is room for one sample. A sample holds a reader open, so one that waits longer than
 * {@link #PATIENCE} is given up. Thread-safe.
 */
public final class RecallMonitor implements Closeable {
  private static final Logger logger = LogManager.getLogger(RecallMonitor.class);

  /** How long a sample waits for the node to be idle. */
  static final TimeValue PATIENCE = TimeValue.timeValueSeconds(10);

  private static final TimeValue LOOK_AGAIN = TimeValue.timeValueMillis(20);

  /** The node is idle if no more than one of so many search threads is at work. */
  private static final int IDLE_SHARE = 4;

  /** Why a search that was drawn was not evaluated. */
  enum Skipped {
    /** The node was not idle for the time that a sample may wait. */
    BUSY,
    /**
     * The index was refreshed between the search and the sample, or a point in time was searched.
     */
    CHANGED,
    /** The user may not see all documents. */
    HIDDEN_DOCUMENTS,
    /**
     * The query is more than one for nearest vectors: it has a least similarity, a boost,
     * rescoring; or its field belongs to nested documents.
     */
    UNSUPPORTED,
    /** No document that the filter accepts has a vector. */
    NO_NEIGHBORS,
    /** The shard was closed. */
    CLOSED,
    /** The evaluation failed; the log has the cause at level debug. */
    FAILED;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final ThreadPool threads;
  private final Map<ShardId, Map<Searches, Tally>> shards = new ConcurrentHashMap<>();
  private final Map<Skipped, LongAdder> skipped = new EnumMap<>(Skipped.class);
  private final AtomicReference<RecallSample> current = new AtomicReference<>();
  private final LongAdder evaluated = new LongAdder();
  private final LongAdder workNanos = new LongAdder();
  private volatile double maxLoad;
  private volatile long restUntil = System.nanoTime();
  private volatile boolean closed;

  /**
   * Makes a monitor.
   *
   * @param threads has the pool {@link RecallSettings#POOL}
   * @param node settings of the node
   * @param settings tells of changes
   */
  public RecallMonitor(ThreadPool threads, Settings node, ClusterSettings settings) {
    this.threads = threads;
    maxLoad = RecallSettings.MAX_LOAD.get(node);
    settings.addSettingsUpdateConsumer(RecallSettings.MAX_LOAD, share -> maxLoad = share);
    for (Skipped reason : Skipped.values()) {
      skipped.put(reason, new LongAdder());
    }
  }

  private boolean idle() {
    return threads.executor(ThreadPool.Names.SEARCH) instanceof ThreadPoolExecutor search
        && search.getQueue().isEmpty()
        && search.getActiveCount() <= search.getMaximumPoolSize() / IDLE_SHARE;
  }

  /** Whether a sample would be taken now. Cheap. */
  boolean ready() {
    return current.get() == null && System.nanoTime() - restUntil >= 0 && closed == false;
  }

  /** Takes a sample, or closes it if there is no room. Returns at once. */
  void offer(RecallSample sample) {
    if (closed || current.compareAndSet(null, sample) == false) {
      sample.stop();
      return;
    }
    // not yet seen by close() if it began in between
    if (closed) {
      drop(sample);
      return;
    }
    long from = System.nanoTime();
    try {
      executor().execute(() -> evaluate(sample, from));
    } catch (RuntimeException e) {
      drop(sample); // the node is shutting down
      throw e;
    }
  }

  private Executor executor() {
    return threads.executor(RecallSettings.POOL);
  }

  private void evaluate(RecallSample sample, long from) {
    if (sample.stopped() == false && idle() == false) {
      if (System.nanoTime() - from < PATIENCE.nanos()) {
        threads.scheduleUnlessShuttingDown(LOOK_AGAIN, executor(), () -> evaluate(sample, from));
        return;
      }
      skip(Skipped.BUSY);
      drop(sample);
      return;
    }
    if (sample.begin() == false) {
      current.compareAndSet(sample, null);
      return;
    }
    long start = System.nanoTime();
    boolean done = false;
    try (sample) {
      BooleanSupplier stop = () -> closed || sample.stopped();
      Double recall = Evaluation.recall(sample, stop);
      if (sample.stopped()) {
        return; // the shard is being closed, and was forgotten
      }
      if (recall != null) {
        shards
            .computeIfAbsent(sample.shard.shardId(), id -> new ConcurrentHashMap<>())
            .merge(
                Searches.of(sample.field, sample.k),
                Tally.NONE.plus(recall),
                (before, one) -> before.plus(recall));
        done = true;
      } else if (stop.getAsBoolean() == false) {
        skip(Skipped.NO_NEIGHBORS);
      }
    } catch (Exception e) {
      // of the index or of the query: the user's search has been answered
      ShardFailures.failIfCorrupt(sample.shard, e);
      logger.debug("a sample of " + sample.shard.shardId() + " was not evaluated", e);
      if (sample.stopped() == false) {
        skip(e instanceof AlreadyClosedException ? Skipped.CLOSED : Skipped.FAILED);
      }
    } finally {
      long took = System.nanoTime() - start;
      workNanos.add(took);
      restUntil = System.nanoTime() + (long) (took * (1 / maxLoad - 1));
      current.compareAndSet(sample, null);
      if (done) {
        evaluated.increment(); // last: who sees it finds room for the next sample
      }
    }
  }

  private void drop(RecallSample sample) {
    sample.stop();
    current.compareAndSet(sample, null);
  }

  /** Counts a search that was drawn and is not evaluated. */
  void skip(Skipped reason) {
    skipped.get(reason).increment();
  }

  /** Forgets a shard that is being closed; its sample ends soon. */
  void forget(ShardId shard) {
    RecallSample sample = current.get();
    if (sample != null && sample.shard.shardId().equals(shard)) {
      sample.stop();
    }
    shards.remove(shard);
  }

  /** Returns what samples of a shard showed. */
  public SortedMap<Searches, Tally> of(ShardId shard) {
    return new TreeMap<>(shards.getOrDefault(shard, Map.of()));
  }

  /**
   * Returns the members of the section {@code recall} of statistics: what samples of all shards on
   * this node showed.
   */
  public Map<String, Object> figures() {
    SortedMap<String, SortedMap<Searches, Tally>> indices = new TreeMap<>();
    for (ShardId shard : shards.keySet()) {
      SortedMap<Searches, Tally> index =
          indices.computeIfAbsent(shard.getIndexName(), name -> new TreeMap<>());
      of(shard).forEach((searches, tally) -> index.merge(searches, tally, Tally::plus));
    }
    List<Map<String, Object>> rows = new ArrayList<>();
    indices.forEach(
        (index, fields) ->
            fields.forEach((searches, tally) -> rows.add(row(index, searches, tally))));
    Map<String, Object> reasons = new TreeMap<>();
    skipped.forEach((reason, count) -> reasons.put(reason.label(), count.sum()));
    Map<String, Object> figures = new LinkedHashMap<>();
    figures.put("evaluated", evaluated.sum());
    figures.put("time_in_millis", workNanos.sum() / 1_000_000);
    figures.put("skipped", reasons);
    figures.put("searches", rows);
    return figures;
  }

  private static Map<String, Object> row(String index, Searches searches, Tally tally) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("index", index);
    row.put("field", searches.field());
    row.put("k", searches.k());
    row.putAll(tally.figures());
    return row;
  }

  /** Ends an evaluation that is under way, and takes no more samples. */
  @Override
  public void close() {
    closed = true;
    RecallSample sample = current.get();
    if (sample != null) {
      sample.stop();
    }
  }
}
