package dev.vamana.tools.demo;

import com.fasterxml.jackson.jr.ob.JSON;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.text.Passage;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** One index of the node: it is filled, made searchable and asked. */
public final class KnnIndex {

  /** The name of the field. */
  public static final String FIELD = "vector";

  /** The object that holds a document's passage, if it has one; it is stored and not searched. */
  static final String PASSAGE = "passage";

  private final NodeClient client;
  private final String name;
  private final String label;
  private long indexNanos;

  /**
   * Names an index, which need not exist yet.
   *
   * @param name its name in the node
   * @param label its name in tables and plots
   */
  public KnnIndex(NodeClient client, String name, String label) {
    this.client = client;
    this.name = name;
    this.label = label;
  }

  /**
   * Creates the index with one shard, no replica and no refresh by itself.
   *
   * @param settings further index settings
   */
  public void create(int dimension, Metric metric, Map<String, String> settings)
      throws IOException {
    create(dimension, metric, "hnsw", 1, settings);
  }

  /**
   * As {@link #create(int, Metric, Map)}, with another type of {@code index_options} and number of
   * shards.
   *
   * @param type such as {@code int8_hnsw}
   */
  public void create(
      int dimension, Metric metric, String type, int shards, Map<String, String> settings)
      throws IOException {
    StringBuilder more = new StringBuilder();
    settings.forEach(
        (setting, value) ->
            more.append(String.format(Locale.ROOT, ", \"%s\": \"%s\"", setting, value)));
    client.put(
        "/" + name,
        String.format(
            Locale.ROOT,
            """
            {"settings": {"index.number_of_shards": %d, "index.number_of_replicas": 0,
               "index.refresh_interval": "-1"%s},
             "mappings": {"properties": {"%s": {"type": "dense_vector", "dims": %d, "index": true,
               "similarity": "%s", "index_options": {"type": "%s"}},
               "%s": {"type": "object", "enabled": false}}}}
            """,
            shards,
            more,
            FIELD,
            dimension,
            similarity(metric),
            type,
            PASSAGE));
  }

  /** Returns the name of a metric in mappings. */
  public static String similarity(Metric metric) {
    return switch (metric) {
      case L2 -> "l2_norm";
      case COSINE -> "cosine";
      case IP -> "max_inner_product";
    };
  }

  /** Sends a prepared bulk request; its time counts as index time. */
  public void bulk(String lines) throws IOException {
    long start = System.nanoTime();
    client.bulk("/" + name + "/_bulk", lines);
    indexNanos += System.nanoTime() - start;
  }

  /** Refreshes and merges to one segment; the time counts as index time. */
  public void finish() throws IOException {
    long start = System.nanoTime();
    client.post("/" + name + "/_refresh", null);
    mergeToOne();
    client.post("/" + name + "/_refresh", null);
    indexNanos += System.nanoTime() - start;
    client.post("/" + name + "/_flush", null);
  }

  /** Merges to one segment by a task, which may take longer than a request. */
  public void mergeToOne() throws IOException {
    Object task =
        client
            .post("/" + name + "/_forcemerge?max_num_segments=1&wait_for_completion=false", null)
            .get("task");
    NodeClient.Response ended;
    do {
      // answers when the task ends, with another status if it does not end in time
      ended =
          client.send(
              "GET",
              "/_tasks/" + task + "?wait_for_completion=true&timeout=30s",
              null,
              "application/json");
    } while (ended.status() != 200 || Boolean.TRUE.equals(ended.json().get("completed")) == false);
  }

  /** Lets the node refresh the index as it does by default. */
  void refreshByItself() throws IOException {
    client.put("/" + name + "/_settings", "{\"index.refresh_interval\": null}");
  }

  /** Seconds spent in bulk requests, refreshes and the forced merge. */
  double indexSeconds() {
    return indexNanos / 1e9;
  }

