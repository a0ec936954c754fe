package dev.vamana.elasticsearch.monitor.recall;

import org.apache.lucene.tests.util.LuceneTestCase;

/** Means of recall, and how far they can be off. */
public class TallyTests extends LuceneTestCase {

  private static Tally times(int count, double... recalls) {
    Tally tally = Tally.NONE;
    for (int i = 0; i < count; i++) {
      for (double recall : recalls) {
        tally = tally.plus(recall);
      }
    }
    return tally;
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
}
