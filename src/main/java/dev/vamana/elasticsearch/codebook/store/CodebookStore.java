package dev.vamana.elasticsearch.codebook.store;

import dev.vamana.pq.SharedCodebook;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.DocWriteRequest;
import org.elasticsearch.action.DocWriteResponse;
import org.elasticsearch.action.delete.DeleteRequest;
import org.elasticsearch.action.get.GetRequest;
import org.elasticsearch.action.get.GetResponse;
import org.elasticsearch.action.index.IndexRequest;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.action.support.RetryableAction;
import org.elasticsearch.action.support.WriteRequest.RefreshPolicy;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.OriginSettingClient;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.IndexNotFoundException;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.threadpool.ThreadPool.Names;

/**
 * Reads and writes codebooks. Every write names the version that it replaces. If two writers have
 * read the same version, only one succeeds, and the other gets Elasticsearch's version conflict.
 */
public final class CodebookStore {
  /** Most codebooks that are listed, and loaded when a node starts. */
  public static final int MAX_CODEBOOKS = 1_000;

  private static final Logger logger = LogManager.getLogger(CodebookStore.class);
  private static final TimeValue FIRST_PAUSE = TimeValue.timeValueMillis(50);
  private static final TimeValue PATIENCE = TimeValue.timeValueSeconds(5);

  private final Client client;

  /** Makes a store in the cluster of a client. */
  public CodebookStore(Client client) {
    this.client = new OriginSettingClient(client, CodebookIndex.ORIGIN);
  }

  /**
   * A document as read or written.
   *
   * @param entry the entry, or null if there is no document
   * @param data the bytes of the codebook in Base64, or null if it has none
   * @param seqNo sequence number of the document, for the write that replaces it
   * @param primaryTerm primary term of the document, for the write that replaces it
   */
  public record Found(CodebookEntry entry, String data, long seqNo, long primaryTerm) {
    private static final Found NOTHING = new Found(null, null, 0, 0);

    /** Whether there is a document. */
    public boolean exists() {
      return entry != null;
    }

    /** Decodes the codebook; returns null if none is ready. */
    public SharedCodebook codebook() {
      return data == null ? null : SharedCodebook.fromBytes(Base64.getDecoder().decode(data));
    }
  }

  /** Reads one codebook; sees the latest write. */
  public void find(String name, ActionListener<Found> listener) {
    patiently(listener, l -> findNow(name, l));
  }

  private void findNow(String name, ActionListener<Found> listener) {
    client.get(
        new GetRequest(CodebookIndex.NAME, name),
        ActionListener.wrap(
            response -> listener.onResponse(found(response)),
            e -> {
              if (ExceptionsHelper.unwrapCause(e) instanceof IndexNotFoundException) {
                listener.onResponse(Found.NOTHING);
              } else {
                listener.onFailure(e);
              }
            }));
  }

  private static Found found(GetResponse response) {
    if (!response.isExists()) {
      return Found.NOTHING;
    }
    Map<String, Object> source = response.getSourceAsMap();
    return new Found(
        CodebookEntry.ofMap(source),
        (String) source.get(CodebookIndex.DATA),
        response.getSeqNo(),
        response.getPrimaryTerm());
  }

  /** Reads all entries, ordered by name. */
  public void list(ActionListener<List<CodebookEntry>> listener) {
    patiently(listener, this::listNow);
  }

  /** Repeats a read if the index has no readable shard, as happens when it is new. */
  private <T> void patiently(ActionListener<T> listener, Consumer<ActionListener<T>> read) {
    ThreadPool threads = client.threadPool();
    new RetryableAction<T>(
        logger, threads, FIRST_PAUSE, PATIENCE, listener, threads.executor(Names.MANAGEMENT)) {
      @Override
      public void tryAction(ActionListener<T> trial) {
        read.accept(trial);
      }

      @Override
      public boolean shouldRetry(Exception e) {
        return ExceptionsHelper.status(e) == RestStatus.SERVICE_UNAVAILABLE;
      }
    }.run();
  }

  private void listNow(ActionListener<List<CodebookEntry>> listener) {
    SearchSourceBuilder source =
        new SearchSourceBuilder()
            .query(QueryBuilders.matchAllQuery())
            .size(MAX_CODEBOOKS)
            .sort("name")
            .fetchSource(null, CodebookIndex.DATA);
    client.search(
        new SearchRequest(CodebookIndex.NAME).source(source).allowPartialSearchResults(false),
        ActionListener.wrap(
            response -> listener.onResponse(entries(response)),
            e -> {
              if (ExceptionsHelper.unwrapCause(e) instanceof IndexNotFoundException) {
                listener.onResponse(List.of());
              } else {
                listener.onFailure(e);
              }
            }));
  }

  private static List<CodebookEntry> entries(SearchResponse response) {
    List<CodebookEntry> entries = new ArrayList<>();
    for (SearchHit hit : response.getHits()) {
      entries.add(CodebookEntry.ofMap(hit.getSourceAsMap()));
    }
    return entries;
  }

  /**
   * Replaces the entry of a document and keeps its data.
   *
   * @param listener receives the new document
   */
  public void replace(Found before, CodebookEntry entry, ActionListener<Found> listener) {
    write(before, entry, before.data(), listener);
  }

  /**
   * Replaces the entry and the codebook of a document.
   *
   * @param listener receives the new document
   */
  public void replace(
      Found before, CodebookEntry entry, SharedCodebook codebook, ActionListener<Found> listener) {
    write(before, entry, Base64.getEncoder().encodeToString(codebook.toBytes()), listener);
  }

  private void write(
      Found before, CodebookEntry entry, String data, ActionListener<Found> listener) {
    Map<String, Object> source = entry.toMap();
    if (data != null) {
      source.put(CodebookIndex.DATA, data);
    }
    IndexRequest request =
        new IndexRequest(CodebookIndex.NAME)
            .id(entry.name())
            .source(source)
            .setRefreshPolicy(RefreshPolicy.IMMEDIATE);
    if (before.exists()) {
      request.setIfSeqNo(before.seqNo()).setIfPrimaryTerm(before.primaryTerm());
    } else {
      request.opType(DocWriteRequest.OpType.CREATE);
    }
    client.index(
        request,
        listener.map(
            (DocWriteResponse response) ->
                new Found(entry, data, response.getSeqNo(), response.getPrimaryTerm())));
  }

  /** Deletes a document. */
  public void delete(Found found, ActionListener<Void> listener) {
    client.delete(
        new DeleteRequest(CodebookIndex.NAME, found.entry().name())
            .setIfSeqNo(found.seqNo())
            .setIfPrimaryTerm(found.primaryTerm())
            .setRefreshPolicy(RefreshPolicy.IMMEDIATE),
        listener.map(response -> null));
  }
}
