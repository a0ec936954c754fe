package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;

import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;

/** An index of a running node. */
record TestIndex(NodeClient client, String name) {
  /** Settings of an opted-in index with small graphs that are built from the first vector on. */
  static final String VAMANA =
      """
      "index.vamana.enabled": true, "index.vamana.max_degree": 16, "index.vamana.beam_width": 64,
      "index.vamana.graph_threshold": 0\
      """;

  /** A setting with which the walks of single searches end as late as the walks of batches. */
  static final String NO_EARLY_END =
      ", \"index.dense_vector.hnsw_enable_early_termination\": false";

  /**
   * Creates an index, without replicas unless the settings have them.
   *
   * @param settings members of a JSON object, or empty
   * @param properties the mapping's properties as members of a JSON object
   */
  static TestIndex create(NodeClient client, String name, String settings, String properties)
      throws IOException {
    client.put(
        "/" + name,
        Json.of(
            """
        {"settings": {"index.refresh_interval": -1%s%s},
         "mappings": {"properties": {%s}}}
        """,
            settings.contains("number_of_replicas") ? "" : ", \"index.number_of_replicas\": 0",
            settings.isEmpty() ? "" : ", " + settings,
            properties));
    return new TestIndex(client, name);
  }

  /** The mapping of a {@code dense_vector} as a member of a JSON object. */
  static String denseVector(
      String field, String elementType, int dims, String similarity, String indexType) {
    return Json.of(
        """
        "%s": {"type": "dense_vector", "element_type": "%s", "dims": %d, "similarity": "%s",
               "index_options": {"type": "%s"}}\
        """,
        field, elementType, dims, similarity, indexType);
  }

  /**
   * Indexes documents {@code from} to {@code to - 1} and refreshes, so that they make a segment.
   *
   * @param source gives a document's JSON
   */
  void index(int from, int to, IntFunction<String> source) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int doc = from; doc < to; doc++) {
      lines.append("{\"index\": {\"_id\": \"").append(doc).append("\"}}\n");
      lines.append(source.apply(doc).replace("\n", " ")).append('\n');
    }
    client.bulk("/" + name + "/_bulk?refresh=true", lines.toString());
  }

  /** Deletes the accepted ones of documents {@code from} to {@code to - 1} and refreshes. */
  void delete(int from, int to, IntPredicate accepted) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int doc = from; doc < to; doc++) {
      if (accepted.test(doc)) {
        lines.append("{\"delete\": {\"_id\": \"").append(doc).append("\"}}\n");
      }
    }
    client.bulk("/" + name + "/_bulk?refresh=true", lines.toString());
  }

  Map<String, Object> search(String body) throws IOException {
    return client.post("/" + name + "/_search", body);
  }

  /** A request of a {@code knn} section for the nearest documents, without their sources. */
  Map<String, Object> knn(String field, float[] query, int k, int candidates) throws IOException {
    return search(
        Json.of(
            """
        {"knn": {"field": "%s", "query_vector": %s, "k": %d, "num_candidates": %d},
         "size": %d, "_source": false}
        """,
            field, TestVectors.json(query), k, candidates, k));
  }

  void forceMerge() throws IOException {
    client.post("/" + name + "/_forcemerge?max_num_segments=1", null);
    client.post("/" + name + "/_refresh", null);
  }

  /** Commits what has been indexed. */
  void flush() throws IOException {
    client.post("/" + name + "/_flush", null);
  }

  void close() throws IOException {
    client.post("/" + name + "/_close", null);
  }

  void open() throws IOException {
    client.post("/" + name + "/_open", null);
    awaitHealth("yellow");
  }

  void set(String settings) throws IOException {
    client.put("/" + name + "/_settings", "{" + settings + "}");
  }

  void awaitHealth(String status) throws IOException {
    Map<String, Object> health =
        client.get("/_cluster/health/" + name + "?timeout=60s&wait_for_status=" + status);
    assertFalse(health.toString(), (Boolean) health.get("timed_out"));
  }

  /**
   * The searchable segments of every copy of every shard, as {@code _segments} shows them, without
   * segments of nothing but deletes.
   */
  List<Map<?, ?>> segments() throws IOException {
    List<Map<?, ?>> segments = new ArrayList<>();
    Map<String, Object> answer = client.get("/" + name + "/_segments");
    for (Object index : ((Map<?, ?>) answer.get("indices")).values()) {
      for (Object copies : ((Map<?, ?>) NodeClient.at(index, "shards")).values()) {
        for (Object copy : (List<?>) copies) {
          for (Object segment : ((Map<?, ?>) NodeClient.at(copy, "segments")).values()) {
            if (((Number) NodeClient.at(segment, "num_docs")).intValue() > 0) {
              segments.add((Map<?, ?>) segment);
            }
          }
        }
      }
    }
    return segments;
  }

  /** Asserts that the index has segments, and that all or none of them are in our format. */
  void assertSegmentsInOurFormat(boolean expected) throws IOException {
    List<Map<?, ?>> segments = segments();
    assertFalse("no segments", segments.isEmpty());
    for (Map<?, ?> segment : segments) {
      Map<?, ?> attributes = (Map<?, ?>) segment.get("attributes");
      assertEquals(segment.toString(), expected, attributes.containsKey(VamanaVectorsFormat.NAME));
    }
  }
}
