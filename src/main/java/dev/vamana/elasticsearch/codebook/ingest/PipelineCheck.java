package dev.vamana.elasticsearch.codebook.ingest;

import java.util.Map;
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
 * Refuses pipelines whose processors contradict those of stored ones. A processor's factory cannot:
 * it does not know for which pipeline it works, so that a change of options would look to it like a
 * contradiction.
 */
final class PipelineCheck implements MappedActionFilter {
  private final Supplier<ClusterState> state;

  /** Compares with the pipelines of a cluster state. */
  PipelineCheck(Supplier<ClusterState> state) {
    this.state = state;
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
        // Text that cannot be read is refused further on.
        pipeline = Map.of();
      }
      conflict = Pipelines.conflict(state.get(), put.getId(), pipeline);
    }
    if (conflict == null) {
      chain.proceed(task, action, request, listener);
    } else {
      listener.onFailure(new IllegalArgumentException(conflict));
    }
  }
}
