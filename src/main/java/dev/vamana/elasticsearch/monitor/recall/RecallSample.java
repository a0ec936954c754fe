package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.elasticsearch.monitor.ShardFailures;
import dev.vamana.search.QueryVector;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.index.shard.ShardId;

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
  private final int k;
  private final ScoreDoc[] hits;
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
  private volatile boolean stopped;

  /** The question; the filter is null if all documents may be hits. */
  private record Asked(String field, QueryVector vector, Query filter) {}

  private RecallSample(
      IndexShard shard, Engine.Searcher searcher, Asked asked, int k, ScoreDoc[] hits) {
    this.shard = shard;
    this.searcher = searcher;
    this.asked = asked;
    this.k = k;
    this.hits = hits;
  }

  /**
   * Makes a sample of a plain query for the nearest vectors. Returns null for other queries, such
   * as those with a minimum similarity; the searcher is not closed then.
   *
   * @param searcher the searcher to hold open
   * @param k number of hits that the user asked for
   * @param hits the answer, best first
   */
  static RecallSample of(
      IndexShard shard, Engine.Searcher searcher, Query query, int k, ScoreDoc[] hits) {
    Asked asked =
        switch (query) {
          case KnnFloatVectorQuery floats ->
              new Asked(
                  floats.getField(), QueryVector.of(floats.getTargetCopy()), floats.getFilter());
          case KnnByteVectorQuery bytes ->
              new Asked(bytes.getField(), QueryVector.of(bytes.getTargetCopy()), bytes.getFilter());
          default -> null;
        };
    return asked == null ? null : new RecallSample(shard, searcher, asked, k, hits);
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
    return k;
  }

  ScoreDoc[] hits() {
    return hits;
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
