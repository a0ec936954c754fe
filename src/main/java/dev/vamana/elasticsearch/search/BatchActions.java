package dev.vamana.elasticsearch.search;

import java.util.List;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.plugins.ActionPlugin.ActionHandler;
import org.elasticsearch.tasks.Task;

/** Lists what the plugin registers for batched searches. */
public final class BatchActions {

  private BatchActions() {}

  /** The transport actions. */
  public static List<ActionHandler> actions() {
    return List.of(
        new ActionHandler(TransportBatchSearchAction.TYPE, TransportBatchSearchAction.class));
  }

  /** The named writeables. */
  public static List<NamedWriteableRegistry.Entry> namedWriteables() {
    return List.of(
        new NamedWriteableRegistry.Entry(
            Task.Status.class, BatchSearchTask.Progress.NAME, BatchSearchTask.Progress::new));
  }
}
