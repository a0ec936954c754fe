package dev.vamana.elasticsearch.search.neighbors;

import java.util.List;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.plugins.ActionPlugin.ActionHandler;
import org.elasticsearch.tasks.Task;

/** Lists what the plugin registers for the k-NN graph of an index. */
public final class NeighborsActions {

  private NeighborsActions() {}

  /** The transport actions. */
  public static List<ActionHandler> actions() {
    return List.of(
        new ActionHandler(TransportNeighborsAction.TYPE, TransportNeighborsAction.class));
  }

  /** The named writeables. */
  public static List<NamedWriteableRegistry.Entry> namedWriteables() {
    return List.of(
        new NamedWriteableRegistry.Entry(
            Task.Status.class, NeighborsCounts.NAME, NeighborsCounts::new));
  }
}
