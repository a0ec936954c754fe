package dev.vamana.elasticsearch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.RegisteredPages;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.HostKernels;
import dev.vamana.cuda.kernel.HostLibrary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
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

/**
 * Our plugin on a machine whose two GPUs are simulated: their kernels run on the CPU, out of a
 * library that lies in the plugin's folder.
 */
public final class SimulatedGpuPlugin extends Plugin
    implements EnginePlugin, ActionPlugin, CircuitBreakerPlugin {
  static final String LIBRARY = "libvamana-host.so";
  private static final long DEVICE_BYTES = 1L << 28;

  private final VamanaPlugin plugin;
  private final CopyGate gate = new CopyGate();
  private Path library;

  /** Called by the node. */
  public SimulatedGpuPlugin(Settings settings) {
    plugin = new VamanaPlugin(settings, environment -> new CudaDevices(new Simulated()));
  }

  /** A machine of two devices. */
  private final class Simulated implements CudaDevices.Machine {
    private final RegisteredPages pages = new RegisteredPages();

    @Override
    public List<Integer> find(GpuSettings settings) {
      return settings.devices().equals(List.of("all"))
          ? List.of(0, 1)
          : settings.devices().stream().map(Integer::valueOf).toList();
    }

    @Override
    public Supplier<CudaDriver> drivers(GpuSettings settings, int ordinal) {
      return () -> {
        HostKernels kernels = HostKernels.of(HostLibrary.load(library));
        return gate.before(new SimulatedDriver(kernels, DEVICE_BYTES, true).in(pages, ordinal));
      };
    }
  }

  @Override
  public Collection<?> createComponents(PluginServices services) {
    library = services.environment().pluginsDir().resolve("vamana").resolve(LIBRARY);
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
    List<RestHandler> handlers = new ArrayList<>(plugin.getRestHandlers(services, nodes, features));
    handlers.add(gate.handler());
    return handlers;
  }

  @Override
  public void close() throws IOException {
    gate.open();
    plugin.close();
  }
}
