package dev.vamana.elasticsearch.residency;

import java.util.List;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.rest.RestHandler;

/** What this package adds to the node's actions. */
public final class ResidencyActions {

  private ResidencyActions() {}

  /** Transport actions. */
  public static List<ActionPlugin.ActionHandler> actions() {
    return List.of(
        new ActionPlugin.ActionHandler(TransportWarmupAction.TYPE, TransportWarmupAction.class),
        new ActionPlugin.ActionHandler(
            TransportClearCacheAction.TYPE, TransportClearCacheAction.class));
  }

  /** REST handlers. */
  public static List<RestHandler> restHandlers() {
    return List.of(
        new RestWarmupAction(),
        new RestShardsAction<>(
            "clear_cache", TransportClearCacheAction.TYPE, ClearCacheRequest::new));
  }
}
