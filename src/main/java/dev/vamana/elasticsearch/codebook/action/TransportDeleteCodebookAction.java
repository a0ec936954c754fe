package dev.vamana.elasticsearch.codebook.action;

import dev.vamana.elasticsearch.codebook.store.CodebookIndex;
import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import dev.vamana.elasticsearch.codebook.train.Trainer;
import java.util.ArrayList;
import java.util.List;
import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.master.AcknowledgedResponse;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.OriginSettingClient;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Deletes a codebook, its samples, and the copies in the nodes' memory. */
public final class TransportDeleteCodebookAction
    extends CodebookAction<DeleteCodebookRequest, AcknowledgedResponse> {

  /** The action. */
  public static final ActionType<AcknowledgedResponse> TYPE =
      new ActionType<>("cluster:admin/vamana/codebooks/delete");

  private static final String INDEX_SETTING = "index.vamana.codebook.";

  private final ClusterService cluster;
  private final Client client;

  /** Called by the node. */
  @Inject
  public TransportDeleteCodebookAction(
      TransportService transport,
      ActionFilters filters,
      ThreadPool threads,
      ClusterService cluster,
      Client client,
      CodebookStore store,
      Trainer trainer) {
    super(TYPE, transport, filters, threads, DeleteCodebookRequest::new, store, trainer);
    this.cluster = cluster;
    this.client = new OriginSettingClient(client, CodebookIndex.ORIGIN);
  }

  @Override
  protected void doExecute(
      Task task, DeleteCodebookRequest request, ActionListener<AcknowledgedResponse> listener) {
    String name = request.name();
    Samplings.of(
        client,
        cluster.state(),
        listener.delegateFailureAndWrap(
            (l, samples) ->
                store()
                    .find(
                        name,
                        l.delegateFailureAndWrap(
                            (next, found) -> {
                              if (!found.exists() && !samples.containsKey(name)) {
                                throw TransportGetCodebooksAction.unknown(name);
                              }
                              if (!request.force()) {
                                refuseIfUsed(name);
                              }
                              delete(name, found, next);
                            }))));
  }

  private void delete(
      String name, CodebookStore.Found found, ActionListener<AcknowledgedResponse> listener) {
    ActionListener<Void> gone =
        listener.delegateFailureAndWrap(
            (l, none) -> trainer().reload(name, l.map(done -> AcknowledgedResponse.TRUE)));
    if (found.exists()) {
      store().delete(found, gone);
    } else {
      gone.onResponse(null);
    }
  }

  private void refuseIfUsed(String name) {
    List<String> indices = new ArrayList<>();
    for (IndexMetadata index : cluster.state().metadata().indicesAllProjects()) {
      Settings fields = index.getSettings().getByPrefix(INDEX_SETTING);
      if (fields.keySet().stream().anyMatch(field -> name.equals(fields.get(field)))) {
        indices.add(index.getIndex().getName());
      }
    }
    if (!indices.isEmpty()) {
      throw new ElasticsearchStatusException(
          "codebook ["
              + name
              + "] is named by the settings ["
              + INDEX_SETTING
              + "*] of indices "
              + indices
              + "; [force=true] deletes it anyway",
          RestStatus.CONFLICT);
    }
  }
}
