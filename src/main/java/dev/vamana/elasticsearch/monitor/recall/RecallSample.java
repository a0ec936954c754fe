package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.elasticsearch.monitor.ShardFailures;
import dev.vamana.search.QueryVector;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.search.vectors.ESKnnByteVectorQuery;
import org.elasticsearch.search.vectors.ESKnnFloatVectorQuery;

/**
 * One search of a shard that will be answered once more. Holds the reader of that search open until
 * it is closed.
 */
final class RecallSample implements Releasable {

  /** Where a sample is between its search and its evaluation. */
  private enum State {
    WAITING,
    EVALUATED,
    CLOSED
  }

  private final IndexShard shard;
  private final Engine.Searcher searcher;
  private final Asked asked;
  private final ScoreDoc[] hits;
  private final long tookNanos;
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
  private volatile boolean stopped;

  /**
   * The question.
   *
   * @param filter documents that may be hits, or null for all
   * @param endsEarly whether Elasticsearch stops a walk that hardly finds anything new
   */
  private record Asked(
      String field,
      QueryVector vector,
      Query filter,
      int k,
      int numCandidates,
      KnnSearchStrategy strategy,
      boolean endsEarly) {}

  private RecallSample(
      IndexShard shard, Engine.Searcher searcher, Asked asked, ScoreDoc[] hits, long tookNanos) {
    this.shard = shard;
    this.searcher = searcher;
    this.asked = asked;
    this.hits = hits;
    this.tookNanos = tookNanos;
  }

  /**
   * Makes a sample of a plain query for the nearest vectors. Returns null for other queries, such
   * as those with a minimum similarity; the searcher is not closed then.
   *
   * @param searcher the searcher to hold open
   * @param endsEarly whether Elasticsearch stops a walk that hardly finds anything new
   * @param k number of hits that the user asked for
   * @param hits the answer, best first
   * @param tookNanos how long it took
   */
  static RecallSample of(
      IndexShard shard,
      Engine.Searcher searcher,
      Query query,
      boolean endsEarly,
      int k,
      ScoreDoc[] hits,
      long tookNanos) {
    Asked asked = null;
    if (query instanceof KnnFloatVectorQuery floats) {
      asked =
          new Asked(
              floats.getField(),
              QueryVector.of(floats.getTargetCopy()),
              floats.getFilter(),
              k,
              Math.max(k, floats.getK()),
              query instanceof ESKnnFloatVectorQuery es ? es.getStrategy() : null,
              endsEarly);
    } else if (query instanceof KnnByteVectorQuery bytes) {
      asked =
          new Asked(
              bytes.getField(),
              QueryVector.of(bytes.getTargetCopy()),
              bytes.getFilter(),
              k,
              Math.max(k, bytes.getK()),
              query instanceof ESKnnByteVectorQuery es ? es.getStrategy() : null,
              endsEarly);
    }
    return asked == null ? null : new RecallSample(shard, searcher, asked, hits, tookNanos);
  }

  ShardId shard() {
    return shard.shardId();
  }

  /** Fails the shard if its evaluation found corrupt files. */
  void failed(Exception failure) {
    ShardFailures.failIfCorrupt(shard, failure);
  }

  IndexReader reader() {
    return searcher.getIndexReader();
  }

  String field() {
    return asked.field();
  }

  QueryVector vector() {
    return asked.vector();
  }

  Query filter() {
    return asked.filter();
  }

  int k() {
    return asked.k();
  }

  int numCandidates() {
    return asked.numCandidates();
  }

  KnnSearchStrategy strategy() {
    return asked.strategy() == null ? KnnSearchStrategy.Hnsw.DEFAULT : asked.strategy();
  }

  boolean endsEarly() {
    return asked.endsEarly();
  }

  ScoreDoc[] hits() {
    return hits;
  }

  long tookNanos() {
    return tookNanos;
  }

  /** Begins the evaluation. Returns false if the sample was closed before. */
  boolean begin() {
    return state.compareAndSet(State.WAITING, State.EVALUATED);
  }

  /** Whether the evaluation is to end early. */
  boolean stopped() {
    return stopped;
  }

  /** Ends the evaluation soon, or closes a sample that waits for it. */
  void stop() {
    stopped = true;
    if (state.compareAndSet(State.WAITING, State.CLOSED)) {
      searcher.close();
    }
  }

  /** Closes the reader. To be called once, after {@link #begin} was true; or by {@link #stop}. */
  @Override
  public void close() {
    if (state.compareAndSet(State.EVALUATED, State.CLOSED)) {
      searcher.close();
    }
  }
}
