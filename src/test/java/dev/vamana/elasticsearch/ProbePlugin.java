package dev.vamana.elasticsearch;

import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.engine.EngineFactory;
import org.elasticsearch.indices.IndicesService;
import org.elasticsearch.plugins.ActionPlugin;
import org.elasticsearch.plugins.EnginePlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.threadpool.ExecutorBuilder;

/**
 * Our plugin with a window: {@code GET /_probe/{index}} shows what its readers have open in this
 * node. It also installs an executor, which counts the work items that it is given. {@link
 * MappedFilesIT} packs it with the plugin's own jar, in whose class loader it has to be.
 */
public final class ProbePlugin extends Plugin implements EnginePlugin, ActionPlugin {
  private final VamanaPlugin plugin;
  private final AtomicLong workItems = new AtomicLong();
  private IndicesService indices;
  private ExecutorRegistry.Installation installation;

  /** Called by the node. */
  public ProbePlugin(Settings settings) {
    plugin = new VamanaPlugin(settings);
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
  public Collection<?> createComponents(PluginServices services) {
    indices = services.indicesService();
    installation = ExecutorRegistry.install(CountingExecutor::new);
    return List.of();
  }

  @Override
  public Collection<RestHandler> getRestHandlers(
      RestHandlersServices services,
      Supplier<DiscoveryNodes> nodes,
      Predicate<NodeFeature> features) {
    return List.of(new ProbeHandler(() -> indices, workItems::get));
  }

  @Override
  public void close() throws IOException {
    if (installation != null) {
      installation.close();
    }
    plugin.close();
  }

  private final class CountingExecutor implements SearchExecutor {
    private final SearchExecutor cpu = new CpuExecutor(Workers.callingThread());

    @Override
    public String name() {
      return "counting";
    }

    @Override
    public List<WorkResult> search(List<WorkItem> batch) throws IOException {
      workItems.addAndGet(batch.size());
      return cpu.search(batch);
    }

    @Override
    public void close() throws IOException {
      cpu.close();
    }
  }
}
