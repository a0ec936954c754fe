package dev.vamana.elasticsearch.monitor.recall;

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

  final IndexShard shard;
  final String field;
  final QueryVector vector;

  /** Documents that may be hits; null for all. */
  final Query filter;

  /** Number of hits that the user asked for. */
  final int k;

  /** The answer, best first. */
  final ScoreDoc[] hits;

  private final Engine.Searcher searcher;
  private final AtomicReference<State> state = new AtomicReference<>(State.WAITING);
  private volatile boolean stopped;

  private RecallSample(
      IndexShard shard,
      Engine.Searcher searcher,
      String field,
      QueryVector vector,
      Query filter,
      int k,
      ScoreDoc[] hits) {
    this.shard = shard;
    this.searcher = searcher;
    this.field = field;
    this.vector = vector;
    this.filter = filter;
    this.k = k;
    this.hits = hits;
  }

  /**
   * Makes a sample of a plain query for the nearest vectors. Returns null for other queries, such
   * as those with a minimum similarity; the searcher is not closed then.
   *
   * @param searcher the searcher to hold open
   */
  static RecallSample of(
      IndexShard shard, Engine.Searcher searcher, Query query, int k, ScoreDoc[] hits) {
    return switch (query) {
      case KnnFloatVectorQuery q ->
          new RecallSample(
              shard,
              searcher,
              q.getField(),
              QueryVector.of(q.getTargetCopy()),
              q.getFilter(),
              k,
              hits);
      case KnnByteVectorQuery q ->
          new RecallSample(
              shard,
              searcher,
              q.getField(),
              QueryVector.of(q.getTargetCopy()),
              q.getFilter(),
              k,
              hits);
      default -> null;
    };
  }

  /** The reader of the search. */
  IndexReader reader() {
    return searcher.getIndexReader();
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
