package dev.vamana.elasticsearch.monitor.recall;

import java.util.Set;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The advice in words. */
public class RecallReportTests extends LuceneTestCase {

  private static Tally tally(int queries, double recall) {
    Tally tally = Tally.NONE;
    for (int i = 0; i < queries; i++) {
      tally = tally.plus(recall, 1, 1);
    }
    return tally;
  }

  private static FieldRecall field(int queries, double recall, Object... repeats) {
    FieldRecall field = new FieldRecall();
    FieldRecall.Asked asked = new FieldRecall.Asked();
    asked.answers = tally(queries, recall);
    for (int i = 0; i < repeats.length; i += 2) {
      asked.repeats.put((Integer) repeats[i], tally(queries, (Double) repeats[i + 1]));
    }
    field.questions.put(new FieldRecall.Question(10, 100), asked);
    return field;
  }

  private static String advice(FieldRecall field) {
    return RecallReport.advice(field).replaceAll(" \u00b1 0\\.\\d\\d", "");
  }

  public void testNoSearch() {
    assertEquals("no search has been evaluated yet", RecallReport.advice(new FieldRecall()));
  }

  public void testTheLeastNumberThatIsEnough() {
    assertEquals(
        "at num_candidates 100 the recall of 10 hits is 0.93; 160 would give 0.97",
        advice(field(400, 0.93, 50, 0.85, 100, 0.93, 160, 0.97, 250, 0.99)));
  }

  public void testTheLargestIfNoneIsEnough() {
    assertEquals(
        "at num_candidates 100 the recall of 10 hits is 0.60; 400 would give 0.90",
        advice(field(400, 0.6, 50, 0.4, 100, 0.6, 160, 0.7, 400, 0.9)));
  }

  public void testGoodIsGood() {
    assertEquals(
        "at num_candidates 100 the recall of 10 hits is 0.97",
        advice(field(400, 0.97, 50, 0.9, 100, 0.97, 160, 0.99)));
  }

  public void testFewerIfThatIsEnough() {
    assertEquals(
        "at num_candidates 100 the recall of 10 hits is 1.00; 50 would give 0.99",
        advice(field(400, 0.999, 50, 0.992, 100, 0.999, 160, 1.0)));
  }

  public void testTooFewSearches() {
    assertEquals(
        "at num_candidates 100 the recall of 10 hits is 0.93, from 29 searches; advice needs 30",
        advice(field(29, 0.93, 160, 0.97)));
  }

  public void testMostSearchesDecide() {
    FieldRecall field = field(40, 0.93, 160, 0.97);
    FieldRecall.Asked rare = new FieldRecall.Asked();
    rare.answers = tally(3, 0.1);
    field.questions.put(new FieldRecall.Question(1, 10), rare);
    assertEquals(new FieldRecall.Question(10, 100), field.most());
    assertTrue(RecallReport.advice(field).contains("num_candidates 100"));
  }

  public void testRareQuestionsGiveWay() {
    FieldRecall field = new FieldRecall();
    for (int i = 0; i < 1_000; i++) {
      FieldRecall other = field(1, 0.9);
      FieldRecall.Asked asked = other.questions.remove(new FieldRecall.Question(10, 100));
      other.questions.put(new FieldRecall.Question(10, 1_000 + i), asked);
      field.add(other, "");
      field.add(field(1, 0.9), "");
    }
    assertEquals(FieldRecall.MOST_QUESTIONS, field.questions.size());
    assertEquals(new FieldRecall.Question(10, 100), field.most());
    assertEquals(1_000, field.questions.get(field.most()).answers.queries(), 1e-9);
  }

  public void testCandidatesToTry() {
    assertEquals(Set.of(50, 100, 160, 250, 400), Evaluation.candidates(10, 100));
    assertEquals(
        "never fewer than k", Set.of(80, 100, 160, 250, 400), Evaluation.candidates(80, 100));
    assertEquals(Set.of(5_000, 10_000), Evaluation.candidates(10, 10_000));
  }
}
