package dev.vamana.tools.text;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.lucene.util.VectorUtil;

/** Asks all engines the same question and compares their hits with the exact nearest passages. */
final class Comparison {

  /** Hits wanted of each engine. */
  static final int K = 10;

  /** Times that each engine is asked, in turn; the page shows the median. */
  static final int REPEATS = 5;

  private final TextSet set;
  private final SentenceEncoder encoder;
  private final List<Engine> engines;

  Comparison(TextSet set, SentenceEncoder encoder, List<Engine> engines) {
    this.set = set;
    this.encoder = encoder;
    this.engines = List.copyOf(engines);
  }

  /**
   * Result of one question.
   *
   * @param encodeMillis time to encode the question
   * @param exactMillis time to compare it with all passages, on one core
   * @param columns of each engine
   */
  record Result(double encodeMillis, double exactMillis, List<Column> columns) {}

  /**
   * One engine's answer.
   *
   * @param label the engine's name
   * @param answeredBy who computed it, empty after a failure
   * @param millis median time of a request over HTTP
   * @param hits best first, empty after a failure
   * @param right whether each hit is among the exact nearest
   * @param failure why there is no answer, null if there is one
   */
  record Column(
      String label,
      String answeredBy,
      double millis,
      List<Engine.Hit> hits,
      boolean[] right,
      String failure) {

    /** Hits that are among the exact nearest. */
    int found() {
      return (int) IntStream.range(0, right.length).filter(i -> right[i]).count();
    }
  }

  TextSet set() {
    return set;
  }

  /** One question at a time, so that each time is the time of a question alone. */
  synchronized Result ask(String question, int numCandidates) {
    long start = System.nanoTime();
    float[] vector = encoder.encode(List.of(question), done -> {})[0];
    double encodeMillis = millisSince(start);
    start = System.nanoTime();
    float[] scores = new float[set.vectors().length];
    for (int i = 0; i < scores.length; i++) {
      scores[i] = VectorUtil.dotProduct(vector, set.vectors()[i]);
    }
    float[] sorted = scores.clone();
    Arrays.sort(sorted);
    float worst = sorted[Math.max(0, sorted.length - K)];
    double exactMillis = millisSince(start);
    return new Result(encodeMillis, exactMillis, columns(vector, numCandidates, scores, worst));
  }

  private List<Column> columns(float[] vector, int numCandidates, float[] scores, float worst) {
    int count = engines.size();
    double[][] millis = new double[count][REPEATS];
    Engine.Answer[] answers = new Engine.Answer[count];
    String[] failures = new String[count];
    for (int repeat = 0; repeat < REPEATS; repeat++) {
      for (int turn = 0; turn < count; turn++) {
        int i = (turn + repeat) % count;
        if (failures[i] == null) {
          long start = System.nanoTime();
          try {
            answers[i] = engines.get(i).ask(vector, K, numCandidates);
          } catch (IOException e) {
            failures[i] = unreachable(e);
          } catch (IllegalStateException e) {
            failures[i] = firstLine(e);
          }
          millis[i][repeat] = millisSince(start);
        }
      }
    }
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Arrays.sort(millis[i]);
      columns.add(
          failures[i] == null
              ? column(engines.get(i), millis[i][REPEATS / 2], answers[i], scores, worst)
              : failed(engines.get(i), failures[i]));
    }
    return columns;
  }

  private static Column column(
      Engine engine, double millis, Engine.Answer answer, float[] scores, float worst) {
    boolean[] right = new boolean[answer.hits().size()];
    for (int i = 0; i < right.length; i++) {
      int ordinal = answer.hits().get(i).ordinal();
      right[i] = ordinal >= 0 && ordinal < scores.length && scores[ordinal] >= worst;
    }
    String answeredBy;
    try {
      answeredBy = engine.answeredBy();
    } catch (IOException e) {
      return failed(engine, unreachable(e));
    } catch (IllegalStateException e) {
      return failed(engine, firstLine(e));
    }
    return new Column(engine.label(), answeredBy, millis, answer.hits(), right, null);
  }

  private static Column failed(Engine engine, String failure) {
    return new Column(engine.label(), "", Double.NaN, List.of(), new boolean[0], failure);
  }

  private static String unreachable(IOException e) {
    return "The Elasticsearch node cannot be reached; the demo's terminal may show why. ("
        + firstLine(e)
        + ")";
  }

  /** The message without the node's log, which follows in further lines. */
  private static String firstLine(Exception e) {
    String message = e.getMessage() == null ? e.toString() : e.getMessage();
    return message.lines().findFirst().orElse(e.toString());
  }

  private static double millisSince(long start) {
    return (System.nanoTime() - start) / 1e6;
  }
}
