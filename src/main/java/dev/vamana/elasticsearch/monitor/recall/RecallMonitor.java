package dev.vamana.elasticsearch.monitor.recall;

import java.io.Closeable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.lucene.store.AlreadyClosedException;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Evaluates samples one at a time while the node is idle, and rests after each, so that evaluation
 * takes no more than a share of one processor. Used by {@link RecallListener}s, which take samples.
 *
 * <p>There is room for one sample. A sample holds a reader open, so one that waits longer than
 * {@link #PATIENCE} is given up. Thread-safe.
 */
public final class RecallMonitor implements Closeable {
  private static final Logger logger = LogManager.getLogger(RecallMonitor.class);

  /** How long a sample waits for the node to be idle. */
  static final TimeValue PATIENCE = TimeValue.timeValueSeconds(10);

  private static final TimeValue LOOK_AGAIN = TimeValue.timeValueMillis(20);

  private final ThreadPool threads;
  private final BooleanSupplier idle;
  private final Supplier<AnsweredItems> items;
  private final Map<ShardId, ShardRecall.Collector> shards = new ConcurrentHashMap<>();
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
   * @param idle whether the node has time for an evaluation
   * @param items counters of the items that the node's searches were answered by
   * @param maxLoad most share of one processor, above 0 to 1
   */
  public RecallMonitor(
      ThreadPool threads, BooleanSupplier idle, Supplier<AnsweredItems> items, double maxLoad) {
    this.threads = threads;
    this.idle = idle;
    this.items = items;
    this.maxLoad = maxLoad;
  }

  /** Sets the most share of one processor. */
  public void maxLoad(double share) {
    maxLoad = share;
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
    if (sample.stopped() == false && idle.getAsBoolean() == false) {
      if (System.nanoTime() - from < PATIENCE.nanos()) {
        threads.scheduleUnlessShuttingDown(LOOK_AGAIN, executor(), () -> evaluate(sample, from));
        return;
      }
      skip(sample.shard(), Skipped.BUSY);
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
      Evaluation.Outcome outcome = new Evaluation(sample, stop, items).run();
      if (sample.stopped()) {
        return; // the shard is being closed, and was forgotten
      }
      if (outcome != null) {
        collector(sample.shard()).add(sample, outcome);
        done = true;
      } else if (stop.getAsBoolean() == false) {
        skip(sample.shard(), Skipped.NO_NEIGHBORS);
      }
    } catch (Exception e) {
      // of the index or of the query: the user's search has been answered
      sample.failed(e);
      logger.debug("a sample of " + sample.shard() + " was not evaluated", e);
      if (sample.stopped() == false) {
        boolean gone = e instanceof AlreadyClosedException;
        skip(sample.shard(), gone ? Skipped.CLOSED : Skipped.FAILED);
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

  private ShardRecall.Collector collector(ShardId shard) {
    return shards.computeIfAbsent(shard, id -> new ShardRecall.Collector());
  }

  /** Counts a search that was drawn and is not evaluated. */
  void skip(ShardId shard, Skipped reason) {
    collector(shard).skip(reason);
  }

  /** Forgets a shard that is being closed; its sample ends soon. */
  void forget(ShardId shard) {
    RecallSample sample = current.get();
    if (sample != null && sample.shard().equals(shard)) {
      sample.stop();
    }
    shards.remove(shard);
  }

  /** Returns what samples of a shard showed. */
  ShardRecall of(ShardId shard) {
    ShardRecall.Collector collector = shards.get(shard);
    return collector == null ? ShardRecall.NONE : collector.snapshot();
  }

  /** Returns what samples of all shards on this node showed. */
  public RecallStats stats() {
    return RecallStats.of(
        shards.keySet().stream().collect(Collectors.toMap(shard -> shard, this::of)),
        evaluated.sum(),
        workNanos.sum());
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
