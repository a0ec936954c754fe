package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNotNull;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.node.NodeClient;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Compares what a node answers with what it should. */
final class Answers {
  private static final double RELATIVE_ERROR = 1e-5;

  private Answers() {}

  static List<?> hits(Map<String, Object> answer) {
    return (List<?>) NodeClient.at(answer, "hits", "hits");
  }

  static int doc(Object hit) {
    return Integer.parseInt((String) NodeClient.at(hit, "_id"));
  }

  static double score(Object hit) {
    return ((Number) NodeClient.at(hit, "_score")).doubleValue();
  }

  /**
   * Asserts that an answer holds the best documents in their order, with their scores. Documents of
   * equal score may stand for each other.
   *
   * @param scores the right score of every document that may be answered, more than {@code size}
   *     allowed
   * @param size how many hits there should be
   */
  static void assertBest(Map<Integer, Double> scores, int size, Map<String, Object> answer) {
    assertEquals(answer.toString(), false, answer.get("timed_out"));
    assertEquals(answer.toString(), 0, NodeClient.at(answer, "_shards", "failed"));
    List<Double> best = new ArrayList<>(TestVectors.best(scores, size).values());
    List<?> hits = hits(answer);
    assertEquals("number of hits", best.size(), hits.size());
    Set<Integer> seen = new HashSet<>();
    for (int i = 0; i < best.size(); i++) {
      int doc = doc(hits.get(i));
      assertTrue("document " + doc + " twice", seen.add(doc));
      assertNotNull("document " + doc + " should not be a hit", scores.get(doc));
      assertClose("score of document " + doc, scores.get(doc), score(hits.get(i)));
      assertClose("score at rank " + i, best.get(i), score(hits.get(i)));
    }
  }

  /**
   * Share of the {@code k} best documents that an answer of {@code k} hits holds. Their scores must
   * be right. Documents of equal score may stand for each other.
   */
  static double recall(Map<Integer, Double> scores, int k, Map<String, Object> answer) {
    List<Double> best = new ArrayList<>(TestVectors.best(scores, k).values());
    double worst = best.get(k - 1) * (1 - RELATIVE_ERROR);
    assertEquals(answer.toString(), 0, NodeClient.at(answer, "_shards", "failed"));
    assertEquals("number of hits", k, hits(answer).size());
    Set<Integer> good = new HashSet<>();
    for (Object hit : hits(answer)) {
      int doc = doc(hit);
      assertNotNull("document " + doc + " should not be a hit", scores.get(doc));
      assertClose("score of document " + doc, scores.get(doc), score(hit));
      if (scores.get(doc) >= worst) {
        good.add(doc);
      }
    }
    return good.size() / (double) k;
  }

  /** Number of distances in the profile of a search over one shard. */
  static int profiledDistances(Map<String, Object> answer) {
    Object shard = NodeClient.at(answer, "profile", "shards", 0);
    return ((Number) NodeClient.at(shard, "dfs", "knn", 0, "vector_operations_count")).intValue();
  }

  private static void assertClose(String message, double expected, double actual) {
    assertEquals(message, expected, actual, RELATIVE_ERROR * Math.abs(expected));
  }
}
