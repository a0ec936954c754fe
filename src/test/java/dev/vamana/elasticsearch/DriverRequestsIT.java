package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.nio.file.Files;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/**
 * Requests in the form in which the drivers of public benchmarks send them, to a node with the
 * index templates of the pages and no other setting. The page docs/operators/other-benchmarks.md
 * tells how to run the drivers themselves, and which of their versions these requests follow.
 */
public class DriverRequestsIT {
  /** The template that Rally's track {@code random_vector} makes, without its nested vectors. */
  static final String RALLY_TEMPLATE =
      """
      {"index_patterns": ["vectors-benchmark-*"], "priority": 500, "data_stream": {},
       "template": {
         "settings": {"number_of_shards": 1, "number_of_replicas": 0,
                      "sort": {"field": "partition_id"}},
         "mappings": {"properties": {
           "@timestamp": {"type": "date"}, "partition_id": {"type": "keyword"},
           "emb": {"type": "dense_vector", "element_type": "float", "dims": 128,
                   "similarity": "cosine", "index_options": {"type": "bbq_flat"}}}}}}
      """;

  private static final int DIMS = 16;

  /** Enough for a graph with the default settings. */
  private static final int COUNT = 4200;

  private static final int K = 10;
  private static final int QUERIES = 10;
  private static final double LEAST_RECALL = 0.95;

  /** The last ones are the queries. */
  private static final TestVectors VECTORS = TestVectors.clustered(COUNT + QUERIES, DIMS, 40, 41);

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static NodeClient client;

  @BeforeClass
  public static void putTemplate() throws IOException {
    client = CLUSTER.first().client();
    ExampleTemplates.put(client, ExampleTemplates.FOR_ALL);
  }

  /** Sends pieces of {@code chunk} documents, two lines each. */
  private static void bulk(int count, int chunk, String path, IntFunction<String> lines)
      throws IOException {
    for (int from = 0; from < count; from += chunk) {
      StringBuilder body = new StringBuilder();
      for (int doc = from; doc < Math.min(count, from + chunk); doc++) {
        body.append(lines.apply(doc));
      }
      client.bulk(path, body.toString());
    }
  }

  private static String query(int i) {
    return VECTORS.json(COUNT + i);
  }

  /** The share of the nearest accepted documents that an answer holds. */
  private static double recall(
      int query, int count, Similarity similarity, IntPredicate accepted, List<Integer> found) {
    Set<Integer> nearest =
        new HashSet<>(
            VECTORS
                .nearest(
                    VECTORS.vector(COUNT + query),
                    K,
                    similarity,
                    doc -> doc < count && accepted.test(doc))
                .keySet());
    assertEquals(K, found.size());
    nearest.retainAll(found);
    return nearest.size() / (double) K;
  }

  private static void assertRecall(String what, double sum) {
    assertTrue(what + ": recall " + sum / QUERIES, sum / QUERIES >= LEAST_RECALL);
  }

  private static void assertGraph(String index) throws IOException {
    new TestIndex(client, index).assertSegmentsInOurFormat(true);
    String states = client.send("GET", "/_cat/vamana/" + index + "?h=state", null, null).body();
    assertFalse(states, states.contains("no_graph"));
  }

