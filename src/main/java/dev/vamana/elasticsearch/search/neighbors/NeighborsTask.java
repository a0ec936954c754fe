package dev.vamana.elasticsearch.search.neighbors;

import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.TaskId;

/** A run over an index. It can be cancelled and reports how far it has come. */
public final class NeighborsTask extends CancellableTask {

  private final AtomicReference<NeighborsCounts> counts =
      new AtomicReference<>(NeighborsCounts.NONE);

  NeighborsTask(
      long id,
      String type,
      String action,
      String description,
      TaskId parent,
      Map<String, String> headers) {
    super(id, type, action, description, parent, headers);
  }

  /** Changes the counts. */
  void count(UnaryOperator<NeighborsCounts> change) {
    counts.updateAndGet(change);
  }

  @Override
  public NeighborsCounts getStatus() {
    return counts.get();
  }
}
