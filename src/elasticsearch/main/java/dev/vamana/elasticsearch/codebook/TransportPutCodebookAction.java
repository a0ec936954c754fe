package dev.vamana.elasticsearch.codebook;

import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import dev.vamana.elasticsearch.codebook.train.Trainer;
import dev.vamana.pq.SharedCodebook;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.action.support.master.AcknowledgedResponse;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.XContentType;

/** Stores an imported codebook as the next version of its name. */
public final class TransportPutCodebookAction
    extends TransportAction<TransportPutCodebookAction.Request, AcknowledgedResponse> {

  /** The action. */
  public static final ActionType<AcknowledgedResponse> TYPE =
      new ActionType<>("cluster:admin/vamana/codebooks/put");

  private final ThreadPool threads;
  private final CodebookStore store;
  private final Trainer trainer;

  /** Stores a codebook that was trained elsewhere. */
  static final class Request extends LocalRequest {
    private final String name;
    private final BytesReference body;
    private final XContentType type;

    /**
     * Makes a request.
     *
     * @param body the body as it came, which may be large; the sender keeps it until the answer
     */
    Request(String name, BytesReference body, XContentType type) {
      this.name = name;
      this.body = body;
      this.type = type;
    }
  }

  /** Called by the node. */
  @Inject
  public TransportPutCodebookAction(
      TransportService transport,
      ActionFilters filters,
      ThreadPool threads,
      CodebookStore store,
      Trainer trainer) {
    super(
        TYPE.name(),
        filters,
        transport.getTaskManager(),
        threads.executor(ThreadPool.Names.MANAGEMENT));
    this.threads = threads;
    this.store = store;
    this.trainer = trainer;
  }

  @Override
  protected void doExecute(
      Task task, Request request, ActionListener<AcknowledgedResponse> listener) {
    String name = request.name;
    CodebookBody.Given given = read(request);
    SharedCodebook first = given.codebook();
    store.find(
        name,
        listener.delegateFailureAndWrap(
            (l, found) -> {
              if (trainer.trains(found.entry())) {
                throw new ElasticsearchStatusException(
                    "codebook [" + name + "] is being trained", RestStatus.CONFLICT);
              }
              found.entry().requireFit(given.space());
              int version = Math.addExact(found.entry().version(), 1);
              SharedCodebook codebook =
                  new SharedCodebook(
                      name, version, first.codebook(), first.similarity(), first.training());
              CodebookEntry entry =
                  CodebookEntry.ready(
                      codebook, given.space().similarity(), threads.absoluteTimeInMillis());
              store.write(found, entry, codebook, l.map(stored -> AcknowledgedResponse.TRUE));
            }));
  }

  private static CodebookBody.Given read(Request request) {
    try (XContentParser body =
        XContentHelper.createParserNotCompressed(
            XContentParserConfiguration.EMPTY, request.body, request.type)) {
      return CodebookBody.read(request.name, body);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
