package dev.vamana.elasticsearch.search;

import dev.vamana.elasticsearch.search.neighbors.TransportNeighborsAction;
import dev.vamana.elasticsearch.search.neighbors.TransportRethrottleAction;
import java.util.List;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.plugins.ActionPlugin.ActionHandler;
import org.elasticsearch.tasks.Task;

/** Lists what the plugin registers for batched searches and neighbours. */
public final class SearchActions {

  private SearchActions() {}

  /** The transport actions. */
  public static List<ActionHandler> actions() {
    return List.of(
        new ActionHandler(TransportBatchSearchAction.TYPE, TransportBatchSearchAction.class),
        new ActionHandler(TransportNeighborsAction.TYPE, TransportNeighborsAction.class),
        new ActionHandler(TransportRethrottleAction.TYPE, TransportRethrottleAction.class));
  }

  /** The named writeables. */
  public static List<NamedWriteableRegistry.Entry> namedWriteables() {
    return List.of(
        new NamedWriteableRegistry.Entry(
            Task.Status.class, BatchSearchTask.Progress.NAME, BatchSearchTask.Progress::read));
  }
}
