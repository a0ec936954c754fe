package dev.vamana.elasticsearch;

import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.elasticsearch.notices.NodeNotices;
import dev.vamana.elasticsearch.stats.DeviceStats;
import dev.vamana.elasticsearch.stats.GpuStats;
import dev.vamana.elasticsearch.stats.StateStats;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.engine.EngineFactory;
import org.elasticsearch.indices.breaker.BreakerSettings;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.CircuitBreakerPlugin;
import org.elasticsearch.plugins.EnginePlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.threadpool.ExecutorBuilder;

/**
 * Our plugin with an executor that answers at once, with hits drawn at random. What a batched
 * search then costs is everything but the search; see {@link HttpCost}.
 */
public final class CannedHitsPlugin extends Plugin
    implements EnginePlugin, ActionPlugin, CircuitBreakerPlugin {
  private final VamanaPlugin plugin;

  /** Called by the node. */
  public CannedHitsPlugin(Settings settings) {
    plugin = new VamanaPlugin(settings, environment -> new CannedDevices());
  }

  private static final class CannedDevices implements GpuDevices {
    @Override
    public SearchExecutor open(
        GpuSettings settings, NodeNotices notices, HostMemoryAccount account, Workers workers) {
      return new CannedExecutor();
    }

    @Override
    public void adjust(SearchExecutor executor, GpuSettings settings) {}

    @Override
    public GpuStats stats(SearchExecutor executor, GpuMode mode) {
      return GpuStats.without(mode.settingName(), StateStats.State.UNAVAILABLE, "canned hits");
    }

    @Override
    public DeviceStats device(SearchExecutor executor) {
      return null;
    }

    @Override
    public void close() {}
  }

  private static final class CannedExecutor implements SearchExecutor {
    @Override
    public String name() {
      return "canned hits";
    }

    @Override
    public List<WorkResult> search(List<WorkItem> batch) {
      SplittableRandom random = new SplittableRandom(ThreadLocalRandom.current().nextLong());
      List<WorkResult> results = new ArrayList<>(batch.size());
      for (WorkItem item : batch) {
        int[] ordinals = new int[Math.min(item.k(), item.segment().size())];
        float[] scores = new float[ordinals.length];
        float score = 1;
        for (int i = 0; i < ordinals.length; i++) {
          ordinals[i] = random.nextInt(item.segment().size());
          score *= 0.9f + 0.1f * (float) random.nextDouble();
          scores[i] = score;
        }
        results.add(new WorkResult(ordinals, scores, ordinals.length, true));
      }
      return results;
    }

    @Override
    public void close() {}
  }

  @Override
  public Collection<?> createComponents(PluginServices services) {
    return plugin.createComponents(services);
  }

  @Override
  public void onIndexModule(IndexModule module) {
    plugin.onIndexModule(module);
  }

  @Override
  public BreakerSettings getCircuitBreaker(Settings settings) {
    return plugin.getCircuitBreaker(settings);
  }

  @Override
  public void setCircuitBreaker(CircuitBreaker breaker) {
    plugin.setCircuitBreaker(breaker);
  }

  @Override
  public List<Setting<?>> getSettings() {
    return plugin.getSettings();
  }

  @Override
  public List<ExecutorBuilder<?>> getExecutorBuilders(Settings settings) {
    return plugin.getExecutorBuilders(settings);
  }

  @Override
  public Optional<EngineFactory> getEngineFactory(IndexSettings indexSettings) {
    return plugin.getEngineFactory(indexSettings);
  }

  @Override
  public Collection<ActionHandler> getActions() {
    return plugin.getActions();
  }

  @Override
  public Collection<RestHandler> getRestHandlers(
      RestHandlersServices services,
      Supplier<DiscoveryNodes> nodes,
      Predicate<NodeFeature> features) {
    return plugin.getRestHandlers(services, nodes, features);
  }

  @Override
  public void close() throws IOException {
    plugin.close();
  }
}
