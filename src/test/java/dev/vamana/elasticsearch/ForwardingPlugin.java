package dev.vamana.elasticsearch;

import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
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

/** Our plugin, of which a subclass changes parts. */
abstract class ForwardingPlugin extends Plugin
    implements EnginePlugin, ActionPlugin, CircuitBreakerPlugin {

  private final VamanaPlugin plugin;

  ForwardingPlugin(VamanaPlugin plugin) {
    this.plugin = plugin;
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
