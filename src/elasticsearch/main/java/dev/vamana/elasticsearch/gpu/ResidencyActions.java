package dev.vamana.elasticsearch.gpu;

import java.util.List;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.rest.RestHandler;

/** Lists what the plugin registers for warm-up and clearing of the device. */
public final class ResidencyActions {

  private ResidencyActions() {}

  /** The transport actions. */
  public static List<ActionPlugin.ActionHandler> actions() {
    return List.of(
        new ActionPlugin.ActionHandler(TransportWarmupAction.TYPE, TransportWarmupAction.class),
        new ActionPlugin.ActionHandler(
            TransportClearCacheAction.TYPE, TransportClearCacheAction.class));
  }

  /** The REST handlers. */
  public static List<RestHandler> restHandlers() {
    return List.of(
        new RestWarmupAction(),
        new RestShardsAction<>(
            "clear_cache", TransportClearCacheAction.TYPE, ClearCacheRequest::new));
  }
}
