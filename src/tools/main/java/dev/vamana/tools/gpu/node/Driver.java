package dev.vamana.tools.gpu.node;

import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeClient;
import java.util.List;
import java.util.Map;

/**
 * Requests of the driver of a public benchmark: the index that it creates with one shard and no
 * replica, 500 documents a bulk request, and searches of one vector a request.
 * docs/operators/other-benchmarks.md names the versions that the requests follow. In texts {@code
 * $DIMS}, {@code $SIMILARITY}, {@code $INDEX}, {@code $ID}, {@code $CANDIDATES} and {@code $VECTOR}
 * stand for values.
 *
 * @param name of the benchmark
 * @param mapping body of the request that creates the index
 * @param document the two lines of a document
 * @param merges whether the driver merges the index to one segment before it searches
 * @param searchPath path and parameters of a search, without the name of the index
 * @param search body of a search
 * @param k hits of a search
 * @param numCandidates values of {@code num_candidates}, ascending
 * @param clients numbers of concurrent clients, ascending
 * @param id where a hit has the number of its vector: keys and indices, from the outside in
 */
public record Driver(
    String name,
    String mapping,
    String document,
    boolean merges,
    String searchPath,
    String search,
    int k,
    List<Integer> numCandidates,
    List<Integer> clients,
    List<Object> id) {

  /** Documents of a bulk request. */
  static final int BULK_SIZE = 500;

  /**
   * VectorDBBench's client {@code ElasticCloud}: vectors outside of the source, no document ids, a
   * forced merge, the 100 nearest with 100 candidates.
   */
  private static final Driver VECTOR_DB_BENCH =
      new Driver(
          "vectordbbench",
          """
          {"mappings": {
             "_source": {"excludes": ["vector"]},
             "properties": {
               "id": {"type": "integer", "store": true},
               "vector": {"dims": $DIMS, "type": "dense_vector", "index": true,
                          "element_type": "float", "similarity": "$SIMILARITY",
                          "index_options": {"type": "hnsw", "m": 16, "ef_construction": 100}}}},
           "settings": {"index": {"number_of_shards": 1, "number_of_replicas": 0,
             "refresh_interval": "30s", "merge.scheduler.max_thread_count": 8}}}
          """,
          """
          {"index":{"_index":"$INDEX"}}
          {"id":$ID,"vector":$VECTOR}
          """,
          true,
          "_search?filter_path=hits.hits.fields.id",
          "{\"size\": 100, \"_source\": false, \"docvalue_fields\": [\"id\"], \"stored_fields\":"
              + " \"_none_\", \"knn\": {\"field\": \"vector\", \"k\": 100, \"num_candidates\":"
              + " $CANDIDATES, \"filter\": [], \"query_vector\": $VECTOR}}",
          100,
          List.of(100),
          List.of(1, 5, 10, 20, 30, 40, 60, 80),
          List.of("fields", "id", 0));

  /**
   * The backend {@code elastic} of cuvs-bench: ids are the numbers of vectors, no merge, the 10
   * nearest from one thread with more and more candidates.
   */
  private static final Driver CUVS_BENCH =
      new Driver(
          "cuvs-bench",
          """
          {"settings": {"number_of_shards": 1, "number_of_replicas": 0},
           "mappings": {"properties": {"embedding": {
             "type": "dense_vector", "dims": $DIMS, "index": true, "similarity": "$SIMILARITY",
             "index_options": {"type": "hnsw", "m": 16, "ef_construction": 100}}}}}
          """,
          """
          {"index":{"_id":"$ID","_index":"$INDEX"}}
          {"embedding":$VECTOR}
          """,
          false,
          "_search",
          "{\"size\": 10, \"knn\": {\"field\": \"embedding\", \"k\": 10, \"num_candidates\":"
              + " $CANDIDATES, \"query_vector\": $VECTOR}}",
          10,
          List.of(20, 50, 100, 200, 400),
          List.of(1),
          List.of("_id"));

  /** All drivers. */
  public static final List<Driver> ALL = List.of(VECTOR_DB_BENCH, CUVS_BENCH);

  String mapping(int dims, String similarity) {
    return mapping.replace("$DIMS", "" + dims).replace("$SIMILARITY", similarity);
  }

  String document(String index, int number, float[] vector) {
    return with(document.replace("$INDEX", index).replace("$ID", "" + number), vector);
  }

  String search(int candidates, float[] vector) {
    return with(search.replace("$CANDIDATES", "" + candidates), vector);
  }

  private static String with(String text, float[] vector) {
    StringBuilder numbers = new StringBuilder(12 * vector.length);
    KnnIndex.appendVector(numbers, vector);
    return text.replace("$VECTOR", numbers);
  }

  /** Returns the numbers of the hits in an answer, best first. */
  int[] ids(String answer) {
    Map<String, Object> json = new NodeClient.Response(200, answer, List.of()).json();
    List<?> hits = (List<?>) NodeClient.at(json, "hits", "hits");
    return hits.stream()
        .mapToInt(hit -> Integer.parseInt(NodeClient.at(hit, id.toArray()).toString()))
        .toArray();
  }
}
