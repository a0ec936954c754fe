package dev.vamana.tools.gpu.node;

import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * Turns that are not measured, in which a node with a GPU finds out who answers a load faster. They
 * are as long as the measured ones, so that their loads are the same.
 */
final class LearningTurns {

  /**
   * Turns in a row that have no trial: then the node knows this load, and loads near to it. A trial
   * that was disturbed begins again after a second.
   */
  private static final int QUIET = 5;

  /** Turns after which a node that still compares is left to it. */
  private static final int MOST = 25;

  /** Windows outside of trials of a turn without one. The first of a turn only tells the load. */
  private static final int LEAST_WINDOWS = 2;

  private LearningTurns() {}

  /** Takes turns until the node compares no more, or has no answers to compare. */
  static void take(
      RunningNode node, RestClients clients, List<byte[]> requests, double secondsOfATurn)
      throws IOException {
    GpuCounters before = GpuCounters.of(node);
    int quiet = 0;
    for (int turn = 0; turn < MOST && quiet < QUIET; turn++) {
      clients.run(requests, secondsOfATurn);
      GpuCounters after = GpuCounters.of(node);
      quiet = isQuiet(after, before) ? quiet + 1 : 0;
      before = after;
    }
  }

  /** Whether a turn between two states had no trial, nor a part of one. */
  static boolean isQuiet(GpuCounters after, GpuCounters before) {
    Map<String, Long> contested = after.since(before, "contested");
    boolean compared = contested.containsKey("watched_in_micros");
    Map<String, Long> windows = after.since(before, "contested_windows");
    return compared == false
        || (GpuCounters.sum(windows) >= LEAST_WINDOWS
            // the cost model answers loads that are not known
            && windows.keySet().stream().noneMatch(name -> name.startsWith("model"))
            && contested.containsKey("trials") == false
            && contested.containsKey("changes") == false
            && contested.containsKey("disturbed") == false
            && contested.containsKey("explored_in_micros") == false);
  }
}
