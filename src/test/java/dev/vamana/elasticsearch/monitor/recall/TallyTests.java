package dev.vamana.elasticsearch.monitor.recall;

import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Means of recall, and how far they can be off. */
public class TallyTests extends LuceneTestCase {

  private static Tally of(double... recalls) {
    Tally tally = Tally.NONE;
    for (double recall : recalls) {
      tally = tally.plus(recall);
    }
    return tally;
  }

  private static Tally times(int count, double... recalls) {
    Tally tally = Tally.NONE;
    for (int i = 0; i < count; i++) {
      for (double recall : recalls) {
        tally = tally.plus(recall);
      }
    }
    return tally;
  }

  public void testNothingIsKnownWithoutAQuery() {
    assertEquals(0, Tally.NONE.recall(), 0);
    assertEquals(new Tally.Interval(0, 1), Tally.NONE.interval());
  }

  public void testMeanAndSums() {
    Tally tally = of(0.5, 1).plus(of(0.9));
    assertEquals(0.8, tally.recall(), 1e-9);
    assertEquals(3, tally.queries(), 0);
    assertEquals(3L, tally.figures().get("queries"));
    assertEquals(0.8, tally.figures().get("recall"));
  }

  /** A perfect sample does not prove a perfect index. */
  public void testIntervalOfPerfectAnswers() {
    Tally.Interval few = times(10, 1.0).interval();
    Tally.Interval many = times(1000, 1.0).interval();
    assertEquals(1, few.high(), 1e-9);
    assertEquals(0.72, few.low(), 0.01);
    assertTrue(many.low() > 0.99);
  }

  /** Neighbours that are missed together make the interval wider, more queries narrower. */
  public void testIntervalFollowsTheSpread() {
    Tally.Interval even = times(50, 0.9, 0.9, 0.8, 1.0).interval();
    Tally.Interval uneven = times(50, 1.0, 1.0, 1.0, 0.6).interval();
    assertEquals(0.9, times(50, 1.0, 1.0, 1.0, 0.6).recall(), 1e-9);
    assertTrue(even.high() - even.low() < uneven.high() - uneven.low());
    Tally.Interval longer = times(200, 1.0, 1.0, 1.0, 0.6).interval();
    assertTrue(longer.high() - longer.low() < uneven.high() - uneven.low());
    for (Tally.Interval interval : new Tally.Interval[] {even, uneven, longer}) {
      assertTrue(interval.low() < 0.9 && 0.9 < interval.high());
    }
  }

  /**
   * The interval has the true mean 19 times in 20. Of 1,000 experiments about 950 do, with a
   * standard deviation of 7; fewer than 900 or more than 990 would be 5 deviations away.
   */
  public void testCoverage() {
    int covered = 0;
    for (int experiment = 0; experiment < 1000; experiment++) {
      Tally tally = Tally.NONE;
      for (int query = 0; query < 100; query++) {
        int found = 0;
        for (int neighbor = 0; neighbor < 10; neighbor++) {
          found += random().nextInt(100) < 93 ? 1 : 0;
        }
        tally = tally.plus(found / 10.0);
      }
      Tally.Interval interval = tally.interval();
      covered += interval.low() <= 0.93 && 0.93 <= interval.high() ? 1 : 0;
    }
    assertTrue("covered " + covered, covered >= 900 && covered <= 990);
  }

  public void testNewQueriesCountForMore() {
    Tally tally = times(Tally.MEMORY, 1.0);
    for (int i = 0; i < Tally.MEMORY; i++) {
      tally = tally.plus(0.5);
    }
    assertTrue(tally.recall() < 0.7);
    assertTrue(tally.queries() <= Tally.MEMORY + 1);
  }

  /** However searches are asked, a field has few figures, each of which is a label of metrics. */
  public void testSearchesOfAFieldHaveFewFigures() {
    Set<Searches> figures = new TreeSet<>();
    for (int k = 1; k <= 10_000; k++) {
      Searches searches = Searches.of("v", k);
      assertTrue(k + " " + searches, searches.k() / 10 < k && k <= searches.k());
      figures.add(searches);
    }
    assertEquals(5, figures.size());
  }

  /** A hit that is as near as the last neighbour takes its place. */
  public void testRecallOfAnAnswer() {
    ScoreDoc[] exact = {new ScoreDoc(3, 1), new ScoreDoc(5, 0.5f)};
    assertEquals(1, Evaluation.recall(exact, exact), 0);
    assertEquals(1, Evaluation.recall(exact, new ScoreDoc[] {exact[0], new ScoreDoc(9, 0.5f)}), 0);
    assertEquals(
        0.5, Evaluation.recall(exact, new ScoreDoc[] {exact[0], new ScoreDoc(9, 0.4f)}), 0);
    assertEquals(0, Evaluation.recall(exact, new ScoreDoc[0]), 0);
  }
}