  /** Size of the index on disk. */
  public long bytes() throws IOException {
    Map<String, Object> stats = client.get("/" + name + "/_stats/store");
    return ((Number) NodeClient.at(stats, "_all", "primaries", "store", "size_in_bytes"))
        .longValue();
  }

  /** Number of documents. */
  public int documents() throws IOException {
    return ((Number) client.get("/" + name + "/_count").get("count")).intValue();
  }

  /** Number of segments that are searched. */
  public int segments() throws IOException {
    Map<String, Object> stats = client.get("/" + name + "/_stats/segments");
    return ((Number) NodeClient.at(stats, "_all", "primaries", "segments", "count")).intValue();
  }

  /** Sends a search request made by {@link #query} and returns the answer's body. */
  String ask(String query) throws IOException {
    NodeClient.Response response =
        client.send("POST", "/" + name + "/_search", query, "application/json");
    if (response.status() != 200) {
      throw new IllegalStateException(
          "a search of " + name + " answered " + response.status() + ": " + response.body());
    }
    return response.body();
  }

  /** The body of a standard {@code knn} search that returns no more than the documents' ids. */
  public static String query(float[] vector, int k, int numCandidates) {
    return query(vector, k, numCandidates, false);
  }

  /**
   * The body of a standard {@code knn} search.
   *
   * @param passages whether hits come with their passages
   */
  static String query(float[] vector, int k, int numCandidates, boolean passages) {
    StringBuilder json = new StringBuilder(vector.length * 4 + 100);
    json.append("{\"_source\": ").append(passages ? "[\"" + PASSAGE + "\"]" : "false");
    json.append(", \"size\": ").append(k);
    json.append(", \"knn\": {\"field\": \"" + FIELD + "\", \"k\": ").append(k);
    json.append(", \"num_candidates\": ").append(numCandidates).append(", \"query_vector\": ");
    appendVector(json, vector);
    return json.append("}}").toString();
  }

  /** Appends the bulk lines that index {@code vector} under {@code id}. */
  public static void appendDocument(StringBuilder lines, int id, float[] vector) {
    appendAction(lines, id);
    lines.append("{\"" + FIELD + "\":");
    appendVector(lines, vector);
    lines.append("}\n");
  }

  /** Appends the bulk lines that index {@code vector} and a passage under {@code id}. */
  static void appendDocument(StringBuilder lines, int id, float[] vector, Passage passage)
      throws IOException {
    appendAction(lines, id);
    lines.append("{\"" + PASSAGE + "\":");
    Map<String, String> fields = new LinkedHashMap<>();
    fields.put("source", passage.source());
    fields.put("page", passage.page());
    fields.put("anchor", passage.anchor());
    fields.put("title", passage.title());
    fields.put("text", passage.text());
    lines.append(JSON.std.asString(fields)).append(",\"" + FIELD + "\":");
    appendVector(lines, vector);
    lines.append("}\n");
  }

  private static void appendAction(StringBuilder lines, int id) {
    lines.append("{\"index\":{\"_id\":\"").append(id).append("\"}}\n");
  }

  /** Appends a vector as an array of numbers. */
  public static void appendVector(StringBuilder json, float[] vector) {
    char separator = '[';
    for (float value : vector) {
      json.append(separator);
      if (value == (int) value) {
        json.append((int) value);
      } else {
        json.append(value);
      }
      separator = ',';
    }
    json.append(']');
  }

  /** The ids of a search's hits, best first. */
  public static int[] ids(String answer) {
    Map<String, Object> json = new NodeClient.Response(200, answer, List.of()).json();
    if (Boolean.TRUE.equals(json.get("timed_out"))) {
      throw new IllegalStateException("a search timed out: " + answer);
    }
    List<?> hits = (List<?>) NodeClient.at(json, "hits", "hits");
    return hits.stream()
        .mapToInt(hit -> Integer.parseInt((String) NodeClient.at(hit, "_id")))
        .toArray();
  }

  /** The index's name in the node. */
  public String name() {
    return name;
  }

  /** The index's name in tables and plots. */
  public String label() {
    return label;
  }
}
