package dev.vamana.elasticsearch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.RegisteredPages;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.elasticsearch.gpu.CudaDevices;
import dev.vamana.elasticsearch.gpu.GpuSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.rest.RestHandler;

/**
 * Our plugin on a machine whose two GPUs are simulated: their kernels run on the CPU, out of
 * libraries that lie in the plugin's folder.
 */
public final class SimulatedGpuPlugin extends ForwardingPlugin {
  static final String LIBRARY = "libvamana-host.so";
  private static final long DEVICE_BYTES = 1L << 28;

  private final Simulated machine;

  /** Called by the node. */
  public SimulatedGpuPlugin(Settings settings) {
    this(settings, new Simulated());
  }

  private SimulatedGpuPlugin(Settings settings, Simulated machine) {
    super(new VamanaPlugin(settings, environment -> new CudaDevices(machine)));
    this.machine = machine;
  }

  /** A machine of two devices. */
  private static final class Simulated implements CudaDevices.Machine {
    private final RegisteredPages pages = new RegisteredPages();
    private final CopyGate gate = new CopyGate();
    private Path folder;

    @Override
    public List<Integer> find(GpuSettings settings) {
      return settings.devices().equals(List.of("all"))
          ? List.of(0, 1)
          : settings.devices().stream().map(Integer::valueOf).toList();
    }

    @Override
    public Supplier<CudaDriver> drivers(GpuSettings settings, int ordinal) {
      return () -> {
        SimtKernels kernels = SimtKernels.load(folder.resolve(LIBRARY));
        return gate.before(new SimulatedDriver(kernels, DEVICE_BYTES, true).in(pages, ordinal));
      };
    }
  }

  @Override
  public Collection<?> createComponents(PluginServices services) {
    Path plugins = services.environment().pluginsDir();
    machine.folder = plugins.resolve("vamana");
    return super.createComponents(services);
  }

  @Override
  public Collection<RestHandler> getRestHandlers(
      RestHandlersServices services,
      Supplier<DiscoveryNodes> nodes,
      Predicate<NodeFeature> features) {
    List<RestHandler> handlers = new ArrayList<>(super.getRestHandlers(services, nodes, features));
    handlers.add(machine.gate.handler());
    return handlers;
  }

  @Override
  public void close() throws IOException {
    machine.gate.open();
    super.close();
  }
}
