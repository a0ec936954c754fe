package dev.vamana.elasticsearch;

import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.admin.cluster.settings.ClusterUpdateSettingsAction;
import org.elasticsearch.action.admin.cluster.settings.ClusterUpdateSettingsRequest;
import org.elasticsearch.action.support.ActionFilterChain;
import org.elasticsearch.action.support.MappedActionFilter;
import org.elasticsearch.common.logging.HeaderWarning;
import org.elasticsearch.tasks.Task;

/**
 * Adds the warning about a deprecated placement to the response of the request that sets it. The
 * master node reads new settings on a thread of its own, where no response takes warnings.
 */
final class PlacementChange implements MappedActionFilter {

  @Override
  public String actionName() {
    return ClusterUpdateSettingsAction.NAME;
  }

  @Override
  public <Request extends ActionRequest, Response extends ActionResponse> void apply(
      Task task,
      String action,
      Request request,
      ActionListener<Response> listener,
      ActionFilterChain<Request, Response> chain) {
    if (request instanceof ClusterUpdateSettingsRequest update) {
      String placement = update.persistentSettings().get(PlacementSettings.PLACEMENT.getKey());
      String warning = placement == null ? null : PlacementSettings.warning(placement);
      if (warning != null) {
        HeaderWarning.addWarning("{}", warning);
      }
    }
    chain.proceed(task, action, request, listener);
  }
}
