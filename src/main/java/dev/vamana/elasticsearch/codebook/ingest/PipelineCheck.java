package dev.vamana.elasticsearch.codebook.ingest;

import dev.vamana.pq.SharedCodebook;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.ingest.PutPipelineRequest;
import org.elasticsearch.action.ingest.PutPipelineTransportAction;
import org.elasticsearch.action.support.ActionFilterChain;
import org.elasticsearch.action.support.MappedActionFilter;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.tasks.Task;

/**
 * Rejects pipelines whose processors conflict with the processors of stored pipelines, or with the
 * codebooks that are ready. A processor's factory cannot check this: it does not know its pipeline,
 * so it could not distinguish a conflict from a change of the options.
 */
final class PipelineCheck implements MappedActionFilter {
  private final Supplier<ClusterState> state;
  private final Function<String, SharedCodebook> ready;

  /**
   * Makes a check against the pipelines in a cluster state.
   *
   * @param ready returns the codebook with a name that is ready, or null
   */
  PipelineCheck(Supplier<ClusterState> state, Function<String, SharedCodebook> ready) {
    this.state = state;
    this.ready = ready;
  }

  @Override
  public String actionName() {
    return PutPipelineTransportAction.TYPE.name();
  }

  @Override
  public <Request extends ActionRequest, Response extends ActionResponse> void apply(
      Task task,
      String action,
      Request request,
      ActionListener<Response> listener,
      ActionFilterChain<Request, Response> chain) {
    String conflict = null;
    if (request instanceof PutPipelineRequest put) {
      Map<String, Object> pipeline;
      try {
        pipeline = XContentHelper.convertToMap(put.getSource(), false, put.getXContentType()).v2();
      } catch (RuntimeException e) {
        // the action rejects malformed text
        pipeline = Map.of();
      }
      conflict = Pipelines.conflict(state.get(), put.getId(), pipeline, ready);
    }
    if (conflict == null) {
      chain.proceed(task, action, request, listener);
    } else {
      listener.onFailure(new IllegalArgumentException(conflict));
    }
  }
}
