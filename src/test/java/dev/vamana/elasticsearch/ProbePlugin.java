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
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.indices.IndicesService;
import org.elasticsearch.rest.RestHandler;

/**
 * Our plugin with a window: {@code GET /_probe/{index}} shows what its readers have open in this
 * node. It also installs an executor, which counts the work items that it is given. {@link
 * MappedFilesIT} packs it with the plugin's own jar, in whose class loader it has to be.
 */
public final class ProbePlugin extends ForwardingPlugin {
  private final AtomicLong workItems = new AtomicLong();
  private IndicesService indices;
  private ExecutorRegistry.Installation installation;

  /** Called by the node. */
  public ProbePlugin(Settings settings) {
    super(new VamanaPlugin(settings));
  }

  @Override
  public Collection<?> createComponents(PluginServices services) {
    indices = services.indicesService();
    installation = ExecutorRegistry.install(CountingExecutor::new);
    return List.of();
  }

  /** Nothing of an index needs what the other plugin's components would be. */
  @Override
  public void onIndexModule(IndexModule module) {}

  @Override
  public Collection<ActionHandler> getActions() {
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
    super.close();
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