  /** The backend {@code elastic} of cuvs-bench; the ids of hits are the numbers of vectors. */
  @Test
  public void testCuvsBench() throws IOException {
    for (String type : List.of("hnsw", "int8_hnsw", "int4_hnsw")) {
      String index = "elastic_" + type + "_vamana_m16_ef_construction100";
      int count = 500;
      client.put(
          "/" + index,
          Json.of(
              """
              {"settings": {"number_of_shards": 1, "number_of_replicas": 0},
               "mappings": {"properties": {"embedding": {
                 "type": "dense_vector", "dims": %d, "index": true, "similarity": "l2_norm",
                 "index_options": {"type": "%s", "m": 16, "ef_construction": 100}}}}}
              """,
              DIMS, type));
      bulk(
          count,
          500,
          "/_bulk",
          doc ->
              Json.of(
                  "{\"index\":{\"_id\":\"%d\",\"_index\":\"%s\"}}\n{\"embedding\":%s}\n",
                  doc, index, VECTORS.json(doc)));
      client.post("/" + index + "/_refresh", null);
      Object size =
          NodeClient.at(
              client.get("/" + index + "/_stats"), "_all", "primaries", "store", "size_in_bytes");
      assertTrue(size.toString(), ((Number) size).longValue() > 4L * DIMS * count);
      new TestIndex(client, index).assertSegmentsInOurFormat(true);
      double recall = 0;
      for (int i = 0; i < QUERIES; i++) {
        Map<String, Object> answer =
            client.post(
                "/" + index + "/_search",
                Json.of(
                    """
                    {"knn": {"field": "embedding", "query_vector": %s, "k": %d,
                             "num_candidates": 100}, "size": %d}
                    """,
                    query(i), K, K));
        List<Integer> found = Answers.hits(answer).stream().map(Answers::doc).toList();
        recall += recall(i, count, Similarity.L2_NORM, doc -> true, found);
      }
      assertRecall(type, recall);
    }
  }

  /** What drivers ask for that read no sources but a field of their own. */
  private static List<Integer> fields(String index, String knn) throws IOException {
    Map<String, Object> answer =
        client.post(
            "/" + index + "/_search?filter_path=hits.hits.fields.id",
            Json.of(
                """
                {"knn": %s, "size": %d, "_source": false, "docvalue_fields": ["id"],
                 "stored_fields": "_none_"}
                """,
                knn, K));
    return Answers.hits(answer).stream()
        .map(hit -> NodeClient.at(hit, "fields", "id", 0).toString())
        .map(Integer::valueOf)
        .toList();
  }

  /** The client {@code ElasticCloud} of VectorDBBench: no ids, vectors outside of the source. */
  @Test
  public void testVectorDbBench() throws Exception {
    String index = "vdb_bench_indice";
    client.put(
        "/" + index,
        Json.of(
            """
            {"mappings": {
               "_source": {"excludes": ["vector"]},
               "properties": {
                 "id": {"type": "integer", "store": true},
                 "vector": {"dims": %d, "type": "dense_vector", "index": true,
                            "element_type": "float", "similarity": "cosine",
                            "index_options": {"type": "hnsw", "m": 16, "ef_construction": 100}}}},
             "settings": {"index": {"number_of_shards": 1, "number_of_replicas": 0,
               "refresh_interval": "30s", "merge.scheduler.max_thread_count": 8}}}
            """,
            DIMS));
    bulk(
        COUNT,
        500,
        "/_bulk",
        doc ->
            Json.of(
                "{\"index\":{\"_index\":\"%s\"}}\n{\"id\":%d,\"label\":\"label_%d\",\"vector\":%s}\n",
                index, doc, doc % 3, VECTORS.json(doc)));
    client.post("/" + index + "/_refresh", null);
    Object task =
        client
            .post("/" + index + "/_forcemerge?max_num_segments=1&wait_for_completion=false", null)
            .get("task");
    Map<String, Object> merge =
        client.get("/_tasks/" + task + "?wait_for_completion=true&timeout=60s");
    assertEquals(merge.toString(), true, merge.get("completed"));
    client.post("/" + index + "/_refresh", null);
    assertEquals(1, new TestIndex(client, index).segments().size());
    assertGraph(index);

    assertFiltered(index, "[]", doc -> true);
    assertFiltered(index, "{\"range\": {\"id\": {\"gt\": 2000}}}", doc -> doc > 2000);
    assertFiltered(index, "{\"term\": {\"label\": \"label_1\"}}", doc -> doc % 3 == 1);
  }

