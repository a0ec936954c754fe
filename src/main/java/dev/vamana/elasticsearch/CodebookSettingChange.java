package dev.vamana.elasticsearch;

import java.util.Map;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.admin.indices.settings.put.TransportUpdateSettingsAction;
import org.elasticsearch.action.admin.indices.settings.put.UpdateSettingsRequest;
import org.elasticsearch.action.support.ActionFilterChain;
import org.elasticsearch.action.support.MappedActionFilter;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.cluster.project.ProjectResolver;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.Index;
import org.elasticsearch.tasks.Task;

/**
 * Rejects an update of index settings that gives a closed index codebooks which its fields cannot
 * use, as {@link CodebookSettingCheck} does when an index is created. A request with any other
 * error passes, so that the action itself rejects it.
 */
final class CodebookSettingChange implements MappedActionFilter {
  private final ClusterService cluster;
  private final ProjectResolver projects;
  private final IndexNameExpressionResolver names;
  private final CodebookSettingCheck check;

  /** Makes a filter that compares settings with the mappings in the cluster state. */
  CodebookSettingChange(
      ClusterService cluster,
      ProjectResolver projects,
      IndexNameExpressionResolver names,
      CodebookSettingCheck check) {
    this.cluster = cluster;
    this.projects = projects;
    this.names = names;
    this.check = check;
  }

  @Override
  public String actionName() {
    return TransportUpdateSettingsAction.TYPE.name();
  }

  @Override
  public <Request extends ActionRequest, Response extends ActionResponse> void apply(
      Task task,
      String action,
      Request request,
      ActionListener<Response> listener,
      ActionFilterChain<Request, Response> chain) {
    try {
      if (request instanceof UpdateSettingsRequest update) {
        check(update);
      }
    } catch (CodebookSettingCheck.Refusal e) {
      listener.onFailure(e);
      return;
    }
    chain.proceed(task, action, request, listener);
  }

  private void check(UpdateSettingsRequest update) {
    Map<String, String> codebooks;
    Index[] indices;
    ProjectMetadata project = projects.getProjectMetadata(cluster.state());
    try {
      codebooks =
          CodebookSetting.of(
              Settings.builder().put(update.settings()).normalizePrefix("index.").build());
      indices = codebooks.isEmpty() ? Index.EMPTY_ARRAY : names.concreteIndices(project, update);
    } catch (RuntimeException refusedByTheAction) {
      return;
    }
    for (Index index : indices) {
      IndexMetadata metadata = project.index(index);
      if (metadata != null
          && (metadata.getState() == IndexMetadata.State.CLOSE || update.reopen())) {
        check.check(metadata, codebooks);
      }
    }
  }
}
