package dev.vamana.search;

import java.io.IOException;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/** Scores every accepted ordinal of a segment, in ascending order. */
final class ExactScan {

  private static final int BLOCK = 64;

  private final RandomVectorScorer scorer;
  private final KnnCollector collector;
  private final int[] ordinals = new int[BLOCK];
  private final float[] scores = new float[BLOCK];
  private int count;

  /**
   * Makes a scan.
   *
   * @param collector receives ordinals with their scores
   */
  ExactScan(RandomVectorScorer scorer, KnnCollector collector) {
    this.scorer = scorer;
    this.collector = collector;
  }

  /**
   * Scores all accepted ordinals, or until the collector ends the scan.
   *
   * @param accepted ordinals to score, or null for all
   */
  void run(Bits accepted) throws IOException {
    int size = scorer.maxOrd();
    if (accepted == null) {
      for (int from = 0; from < size && collector.earlyTerminated() == false; ) {
        count = Math.min(BLOCK, size - from);
        for (int i = 0; i < count; i++) {
          ordinals[i] = from++;
        }
        score();
      }
      return;
    }
    DocIdSetIterator iterator = AcceptedOrdinals.iterator(accepted, size);
    int ordinal = iterator.nextDoc();
    while (ordinal < size && add(ordinal)) {
      ordinal = iterator.nextDoc();
    }
    score();
  }

  /** Adds an ordinal to the current block. Returns false if the collector has ended the scan. */
  private boolean add(int ordinal) throws IOException {
    if (count == 0 && collector.earlyTerminated()) {
      return false;
    }
    ordinals[count++] = ordinal;
    if (count == BLOCK) {
      score();
    }
    return true;
  }

  private void score() throws IOException {
    if (count == 0) {
      return;
    }
    int allowed =
        (int) Math.min(count, Math.max(0, collector.visitLimit() - collector.visitedCount()));
    collector.incVisitedCount(allowed);
    if (allowed > 0
        && scorer.bulkScore(ordinals, scores, allowed) >= collector.minCompetitiveSimilarity()) {
      collect(allowed);
    }
    count = 0;
  }

  /**
   * Offers the scored ordinals, except scores that the collector would refuse: each offer passes
   * through several layers. Equal scores are offered, since collectors differ in what they do with
   * ties.
   */
  private void collect(int scored) {
    float least = collector.minCompetitiveSimilarity();
    for (int i = 0; i < scored; i++) {
      if (scores[i] >= least && collector.collect(ordinals[i], scores[i])) {
        least = collector.minCompetitiveSimilarity();
      }
    }
  }
}
