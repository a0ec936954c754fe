package dev.vamana.tools.gpu;

import dev.vamana.graph.GraphEngine;
import dev.vamana.pq.PqEngine;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.List;

/**
 * An executor whose graphs the device has to build: where it declines, the merge fails, since the
 * CPU would take hours.
 *
 * @param executor answers everything else
 */
record DeviceOnly(SearchExecutor executor) implements SearchExecutor {

  @Override
  public String name() {
    return executor.name();
  }

  @Override
  public List<WorkResult> search(List<WorkItem> batch) throws IOException {
    return executor.search(batch);
  }

  @Override
  public void opened(SegmentView segment) {
    executor.opened(segment);
  }

  @Override
  public void closing(SegmentView segment) {
    executor.closing(segment);
  }

  @Override
  public PqEngine quantizer() {
    return executor.quantizer();
  }

  @Override
  public GraphEngine graphs() {
    GraphEngine engine = executor.graphs();
    return task -> {
      var graph = engine.build(task);
      if (graph == null) {
        throw new IOException("the device declined a graph of " + task.size() + " vectors");
      }
      return graph;
    };
  }

  @Override
  public void close() throws IOException {
    executor.close();
  }
}
