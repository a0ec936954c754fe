package dev.vamana.elasticsearch;

import dev.vamana.elasticsearch.gpu.NodeExecutor;
import dev.vamana.elasticsearch.monitor.recall.AnsweredItems;
import dev.vamana.elasticsearch.monitor.recall.RecallMonitor;
import dev.vamana.elasticsearch.monitor.recall.RecallSettings;
import dev.vamana.elasticsearch.monitor.stats.Counters;
import dev.vamana.search.ExecutorRegistry;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadPoolExecutor;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.threadpool.ThreadPool;

/** Makes the node's {@link RecallMonitor} out of its threads, settings and counters. */
final class NodeRecall {
  /** The node is idle if no more than one of so many search threads is at work. */
  private static final int IDLE_SHARE = 4;

  private NodeRecall() {}

  static RecallMonitor start(
      ThreadPool threads, Settings node, ClusterSettings settings, NodeExecutor executor) {
    RecallMonitor monitor =
        new RecallMonitor(
            threads,
            () -> idle(threads),
            () -> answered(executor),
            RecallSettings.MAX_LOAD.get(node));
    settings.addSettingsUpdateConsumer(RecallSettings.MAX_LOAD, monitor::maxLoad);
    return monitor;
  }

  private static boolean idle(ThreadPool threads) {
    return threads.executor(ThreadPool.Names.SEARCH) instanceof ThreadPoolExecutor search
        && search.getQueue().isEmpty()
        && search.getActiveCount() <= search.getMaximumPoolSize() / IDLE_SHARE;
  }

  private static AnsweredItems answered(NodeExecutor executor) {
    Counters items = executor.gpu().executor(ExecutorRegistry.cpuSearches()).items();
    Map<String, Long> by = new TreeMap<>(items.groups().get("by_placement").values());
    items.groups().get("on_cpu").values().forEach((why, count) -> by.put("cpu." + why, count));
    return new AnsweredItems(items.values().get("requested"), by);
  }
}
