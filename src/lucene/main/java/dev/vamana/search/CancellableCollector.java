package dev.vamana.search;

import java.util.function.BooleanSupplier;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.search.knn.KnnSearchStrategy;

/**
 * Collects the best hits, and ends a search early when a supplier returns true.
 *
 * <p>It passes calls on itself, although {@link KnnCollector.Decorator} would: the collectors of
 * Lucene's queries are of that class, and the JVM calls a third kind of collector behind it more
 * slowly, for everybody.
 */
public final class CancellableCollector implements KnnCollector {

  private final TopKnnCollector best;
  private final BooleanSupplier cancelled;

  CancellableCollector(int k, int visitLimit, BooleanSupplier cancelled) {
    this(new TopKnnCollector(k, visitLimit), cancelled);
  }

  /**
   * Makes a collector.
   *
   * @param best collects the hits
   * @param cancelled true ends the search
   */
  public CancellableCollector(TopKnnCollector best, BooleanSupplier cancelled) {
    this.best = best;
    this.cancelled = cancelled;
  }

  @Override
  public boolean earlyTerminated() {
    return cancelled.getAsBoolean() || best.earlyTerminated();
  }

  @Override
  public void incVisitedCount(int count) {
    best.incVisitedCount(count);
  }

  @Override
  public long visitedCount() {
    return best.visitedCount();
  }

  @Override
  public long visitLimit() {
    return best.visitLimit();
  }

  @Override
  public int k() {
    return best.k();
  }

  @Override
  public boolean collect(int ordinal, float score) {
    return best.collect(ordinal, score);
  }

  @Override
  public float minCompetitiveSimilarity() {
    return best.minCompetitiveSimilarity();
  }

  @Override
  public TopDocs topDocs() {
    return best.topDocs();
  }

  @Override
  public KnnSearchStrategy getSearchStrategy() {
    return best.getSearchStrategy();
  }
}