  private static void assertFiltered(String index, String filter, IntPredicate accepted)
      throws IOException {
    double recall = 0;
    for (int i = 0; i < QUERIES; i++) {
      String knn =
          Json.of(
              """
              {"field": "vector", "k": %d, "num_candidates": 100, "filter": %s,
               "query_vector": %s}
              """,
              K, filter, query(i));
      recall += recall(i, COUNT, Similarity.COSINE, accepted, fields(index, knn));
    }
    assertRecall(filter, recall);
  }

  /** The algorithm {@code elasticsearch} of ann-benchmarks. */
  @Test
  public void testAnnBenchmarks() throws IOException {
    String index = "euclidean-16-ef_construction-100-m-16";
    int count = 1000;
    client.put(
        "/" + index,
        Json.of(
            """
            {"settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": -1},
             "mappings": {"properties": {
               "id": {"type": "keyword", "store": true},
               "vec": {"type": "dense_vector", "element_type": "float", "dims": %d, "index": true,
                       "similarity": "l2_norm",
                       "index_options": {"type": "hnsw", "m": 16, "ef_construction": 100}}}}}
            """,
            DIMS));
    bulk(
        count,
        500,
        "/_bulk",
        doc ->
            Json.of(
                "{\"index\":{\"_index\":\"%s\"}}\n{\"id\":\"%d\",\"vec\":%s}\n",
                index, doc, VECTORS.json(doc)));
    client.post("/" + index + "/_forcemerge?max_num_segments=1", null);
    client.post("/" + index + "/_refresh", null);
    new TestIndex(client, index).assertSegmentsInOurFormat(true);
    double recall = 0;
    for (int i = 0; i < QUERIES; i++) {
      String knn =
          Json.of(
              """
              {"field": "vec", "query_vector": %s, "k": %d, "num_candidates": 80}
              """,
              query(i), K);
      recall += recall(i, count, Similarity.L2_NORM, doc -> true, fields(index, knn));
    }
    assertRecall(index, recall);
  }

  /**
   * Rally's track {@code random_vector}: an index sorted by partition, routed documents, and the
   * nearest of one partition with as many candidates as hits. A data stream could not be removed
   * again from a node without the module of data streams, so an index stands for its backing index.
   */
  @Test
  public void testRallyRandomVector() throws IOException {
    String index = "rally-random";
    int partitions = 5;
    int count = 500;
    TestVectors vectors = TestVectors.random(count + QUERIES, 128, 42);
    Map<String, Object> file =
        XContentHelper.convertToMap(
            JsonXContent.jsonXContent, Files.readString(ExampleTemplates.FOR_RALLY), true);
    try (XContentBuilder body = JsonXContent.contentBuilder()) {
      body.value(file.get("template"));
      client.put("/" + index, Strings.toString(body));
    }
    bulk(
        count,
        1000,
        "/" + index + "/_bulk",
        doc ->
            Json.of(
                "{\"create\":{\"_index\":\"%s\",\"routing\":\"%d\",\"_id\":\"%d\"}}\n"
                    + "{\"@timestamp\":1760000000000,\"partition_id\":\"%d\",\"emb\":%s}\n",
                index, doc % partitions, doc, doc % partitions, vectors.json(doc)));
    client.post("/" + index + "/_refresh", null);
    new TestIndex(client, index).assertSegmentsInOurFormat(true);
    for (String rescore : List.of("", ", \"rescore_vector\": {\"oversample\": 3}")) {
      for (int i = 0; i < QUERIES; i++) {
        int partition = i % partitions;
        Map<String, Object> answer =
            client.post(
                "/" + index + "/_search?size=" + K + "&request_cache=false",
                Json.of(
                    """
                    {"knn": {"field": "emb", "query_vector": %s, "k": %d, "num_candidates": %d,
                             "filter": {"term": {"partition_id": "%d"}}%s}}
                    """,
                    vectors.json(count + i), K, K, partition, rescore));
        // a partition is so small that it is scanned: every nearest vector is found
        Answers.assertBest(
            vectors.scores(
                vectors.vector(count + i),
                Similarity.COSINE,
                doc -> doc < count && doc % partitions == partition),
            K,
            answer);
      }
    }
  }
}
