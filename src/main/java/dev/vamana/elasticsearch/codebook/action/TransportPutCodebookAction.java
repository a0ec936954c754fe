package dev.vamana.elasticsearch.codebook.action;

import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import dev.vamana.elasticsearch.codebook.store.CodebookUsers;
import dev.vamana.elasticsearch.codebook.train.Trainer;
import dev.vamana.pq.SharedCodebook;
import java.util.List;
import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Stores an imported codebook as the next version of its name. */
public final class TransportPutCodebookAction
    extends CodebookAction<PutCodebookRequest, CodebooksResponse> {

  /** The action. */
  public static final ActionType<CodebooksResponse> TYPE =
      new ActionType<>("cluster:admin/vamana/codebooks/put");

  private final ThreadPool threads;
  private final CodebookUsers users;

  /** Called by the node. */
  @Inject
  public TransportPutCodebookAction(
      TransportService transport,
      ActionFilters filters,
      ThreadPool threads,
      CodebookStore store,
      CodebookUsers users,
      Trainer trainer) {
    super(TYPE, transport, filters, threads, PutCodebookRequest::new, store, trainer);
    this.threads = threads;
    this.users = users;
  }

  @Override
  protected void doExecute(
      Task task, PutCodebookRequest request, ActionListener<CodebooksResponse> listener) {
    SharedCodebook given = request.codebook();
    String name = given.name();
    if (!request.force()) {
      users.requireFit(
          name,
          new VectorSpace(given.dimension(), request.similarity()),
          "store it under another name, or anyway with [force=true]");
    }
    store()
        .find(
            name,
            listener.delegateFailureAndWrap(
                (l, found) -> {
                  if (found.exists() && trainer().claimed(found.entry())) {
                    throw new ElasticsearchStatusException(
                        "codebook [" + name + "] is being trained", RestStatus.CONFLICT);
                  }
                  int version = found.exists() ? found.entry().nextVersion() : 1;
                  SharedCodebook codebook =
                      new SharedCodebook(
                          name, version, given.codebook(), given.similarity(), given.training());
                  CodebookEntry entry =
                      CodebookEntry.ready(
                          codebook, request.similarity(), threads.absoluteTimeInMillis());
                  store()
                      .replace(
                          found,
                          entry,
                          codebook,
                          l.delegateFailureAndWrap(
                              (next, stored) ->
                                  trainer().reload(name, next.map(done -> answer(entry)))));
                }));
  }

  private static CodebooksResponse answer(CodebookEntry entry) {
    return new CodebooksResponse(List.of(CodebookView.of(entry.name(), entry, false, null, null)));
  }
}
