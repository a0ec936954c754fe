package dev.vamana.elasticsearch.search.neighbors;

import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.ResourceAlreadyExistsException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.DocWriteResponse;
import org.elasticsearch.action.admin.indices.create.CreateIndexRequest;
import org.elasticsearch.action.admin.indices.create.CreateIndexResponse;
import org.elasticsearch.action.admin.indices.refresh.RefreshRequest;
import org.elasticsearch.action.bulk.BulkItemResponse;
import org.elasticsearch.action.bulk.BulkRequest;
import org.elasticsearch.action.bulk.BulkResponse;
import org.elasticsearch.action.bulk.Retry;
import org.elasticsearch.action.get.MultiGetItemResponse;
import org.elasticsearch.action.get.MultiGetRequest;
import org.elasticsearch.action.get.MultiGetResponse;
import org.elasticsearch.action.index.IndexRequest;
import org.elasticsearch.action.support.RefCountingListener;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.common.BackoffPolicy;
import org.elasticsearch.index.reindex.WorkerBulkByPaginatedSearchTaskState;
import org.elasticsearch.search.fetch.subphase.FetchSourceContext;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.json.JsonXContent;

/** The index that neighbours are written to: a document for each document, with the same id. */
final class DestIndex {

  // one thread writes the documents of a bulk request that belong to a shard
  private static final int MOST_TOGETHER = 500;

  private final Client client;
  private final String name;
  private final String field;
  private final Retry retry;
  private final WorkerBulkByPaginatedSearchTaskState worker;

  /**
   * Makes an index that need not exist.
   *
   * @param worker counts what is written
   */
  DestIndex(
      Client client,
      ThreadPool threads,
      String name,
      String field,
      WorkerBulkByPaginatedSearchTaskState worker) {
    this.client = client;
    this.name = name;
    this.field = field;
    this.worker = worker;
    retry = new Retry(BackoffPolicy.exponentialBackoff(), threads);
  }

  /** Creates the index with a mapping of its field; it may be there already. */
  void create(ActionListener<Void> created) {
    Map<String, Object> ids = Map.of("type", "keyword");
    Map<String, Object> scores = Map.of("type", "float", "index", false, "doc_values", false);
    Map<String, Object> mapping =
        Map.of(
            "properties",
            Map.of(field, Map.of("properties", Map.of("ids", ids, "scores", scores))));
    client
        .admin()
        .indices()
        .create(
            new CreateIndexRequest(name).mapping(mapping),
            created
                .<CreateIndexResponse>map(response -> null)
                .delegateResponse(
                    (next, failure) -> {
                      if (ExceptionsHelper.unwrapCause(failure)
                          instanceof ResourceAlreadyExistsException) {
                        created.onResponse(null);
                      } else {
                        next.onFailure(failure);
                      }
                    }));
  }

  /** Finds which documents are there; sees documents that are not yet searchable. */
  void present(List<String> ids, ActionListener<Set<String>> found) {
    MultiGetRequest request = new MultiGetRequest();
    for (String id : ids) {
      request.add(
          new MultiGetRequest.Item(name, id)
              .fetchSourceContext(FetchSourceContext.DO_NOT_FETCH_SOURCE));
    }
    client.multiGet(request, found.map(DestIndex::present));
  }

  private static Set<String> present(MultiGetResponse response) throws Exception {
    Set<String> ids = new HashSet<>();
    for (MultiGetItemResponse item : response) {
      if (item.isFailed()) {
        throw item.getFailure().getFailure();
      }
      if (item.getResponse().isExists()) {
        ids.add(item.getId());
      }
    }
    return ids;
  }

  /** Makes the write of a document. */
  IndexRequest document(String id, List<String> neighbors, List<Float> scores) throws IOException {
    try (XContentBuilder json = JsonXContent.contentBuilder()) {
      json.startObject().startObject(field);
      json.field("ids", neighbors).field("scores", scores);
      return new IndexRequest(name).id(id).source(json.endObject().endObject());
    }
  }

  /** Writes documents. Repeats what nodes reject because they are busy. */
  void write(List<IndexRequest> documents, ActionListener<Void> written) {
    try (RefCountingListener parts = new RefCountingListener(written)) {
      for (int from = 0; from < documents.size(); from += MOST_TOGETHER) {
        BulkRequest request = new BulkRequest();
        documents
            .subList(from, Math.min(documents.size(), from + MOST_TOGETHER))
            .forEach(request::add);
        retry.withBackoff(client::bulk, request, parts.acquire(this::count));
      }
    }
  }

  private void count(BulkResponse response) throws Exception {
    for (BulkItemResponse item : response) {
      if (item.isFailed()) {
        throw item.getFailure().getCause();
      }
      if (item.getResponse().getResult() == DocWriteResponse.Result.CREATED) {
        worker.countCreated();
      } else {
        worker.countUpdated();
      }
    }
  }

  /** Makes what was written searchable. */
  void refresh(ActionListener<Void> refreshed) {
    client.admin().indices().refresh(new RefreshRequest(name), refreshed.map(response -> null));
  }
}
