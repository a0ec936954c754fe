package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.ClassRule;
import org.junit.Test;

/** A primary and a replica of an opted-in index on two nodes. */
public class ReplicasIT {
  private static final int DIMS = 12;
  private static final int COUNT = 300;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 41);
  private static final TestVectors QUERIES = TestVectors.random(5, DIMS, 42);

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.TWO_NODES;

  private RunningNode first;
  private RunningNode second;

  @Test
  public void testReplica() throws IOException {
    first = CLUSTER.first();
    second = CLUSTER.second();
    TestIndex index =
        TestIndex.create(
            first.client(),
            "t",
            TestIndex.VAMANA
                + ", \"index.unassigned.node_left.delayed_timeout\": \"0s\""
                + ", \"index.number_of_replicas\": 1",
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    index.awaitHealth("green");
    index.index(0, COUNT / 3, ReplicasIT::source);
    index.index(COUNT / 3, 2 * COUNT / 3, ReplicasIT::source);
    assertBothAnswer(index, 2 * COUNT / 3);

    assertBothCopiesAreListed();
    second.stop();
    index.index(2 * COUNT / 3, COUNT, ReplicasIT::source);
    index.forceMerge();
    second = CLUSTER.startLast();
    index.awaitHealth("green");
    assertBothAnswer(index, COUNT);
    index.forceMerge();
    assertEquals(2, index.segments().size());
    assertBothAnswer(index, COUNT);

    // A copy made from nothing is a copy of files.
    index.set("\"index.number_of_replicas\": 0");
    index.set("\"index.number_of_replicas\": 1");
    index.awaitHealth("green");
    assertBothAnswer(index, COUNT);
  }

  private void assertBothCopiesAreListed() throws IOException {
    for (RunningNode asked : new RunningNode[] {first, second}) {
      List<String> listed =
          asked
              .client()
              .send("GET", "/_cat/vamana/t?h=prirep,node,field,vectors,state", null, "text/plain")
              .body()
              .lines()
              .map(line -> line.strip().replaceAll("\\s+", " "))
              .toList();
      List<String> copies = listed.stream().map(row -> row.substring(0, 1)).distinct().toList();
      assertEquals(listed.toString(), List.of("p", "r"), copies);
      List<String> nodes = listed.stream().map(row -> row.split(" ")[1]).distinct().toList();
      assertEquals(listed.toString(), 2, nodes.size());
      long vectors = listed.stream().mapToLong(row -> Long.parseLong(row.split(" ")[3])).sum();
      assertEquals(listed.toString(), 2L * 2 * COUNT / 3, vectors);
      assertEquals(
          listed.toString(), 0, listed.stream().filter(row -> !row.endsWith("cpu")).count());
    }
  }

  private static String source(int doc) {
    return "{\"v\": " + VECTORS.json(doc) + "}";
  }

  private void assertBothAnswer(TestIndex index, int count) throws IOException {
    index.assertSegmentsInOurFormat(true);
    for (RunningNode node : new RunningNode[] {first, second}) {
      for (int i = 0; i < QUERIES.count(); i++) {
        float[] query = QUERIES.vector(i);
        Map<String, Object> answer =
            node.client()
                .post(
                    "/t/_search?preference=_only_local",
                    Json.of(
                        """
                    {"knn": {"field": "v", "query_vector": %s, "k": 10, "num_candidates": 100}}
                    """,
                        TestVectors.json(query)));
        Answers.assertBest(
            VECTORS.scores(query, Similarity.L2_NORM, doc -> doc < count), 10, answer);
      }
    }
  }
}
