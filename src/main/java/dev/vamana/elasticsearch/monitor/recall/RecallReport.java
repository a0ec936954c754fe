package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.elasticsearch.monitor.recall.FieldRecall.Asked;
import dev.vamana.elasticsearch.monitor.recall.FieldRecall.Question;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import org.elasticsearch.xcontent.XContentBuilder;

/** Writes what samples of a field showed, and what to do about it in words. */
final class RecallReport {

  /** Least number of queries for an advice. */
  static final int ENOUGH = 30;

  /** Recall that an advice aims at, and above which it proposes fewer candidates. */
  private static final double GOOD = 0.95;

  private static final double MORE_THAN_GOOD = 0.99;

  private RecallReport() {}

  /** Writes the members of a field's object. */
  static void write(XContentBuilder json, FieldRecall field) throws IOException {
    json.field("advice", advice(field));
    json.startArray("searches");
    for (Map.Entry<Question, Asked> entry : field.questions.entrySet()) {
      Asked asked = entry.getValue();
      json.startObject();
      json.field("k", entry.getKey().k());
      json.field("num_candidates", entry.getKey().numCandidates());
      json.field("filtered", asked.filtered);
      write(json, asked.answers, "latency_in_micros");
      json.startArray("repeated");
      for (Map.Entry<Integer, Tally> repeat : asked.repeats.entrySet()) {
        json.startObject();
        json.field("num_candidates", repeat.getKey());
        write(json, repeat.getValue(), "time_in_micros");
        json.endObject();
      }
      json.endArray();
      json.endObject();
    }
    json.endArray();
    json.startArray("segments");
    for (Map.Entry<String, FieldRecall.Share> segment : field.segments.entrySet()) {
      FieldRecall.Share share = segment.getValue();
      json.startObject();
      json.field("segment", segment.getKey());
      json.field("neighbors", share.neighbors());
      json.field("found", share.found());
      if (share.neighbors() > 0) {
        json.field("recall", rounded((double) share.found() / share.neighbors()));
      }
      json.endObject();
    }
    json.endArray();
    json.field("answered_by", field.answeredBy);
  }

  private static void write(XContentBuilder json, Tally tally, String time) throws IOException {
    Tally.Interval interval = tally.interval();
    json.field("queries", Math.round(tally.queries()));
    json.field("recall", rounded(tally.recall()));
    json.field("low", rounded(interval.low()));
    json.field("high", rounded(interval.high()));
    double queries = Math.max(1, tally.queries());
    json.field("distances", Math.round(tally.distances() / queries));
    json.field(time, Math.round(tally.nanos() / queries / 1000));
  }

  static double rounded(double value) {
    return Math.round(value * 10_000) / 10_000.0;
  }

  /** Says what most searches of a field have, and which number of candidates would be better. */
  static String advice(FieldRecall field) {
    Question question = field.most();
    if (question == null) {
      return "no search has been evaluated yet";
    }
    Asked asked = field.questions.get(question);
    Tally answers = asked.answers;
    String now =
        String.format(
            Locale.ROOT,
            "at num_candidates %d the recall of %d hits is %s",
            question.numCandidates(),
            question.k(),
            words(answers));
    if (answers.queries() < ENOUGH) {
      return String.format(
          Locale.ROOT,
          "%s, from %d searches; advice needs %d",
          now,
          Math.round(answers.queries()),
          ENOUGH);
    }
    Map.Entry<Integer, Tally> better = proposal(question, asked);
    if (better == null) {
      return now;
    }
    return String.format(
        Locale.ROOT, "%s; %d would give %s", now, better.getKey(), words(better.getValue()));
  }

  private static String words(Tally tally) {
    Tally.Interval interval = tally.interval();
    double margin = (interval.high() - interval.low()) / 2;
    return String.format(Locale.ROOT, "%.2f \u00b1 %.2f", tally.recall(), Math.max(0.01, margin));
  }

  /**
   * Returns the least number of candidates that reaches a good recall, or the largest tried if none
   * does; if the recall is more than good, the least number that still is good. Null if that is the
   * number that was asked for.
   */
  private static Map.Entry<Integer, Tally> proposal(Question question, Asked asked) {
    double aim = asked.answers.recall() < GOOD ? GOOD : MORE_THAN_GOOD;
    boolean enough = asked.answers.recall() >= GOOD;
    if (enough && asked.answers.recall() < MORE_THAN_GOOD) {
      return null;
    }
    Map.Entry<Integer, Tally> last = null;
    for (Map.Entry<Integer, Tally> repeat : asked.repeats.entrySet()) {
      boolean more = repeat.getKey() > question.numCandidates();
      if (enough && more) {
        return null;
      }
      if (repeat.getKey() == question.numCandidates()) {
        if (enough) {
          return null;
        }
        continue;
      }
      if ((enough || more) && repeat.getValue().recall() >= aim) {
        return repeat;
      }
      last = more ? repeat : last;
    }
    return last;
  }
}
