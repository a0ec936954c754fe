package dev.vamana.cuda.session;

import dev.vamana.cuda.build.BuiltRows;
import dev.vamana.cuda.build.DeviceBuilder;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.graph.GraphEngine;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import java.io.IOException;

/**
 * Builds graphs on the device. It leaves to the CPU graphs that are too small to gain from the
 * device or that it does not support, and builds that failed.
 */
public final class GpuGraphs implements GraphEngine {

  private final SessionKeeper keeper;
  private final GraphCounters counters;
  private final int leastNodes;

  /**
   * Makes an engine.
   *
   * @param leastNodes least number of vectors for the device
   */
  public GpuGraphs(SessionKeeper keeper, GraphCounters counters, int leastNodes) {
    this.keeper = keeper;
    this.counters = counters;
    this.leastNodes = leastNodes;
  }

  @Override
  public VamanaGraph build(GraphTask task) throws IOException {
    GpuSession session = counters.enter(keeper, task.size() >= leastNodes);
    if (session == null) {
      return null;
    }
    // closings and recovery wait for users of the session, so the CPU's parts are outside
    session.exit();
    if (DeviceBuilder.supports(task) == false) {
      counters.unsupported.increment();
      return null;
    }
    long start = System.nanoTime();
    GraphTask trusted = task.withAbort(session.whileTrusted(task.abort()));
    try (BuiltRows rows = BuiltRows.begin(trusted)) {
      if (onDevice(session, trusted, rows) == false) {
        return null;
      }
      VamanaGraph graph = rows.finish();
      if (session.distrusted()) {
        graph.close();
        counters.failed.increment();
        return null;
      }
      counters.graphs.increment();
      counters.nodes.add(task.size());
      counters.nanos.add(System.nanoTime() - start);
      return graph;
    } catch (GpuException e) {
      // the session was found to answer wrong while the CPU did its part
      counters.failed.increment();
      return null;
    }
  }

  /** Builds rows inside the session. Returns false if the CPU has to build the graph. */
  private boolean onDevice(GpuSession session, GraphTask task, BuiltRows rows) throws IOException {
    if (session.enter() == false) {
      counters.failed.increment();
      return false;
    }
    try {
      session.builder.build(task, rows);
      return true;
    } catch (GpuException e) {
      counters.failed(keeper, session, e);
      return false;
    } finally {
      session.exit();
    }
  }
}
