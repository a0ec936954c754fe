package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.elasticsearch.monitor.ShardFailures;
import dev.vamana.elasticsearch.monitor.ShardSearchers;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.elasticsearch.core.CheckedFunction;
import org.elasticsearch.core.CheckedSupplier;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/**
 * Makes samples of searches that have been answered, and hands them to the node's {@link
 * RecallMonitor}. Called on search threads, by {@link RecallListener} for standard searches and by
 * batched searches. Never fails. Thread-safe.
 */
public final class RecallSampler {
  private static final Logger logger = LogManager.getLogger(RecallSampler.class);

  private static final String SOURCE = "vamana_recall";

  private final RecallMonitor monitor;
  private final AtomicLong asked = new AtomicLong();
  private final AtomicLong turns = new AtomicLong();

  /** Makes a sampler. */
  public RecallSampler(RecallMonitor monitor) {
    this.monitor = monitor;
  }

  /**
   * Whether the next search is to be sampled. Cheap. Of a rate of 0.25, every fourth search is
   * drawn; searches that come while the monitor works or rests do not count.
   */
  boolean drawn(double rate) {
    if (rate <= 0 || monitor.ready() == false) {
      return false;
    }
    long number = asked.getAndIncrement();
    return (long) (number * rate) != (long) ((number + 1) * rate);
  }

  /** Takes turns among the queries of a request. */
  int turn(int count) {
    return (int) (turns.getAndIncrement() % count);
  }

  /** Counts a search that was drawn and is not evaluated. */
  void skip(IndexShard shard, Skipped reason) {
    monitor.skip(shard.shardId(), reason);
  }

  /**
   * Samples one query of a batch, as often as the settings of the index say.
   *
   * @param seen the reader that was searched
   * @param count number of queries
   * @param query gives a query
   * @param k number of hits that were asked for
   * @param hits gives the answer to a query
   * @param tookNanos time of the batch
   */
  public void batch(
      IndexShard shard,
      IndexReader seen,
      int count,
      CheckedFunction<Integer, Query, Exception> query,
      int k,
      IntFunction<ScoreDoc[]> hits,
      long tookNanos) {
    if (count > 0 && drawn(RecallSettings.SAMPLE_RATE.get(shard.indexSettings().getSettings()))) {
      int number = turn(count);
      ScoreDoc[] answer = hits.apply(number);
      sample(shard, seen, () -> query.apply(number), false, k, answer, tookNanos / count);
    }
  }

  /**
   * Samples a search.
   *
   * @param endsEarly whether Elasticsearch stops a walk that hardly finds anything new
   */
  void sample(
      IndexShard shard,
      IndexReader seen,
      CheckedSupplier<Query, Exception> query,
      boolean endsEarly,
      int k,
      ScoreDoc[] hits,
      long tookNanos) {
    ShardId id = shard.shardId();
    try {
      Engine.Searcher searcher = ShardSearchers.acquire(shard, SOURCE);
      if (searcher == null) {
        monitor.skip(id, Skipped.CLOSED);
        return;
      }
      RecallSample sample = null;
      try {
        Skipped reason = difference(seen, searcher);
        if (reason == null) {
          sample = RecallSample.of(shard, searcher, query.get(), endsEarly, k, hits, tookNanos);
        }
        if (sample == null) {
          monitor.skip(id, reason == null ? Skipped.UNSUPPORTED : reason);
        }
      } finally {
        if (sample == null) {
          searcher.close();
        }
      }
      if (sample != null) {
        monitor.offer(sample);
      }
    } catch (Exception e) {
      // the search has been answered; only its sample is lost
      ShardFailures.failIfCorrupt(shard, e);
      logger.debug("no sample of " + id, e);
      monitor.skip(id, Skipped.FAILED);
    }
  }

  /** Returns in which way a search saw other documents, or null. */
  private static Skipped difference(IndexReader seen, Engine.Searcher searcher) {
    DirectoryReader now = searcher.getDirectoryReader();
    if (seen instanceof DirectoryReader == false
        || ((DirectoryReader) seen).getVersion() != now.getVersion()) {
      return Skipped.CHANGED;
    }
    return seen.numDocs() == now.numDocs() ? null : Skipped.HIDDEN_DOCUMENTS;
  }
}
