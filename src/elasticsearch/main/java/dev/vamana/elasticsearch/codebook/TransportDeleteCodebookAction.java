package dev.vamana.elasticsearch.codebook;

import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import java.util.ArrayList;
import java.util.List;
import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.action.support.master.AcknowledgedResponse;
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
    extends TransportAction<TransportDeleteCodebookAction.Request, AcknowledgedResponse> {

  /** The action. */
  public static final ActionType<AcknowledgedResponse> TYPE =
      new ActionType<>("cluster:admin/vamana/codebooks/delete");

  private static final String INDEX_SETTING = "index.vamana.codebook.";

  private final ClusterService cluster;
  private final CodebookStore store;
  private final Samples samples;

  /** Deletes a codebook and its samples. */
  static final class Request extends LocalRequest {
    private final String name;
    private final boolean force;

    /**
     * Makes a request.
     *
     * @param force whether to delete the codebook even if indices name it
     */
    Request(String name, boolean force) {
      this.name = name;
      this.force = force;
    }
  }

  /** Called by the node. */
  @Inject
  public TransportDeleteCodebookAction(
      TransportService transport,
      ActionFilters filters,
      ThreadPool threads,
      ClusterService cluster,
      CodebookStore store,
      Samples samples) {
    super(
        TYPE.name(),
        filters,
        transport.getTaskManager(),
        threads.executor(ThreadPool.Names.MANAGEMENT));
    this.cluster = cluster;
    this.store = store;
    this.samples = samples;
  }

  @Override
  protected void doExecute(
      Task task, Request request, ActionListener<AcknowledgedResponse> listener) {
    store.find(
        request.name,
        listener.delegateFailureAndWrap(
            (l, found) -> {
              if (!found.exists() && samples.wanted(request.name) == null) {
                throw TransportGetCodebooksAction.unknown(request.name);
              }
              if (!request.force) {
                refuseIfUsed(request.name);
              }
              store.delete(found, l.map(done -> AcknowledgedResponse.TRUE));
            }));
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
