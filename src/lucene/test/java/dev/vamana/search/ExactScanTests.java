package dev.vamana.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/** Tests which ordinals a scan scores and offers to its collector. */
public class ExactScanTests extends LuceneTestCase {

  /** Scores of a test's choice. */
  private record Given(float[] given) implements RandomVectorScorer {

    @Override
    public float score(int ordinal) {
      return given[ordinal];
    }

    @Override
    public int maxOrd() {
      return given.length;
    }
  }

  /** Remembers what it was offered, and of that, what scored less than it asked for. */
  private static final class Watching extends KnnCollector.Decorator {
    final List<Integer> offered = new ArrayList<>();
    int hopeless;

    Watching(KnnCollector in) {
      super(in);
    }

    @Override
    public boolean collect(int ordinal, float score) {
      if (score < minCompetitiveSimilarity()) {
        hopeless++;
      }
      offered.add(ordinal);
      return super.collect(ordinal, score);
    }
  }

  /** Few different scores, so that ties stand at the end of the hits. */
  private static float[] scores(int size) {
    int different = 1 + random().nextInt(20);
    float[] scores = new float[size];
    for (int i = 0; i < size; i++) {
      scores[i] = random().nextInt(different);
    }
    return scores;
  }

  private static Bits accepted(int size) {
    FixedBitSet bits = new FixedBitSet(Math.max(1, size));
    for (int i = 0; i < size; i++) {
      if (random().nextBoolean()) {
        bits.set(i);
      }
    }
    return random().nextBoolean() ? bits : bits.asReadOnlyBits();
  }

  /** Among equal scores, lower ordinals are hits. */
  private static int[] best(float[] scores, Bits accepted, int k) {
    List<Integer> ordinals = new ArrayList<>();
    for (int i = 0; i < scores.length; i++) {
      if (accepted == null || accepted.get(i)) {
        ordinals.add(i);
      }
    }
    ordinals.sort((a, b) -> Float.compare(scores[b], scores[a]));
    return ordinals.stream().limit(k).mapToInt(Integer::intValue).toArray();
  }

  public void testHitsAndTies() throws IOException {
    for (int round = 0; round < 50; round++) {
      int size = random().nextInt(500);
      int k = 1 + random().nextInt(40);
      float[] scores = scores(size);
      Bits accepted = random().nextBoolean() ? null : accepted(size);
      Watching collector = new Watching(new TopKnnCollector(k, Integer.MAX_VALUE));
      new ExactScan(new Given(scores), collector).run(accepted);
      int[] found =
          Arrays.stream(collector.topDocs().scoreDocs)
              .mapToInt((ScoreDoc hit) -> hit.doc)
              .toArray();
      assertArrayEquals(best(scores, accepted, k), found);
      assertEquals("offered in vain", 0, collector.hopeless);
      int wanted = best(scores, accepted, size).length;
      assertEquals(wanted, collector.visitedCount());
    }
  }

  public void testVisitLimit() throws IOException {
    for (int round = 0; round < 20; round++) {
      int size = 1 + random().nextInt(300);
      int limit = 1 + random().nextInt(size);
      float[] scores = scores(size);
      Bits accepted = random().nextBoolean() ? null : accepted(size);
      Watching collector = new Watching(new TopKnnCollector(size, limit));
      new ExactScan(new Given(scores), collector).run(accepted);
      int[] all = best(new float[size], accepted, limit);
      assertEquals(Arrays.stream(all).boxed().toList(), collector.offered);
      assertEquals(all.length, collector.visitedCount());
    }
  }
}
