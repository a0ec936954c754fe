package dev.vamana.tools.gpu.node;

import dev.vamana.tools.demo.KnnIndex;
import java.util.List;
import java.util.Locale;

/**
 * The backend {@code elastic} of cuvs-bench: ids are the numbers of vectors, no merge, the 10
 * nearest from one thread with more and more candidates.
 */
final class CuvsBench implements Driver {

  @Override
  public String name() {
    return "cuvs-bench";
  }

  @Override
  public String mapping(int dimension, String similarity) {
    return String.format(
        Locale.ROOT,
        """
        {"settings": {"number_of_shards": 1, "number_of_replicas": 0},
         "mappings": {"properties": {"embedding": {
           "type": "dense_vector", "dims": %d, "index": true, "similarity": "%s",
           "index_options": {"type": "hnsw", "m": 16, "ef_construction": 100}}}}}
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
    lines.append("{\"index\":{\"_id\":\"").append(id).append("\",\"_index\":\"").append(index);
    lines.append("\"}}\n{\"embedding\":");
    KnnIndex.appendVector(lines, vector);
    lines.append("}\n");
  }

  @Override
  public boolean merges() {
    return false;
  }

  @Override
  public String searchPath() {
    return "_search";
  }

  @Override
  public String search(float[] query, int numCandidates) {
    StringBuilder json = new StringBuilder(12 * query.length + 100);
    json.append("{\"size\": ").append(k());
    json.append(", \"knn\": {\"field\": \"embedding\", \"k\": ").append(k());
    json.append(", \"num_candidates\": ").append(numCandidates).append(", \"query_vector\": ");
    KnnIndex.appendVector(json, query);
    return json.append("}}").toString();
  }

  @Override
  public int k() {
    return 10;
  }

  @Override
  public List<Integer> numCandidates() {
    return List.of(20, 50, 100, 200, 400);
  }

  @Override
  public List<Integer> clients() {
    return List.of(1);
  }

  @Override
  public int[] ids(String answer) {
    return KnnIndex.ids(answer);
  }
}
