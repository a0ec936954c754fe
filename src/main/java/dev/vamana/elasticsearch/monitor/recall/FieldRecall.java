package dev.vamana.elasticsearch.monitor.recall;

import java.io.IOException;
import java.util.Comparator;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/** The recall that samples of a field measured. Not thread-safe. */
final class FieldRecall implements Writeable {

  /**
   * Most pairs of k and number of candidates that are kept: each is a label of the metrics. A new
   * pair replaces the pair with the fewest queries.
   */
  static final int MOST_QUESTIONS = 32;

  /**
   * How queries were asked.
   *
   * @param k number of hits
   * @param numCandidates number of candidates, at least k
   */
  record Question(int k, int numCandidates) implements Comparable<Question> {
    private static final Comparator<Question> ORDER =
        Comparator.comparingInt(Question::k).thenComparingInt(Question::numCandidates);

    @Override
    public int compareTo(Question other) {
      return ORDER.compare(this, other);
    }
  }

  /** Queries that were asked in the same way. */
  static final class Asked {
    /** Recall of the answers that were sent, and the time that they took under load. */
    Tally answers = Tally.NONE;

    /** The same queries asked again with each number of candidates, by one thread. */
    final SortedMap<Integer, Tally> repeats = new TreeMap<>();

    /** How many had a filter. */
    long filtered;
  }

  /** The true neighbours in a segment, and how many of them were found. */
  record Share(long neighbors, long found) {
    Share plus(Share other) {
      return new Share(neighbors + other.neighbors, found + other.found);
    }
  }

  final SortedMap<Question, Asked> questions = new TreeMap<>();
  final SortedMap<String, Share> segments = new TreeMap<>();

  /** Items of repeated queries by who answered them. */
  final SortedMap<String, Long> answeredBy = new TreeMap<>();

  FieldRecall() {}

  FieldRecall(StreamInput in) throws IOException {
    int count = in.readVInt();
    for (int i = 0; i < count; i++) {
      Asked asked = asked(new Question(in.readVInt(), in.readVInt()));
      asked.answers = new Tally(in);
      asked.repeats.putAll(in.readMap(StreamInput::readVInt, Tally::new));
      asked.filtered = in.readVLong();
    }
    segments.putAll(in.readMap(from -> new Share(from.readVLong(), from.readVLong())));
    answeredBy.putAll(in.readMap(StreamInput::readVLong));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeVInt(questions.size());
    for (Map.Entry<Question, Asked> entry : questions.entrySet()) {
      out.writeVInt(entry.getKey().k());
      out.writeVInt(entry.getKey().numCandidates());
      entry.getValue().answers.writeTo(out);
      out.writeMap(entry.getValue().repeats, StreamOutput::writeVInt, StreamOutput::writeWriteable);
      out.writeVLong(entry.getValue().filtered);
    }
    out.writeMap(
        segments,
        (to, share) -> {
          to.writeVLong(share.neighbors());
          to.writeVLong(share.found());
        });
    out.writeMap(answeredBy, StreamOutput::writeVLong);
  }

  private Asked asked(Question question) {
    if (questions.containsKey(question) == false && questions.size() >= MOST_QUESTIONS) {
      questions.remove(least());
    }
    return questions.computeIfAbsent(question, none -> new Asked());
  }

  private Question least() {
    return questions.entrySet().stream()
        .min(Comparator.comparingDouble(entry -> entry.getValue().answers.queries()))
        .orElseThrow()
        .getKey();
  }

  /** Adds an evaluated sample. */
  void add(RecallSample sample, Evaluation.Outcome outcome) {
    Asked asked = asked(new Question(sample.k(), sample.numCandidates()));
    asked.answers = asked.answers.plus(outcome.recall(), outcome.visited(), sample.tookNanos());
    asked.filtered += sample.filter() == null ? 0 : 1;
    for (Evaluation.Repeat repeat : outcome.repeats()) {
      Tally before = asked.repeats.getOrDefault(repeat.numCandidates(), Tally.NONE);
      asked.repeats.put(
          repeat.numCandidates(), before.plus(repeat.recall(), repeat.visited(), repeat.nanos()));
    }
    // segments that were merged away are gone from the list with the next sample
    segments.keySet().retainAll(outcome.segments().keySet());
    outcome.segments().forEach((name, share) -> segments.merge(name, share, Share::plus));
    outcome.answeredBy().forEach((who, items) -> answeredBy.merge(who, items, Long::sum));
  }

  /** Adds another copy's samples, its segments under names that begin with a prefix. */
  void add(FieldRecall other, String prefix) {
    other.questions.forEach(
        (question, more) -> {
          Asked asked = asked(question);
          asked.answers = asked.answers.plus(more.answers);
          asked.filtered += more.filtered;
          more.repeats.forEach(
              (candidates, tally) -> asked.repeats.merge(candidates, tally, Tally::plus));
        });
    other.segments.forEach((name, share) -> segments.merge(prefix + name, share, Share::plus));
    other.answeredBy.forEach((who, items) -> answeredBy.merge(who, items, Long::sum));
  }

  /** Returns a copy that later samples do not change. */
  FieldRecall copy() {
    FieldRecall copy = new FieldRecall();
    copy.add(this, "");
    return copy;
  }

  /** Returns how most of the queries were asked, or null without a query. */
  Question most() {
    return questions.entrySet().stream()
        .max(Comparator.comparingDouble(entry -> entry.getValue().answers.queries()))
        .map(Map.Entry::getKey)
        .orElse(null);
  }
}
