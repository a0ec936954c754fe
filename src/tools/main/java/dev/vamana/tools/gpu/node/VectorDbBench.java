package dev.vamana.tools.gpu.node;

import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeClient;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * VectorDBBench's client {@code ElasticCloud}: vectors outside of the source, no document ids, a
 * forced merge, the 100 nearest with 100 candidates.
 */
final class VectorDbBench implements Driver {

  @Override
  public String name() {
    return "vectordbbench";
  }

  @Override
  public String mapping(int dimension, String similarity) {
    return String.format(
        Locale.ROOT,
        """
        {"mappings": {
           "_source": {"excludes": ["vector"]},
           "properties": {
             "id": {"type": "integer", "store": true},
             "vector": {"dims": %d, "type": "dense_vector", "index": true,
                        "element_type": "float", "similarity": "%s",
                        "index_options": {"type": "hnsw", "m": 16, "ef_construction": 100}}}},
         "settings": {"index": {"number_of_shards": 1, "number_of_replicas": 0,
           "refresh_interval": "30s", "merge.scheduler.max_thread_count": 8}}}
        """,
        dimension,
        similarity);
  }

  @Override
  public int bulkSize() {
    return 500;
  }

  @Override
  public void append(StringBuilder lines, String index, int id, float[] vector) {
    lines.append("{\"index\":{\"_index\":\"").append(index).append("\"}}\n{\"id\":").append(id);
    lines.append(",\"vector\":");
    KnnIndex.appendVector(lines, vector);
    lines.append("}\n");
  }

  @Override
  public boolean merges() {
    return true;
  }

  @Override
  public String searchPath() {
    return "_search?filter_path=hits.hits.fields.id";
  }

  @Override
  public String search(float[] query, int numCandidates) {
    StringBuilder json = new StringBuilder(12 * query.length + 200);
    json.append("{\"size\": ").append(k());
    json.append(
        ", \"_source\": false, \"docvalue_fields\": [\"id\"], \"stored_fields\": \"_none_\"");
    json.append(", \"knn\": {\"field\": \"vector\", \"k\": ").append(k());
    json.append(", \"num_candidates\": ").append(numCandidates);
    json.append(", \"filter\": [], \"query_vector\": ");
    KnnIndex.appendVector(json, query);
    return json.append("}}").toString();
  }

  @Override
  public int k() {
    return 100;
  }

  @Override
  public List<Integer> numCandidates() {
    return List.of(100);
  }

  @Override
  public List<Integer> clients() {
    return List.of(1, 5, 10, 20, 30, 40, 60, 80);
  }

  @Override
  public int[] ids(String answer) {
    Map<String, Object> json = new NodeClient.Response(200, answer, List.of()).json();
    List<?> hits = (List<?>) NodeClient.at(json, "hits", "hits");
    return hits.stream()
        .mapToInt(hit -> ((Number) NodeClient.at(hit, "fields", "id", 0)).intValue())
        .toArray();
  }
}
