package dev.vamana.elasticsearch.index;

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
 * Rejects an update of index settings that gives a closed index settings which do not fit its
 * mapping or have no effect, as {@link NewIndexCheck} does when an index is created. A request with
 * any other error passes, so that the action itself rejects it.
 */
public final class IndexSettingChange implements MappedActionFilter {
  private final ClusterService cluster;
  private final ProjectResolver projects;
  private final IndexNameExpressionResolver names;
  private final CodebookSettingCheck codebooks;
  private final OptInCheck optIn;

  /** Makes a filter that compares settings with the mappings in the cluster state. */
  public IndexSettingChange(
      ClusterService cluster,
      ProjectResolver projects,
      IndexNameExpressionResolver names,
      CodebookSettingCheck codebooks,
      OptInCheck optIn) {
    this.cluster = cluster;
    this.projects = projects;
    this.names = names;
    this.codebooks = codebooks;
    this.optIn = optIn;
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
      listener.onFailure(e.plain());
      return;
    } catch (NoEffect e) {
      listener.onFailure(new IllegalArgumentException(e.getMessage()));
      return;
    }
    chain.proceed(task, action, request, listener);
  }

  /** A setting that has no effect. */
  private static final class NoEffect extends RuntimeException {
    private static final long serialVersionUID = 1;

    NoEffect(String message) {
      super(message);
    }
  }

  private void check(UpdateSettingsRequest update) {
    Map<String, String> named;
    Settings changed;
    Index[] indices;
    ProjectMetadata project = projects.getProjectMetadata(cluster.state());
    try {
      changed = Settings.builder().put(update.settings()).normalizePrefix("index.").build();
      named = CodebookSetting.of(changed);
      indices =
          changed.getByPrefix(VamanaSettings.PREFIX).isEmpty()
              ? Index.EMPTY_ARRAY
              : names.concreteIndices(project, update);
      VamanaSettings.ENABLED.get(changed);
    } catch (RuntimeException refusedByTheAction) {
      return;
    }
    for (Index index : indices) {
      IndexMetadata metadata = project.index(index);
      if (metadata != null
          && (metadata.getState() == IndexMetadata.State.CLOSE || update.reopen())) {
        if (named.isEmpty() == false) {
          codebooks.check(metadata, named);
        }
        optIn.check(metadata, changed).ifPresent(IndexSettingChange::refuse);
        // many indices may be opted in at once, also if some have no field for it
        if (indices.length == 1) {
          optIn.checkFields(metadata, changed).ifPresent(IndexSettingChange::refuse);
        }
      }
    }
  }

  private static void refuse(String reason) {
    throw new NoEffect(reason);
  }
}
