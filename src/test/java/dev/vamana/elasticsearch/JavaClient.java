package dev.vamana.elasticsearch;

import static org.junit.Assert.assertFalse;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.KnnSearch;
import co.elastic.clients.elasticsearch._types.Refresh;
import co.elastic.clients.elasticsearch._types.mapping.DenseVectorIndexOptionsType;
import co.elastic.clients.elasticsearch._types.mapping.DenseVectorSimilarity;
import co.elastic.clients.elasticsearch._types.mapping.Property;
import co.elastic.clients.elasticsearch.core.BulkRequest;
import co.elastic.clients.elasticsearch.core.search.Hit;
import co.elastic.clients.elasticsearch.core.search.ResponseBody;
import co.elastic.clients.transport.rest5_client.Rest5ClientTransport;
import co.elastic.clients.transport.rest5_client.low_level.Request;
import co.elastic.clients.transport.rest5_client.low_level.Response;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;
import org.apache.hc.core5.http.ParseException;
import org.apache.hc.core5.http.io.entity.EntityUtils;

/** Pieces of requests to Elasticsearch's own Java client, and its answers in the form of tests. */
final class JavaClient {
  private JavaClient() {}

  /** A {@code dense_vector} with Euclidean distance. */
  static Property vector(int dims, DenseVectorIndexOptionsType type) {
    return Property.of(
        p ->
            p.denseVector(
                v ->
                    v.dims(dims)
                        .similarity(DenseVectorSimilarity.L2Norm)
                        .indexOptions(o -> o.type(type))));
  }

  /** A vector as the client takes it. */
  static List<Float> list(float[] vector) {
    List<Float> list = new ArrayList<>(vector.length);
    for (float value : vector) {
      list.add(value);
    }
    return list;
  }

  /** A {@code knn} section of a search with 200 candidates. */
  static KnnSearch knn(float[] query, int k, String field, UnaryOperator<KnnSearch.Builder> more) {
    return more.apply(
            new KnnSearch.Builder().field(field).queryVector(list(query)).k(k).numCandidates(200))
        .build();
  }

  /** Indexes documents {@code from} to {@code to - 1} by one request, which refreshes. */
  static void bulk(
      ElasticsearchClient client, String index, int from, int to, IntFunction<Object> document)
      throws IOException {
    BulkRequest.Builder bulk = new BulkRequest.Builder().index(index).refresh(Refresh.True);
    for (int doc = from; doc < to; doc++) {
      String id = Integer.toString(doc);
      Object source = document.apply(doc);
      bulk.operations(op -> op.index(x -> x.id(id).document(source)));
    }
    assertFalse(client.bulk(bulk.build()).errors());
  }

  /** What {@link Answers} compares. */
  static Map<String, Object> answer(ResponseBody<?> response) {
    List<Map<String, Object>> hits = new ArrayList<>();
    for (Hit<?> hit : response.hits().hits()) {
      hits.add(Map.of("_id", hit.id(), "_score", hit.score()));
    }
    return answer(response.timedOut(), response.shards().failed().intValue(), hits);
  }

  /** What {@link Answers} compares. */
  static Map<String, Object> answer(boolean timedOut, int failed, List<?> hits) {
    return Map.of(
        "timed_out", timedOut, "_shards", Map.of("failed", failed), "hits", Map.of("hits", hits));
  }

  /** The body of an answer to a request for which the client has no method. */
  static String perform(ElasticsearchClient client, Request request) throws IOException {
    Response response =
        ((Rest5ClientTransport) client._transport()).restClient().performRequest(request);
    try {
      return EntityUtils.toString(response.getEntity());
    } catch (ParseException e) {
      throw new IOException(e);
    }
  }
}
