package dev.vamana.elasticsearch.codebook.store;

import dev.vamana.pq.SharedCodebook;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.DocWriteRequest;
import org.elasticsearch.action.delete.DeleteRequest;
import org.elasticsearch.action.get.GetRequest;
import org.elasticsearch.action.get.GetResponse;
import org.elasticsearch.action.index.IndexRequest;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.support.RetryableAction;
import org.elasticsearch.action.support.WriteRequest.RefreshPolicy;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.OriginSettingClient;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.IndexNotFoundException;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.threadpool.ThreadPool.Names;
import org.elasticsearch.xcontent.XContentType;

/**
 * Reads and writes codebooks. Every write names the version that it replaces. If two writers have
 * read the same version, only one succeeds, and the other gets Elasticsearch's version conflict.
 * After a write all nodes read the codebook again.
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
   * @param entry the entry; one without a version if there is no document
   * @param data the bytes of the codebook in Base64, or null if it has none
   * @param seqNo sequence number of the document, for the write that replaces it; negative if there
   *     is no document
   * @param primaryTerm primary term of the document, for the write that replaces it
   */
  public record Found(CodebookEntry entry, String data, long seqNo, long primaryTerm) {
    private static Found nothing(String name) {
      return new Found(CodebookEntry.none(name), null, -1, 0);
    }

    /** Whether there is a document. */
    public boolean exists() {
      return seqNo >= 0;
    }

    /** Decodes the codebook; returns null if none is ready. */
    SharedCodebook codebook() {
      return data == null ? null : SharedCodebook.fromBytes(Base64.getDecoder().decode(data));
    }
  }

  /** Reads one codebook; sees the latest write. */
  public void find(String name, ActionListener<Found> listener) {
    patiently(
        listener,
        Found.nothing(name),
        l ->
            client.get(
                new GetRequest(CodebookIndex.NAME, name),
                l.map(response -> response.isExists() ? found(response) : Found.nothing(name))));
  }

  private static Found found(GetResponse response) {
    Map<String, Object> source = ordered(response.getSourceInternal());
    return new Found(
        entry(source),
        (String) source.get(CodebookIndex.DATA),
        response.getSeqNo(),
        response.getPrimaryTerm());
  }

  private static Map<String, Object> ordered(BytesReference source) {
    return XContentHelper.convertToMap(source, true, XContentType.JSON).v2();
  }

  @SuppressWarnings("unchecked")
  private static CodebookEntry entry(Map<String, Object> source) {
    return new CodebookEntry((Map<String, Object>) source.get(CodebookIndex.ENTRY));
  }

  /** Reads all entries, in no order. */
  public void list(ActionListener<List<CodebookEntry>> listener) {
    SearchSourceBuilder source =
        new SearchSourceBuilder().size(MAX_CODEBOOKS).fetchSource(null, CodebookIndex.DATA);
    SearchRequest request =
        new SearchRequest(CodebookIndex.NAME).source(source).allowPartialSearchResults(false);
    patiently(
        listener,
        List.of(),
        l ->
            client.search(
                request,
                l.map(
                    response ->
                        Arrays.stream(response.getHits().getHits())
                            .map(hit -> entry(ordered(hit.getSourceRef())))
                            .toList())));
  }

  /**
   * Repeats a read if the index has no readable shard, as happens when it is new.
   *
   * @param none the result if there is no index
   */
  private <T> void patiently(ActionListener<T> listener, T none, Consumer<ActionListener<T>> read) {
    ThreadPool threads = client.threadPool();
    ActionListener<T> orNone =
        listener.delegateResponse(
            (l, e) -> {
              if (ExceptionsHelper.unwrapCause(e) instanceof IndexNotFoundException) {
                l.onResponse(none);
              } else {
                l.onFailure(e);
              }
            });
    new RetryableAction<T>(
        logger, threads, FIRST_PAUSE, PATIENCE, orNone, threads.executor(Names.MANAGEMENT)) {
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

  /**
   * Writes a document.
   *
   * @param before what it replaces
   * @param codebook the new codebook, or null to keep the present one
   * @param listener receives the new document once all nodes have read it
   */
  public void write(
      Found before, CodebookEntry entry, SharedCodebook codebook, ActionListener<Found> listener) {
    String data =
        codebook == null ? before.data() : Base64.getEncoder().encodeToString(codebook.toBytes());
    Map<String, Object> source =
        data == null
            ? Map.of(CodebookIndex.ENTRY, entry.stored())
            : Map.of(CodebookIndex.ENTRY, entry.stored(), CodebookIndex.DATA, data);
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
        listener.delegateFailureAndWrap(
            (l, response) -> {
              Found written =
                  new Found(entry, data, response.getSeqNo(), response.getPrimaryTerm());
              reload(entry.name(), l.map(done -> written));
            }));
  }

  /** Deletes a document, if there is one; the listener is called once all nodes know. */
  public void delete(Found found, ActionListener<Void> listener) {
    String name = found.entry().name();
    if (!found.exists()) {
      reload(name, listener);
      return;
    }
    client.delete(
        new DeleteRequest(CodebookIndex.NAME, name)
            .setIfSeqNo(found.seqNo())
            .setIfPrimaryTerm(found.primaryTerm())
            .setRefreshPolicy(RefreshPolicy.IMMEDIATE),
        listener.delegateFailureAndWrap((l, response) -> reload(name, l)));
  }

  /** Makes all nodes read a codebook. A node that cannot be reached reads it when it is back. */
  private void reload(String name, ActionListener<Void> listener) {
    client.execute(
        ReloadCodebookAction.TYPE,
        new ReloadCodebookAction.Request(name),
        ActionListener.wrap(
            response -> {
              response
                  .failures()
                  .forEach(e -> logger.warn("a node could not load codebook [" + name + "]", e));
              listener.onResponse(null);
            },
            e -> {
              logger.warn("could not notify the nodes of codebook [" + name + "]", e);
              listener.onResponse(null);
            }));
  }
}
