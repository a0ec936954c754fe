package dev.vamana.elasticsearch;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CentroidPool;
import dev.vamana.elasticsearch.codebook.Codebooks;
import dev.vamana.elasticsearch.codebook.RestCodebooksAction;
import dev.vamana.elasticsearch.codebook.store.CodebookIndex;
import dev.vamana.elasticsearch.gpu.CudaDevices;
import dev.vamana.elasticsearch.gpu.GpuDevices;
import dev.vamana.elasticsearch.gpu.GpuSettings;
import dev.vamana.elasticsearch.gpu.IndexWarming;
import dev.vamana.elasticsearch.gpu.NodeExecutor;
import dev.vamana.elasticsearch.gpu.PinnedMemoryBreaker;
import dev.vamana.elasticsearch.gpu.ResidencyActions;
import dev.vamana.elasticsearch.gpu.SearchWorkers;
import dev.vamana.elasticsearch.gpu.WarmSettings;
import dev.vamana.elasticsearch.index.BuildMemory;
import dev.vamana.elasticsearch.index.NewIndexCheck;
import dev.vamana.elasticsearch.index.NodeBuilding;
import dev.vamana.elasticsearch.index.SettingsWithoutEffect;
import dev.vamana.elasticsearch.index.VamanaEngineFactory;
import dev.vamana.elasticsearch.index.VamanaSettings;
import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.elasticsearch.monitor.recall.RecallMonitor;
import dev.vamana.elasticsearch.monitor.recall.RecallSampler;
import dev.vamana.elasticsearch.monitor.recall.RecallSettings;
import dev.vamana.elasticsearch.monitor.segments.LeftoverSegments;
import dev.vamana.elasticsearch.monitor.segments.RestCatVamanaAction;
import dev.vamana.elasticsearch.monitor.segments.RestIndexStatsAction;
import dev.vamana.elasticsearch.monitor.segments.RestRemovalAction;
import dev.vamana.elasticsearch.monitor.segments.TransportSegmentsAction;
import dev.vamana.elasticsearch.monitor.stats.NodeHealth;
import dev.vamana.elasticsearch.monitor.stats.RestStatsAction;
import dev.vamana.elasticsearch.monitor.stats.StatsSource;
import dev.vamana.elasticsearch.monitor.stats.TransportStatsAction;
import dev.vamana.elasticsearch.monitor.stats.VamanaHealth;
import dev.vamana.elasticsearch.rest.RestBatchSearchAction;
import dev.vamana.elasticsearch.rest.RestNeighborsAction;
import dev.vamana.elasticsearch.rest.RestRethrottleAction;
import dev.vamana.elasticsearch.search.IdCache;
import dev.vamana.elasticsearch.search.SearchActions;
import dev.vamana.elasticsearch.search.WalkSettings;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.env.Environment;
import org.elasticsearch.features.NodeFeature;
import org.elasticsearch.health.HealthIndicatorService;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.index.IndexSettingProvider;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.engine.EngineFactory;
import org.elasticsearch.indices.SystemIndexDescriptor;
import org.elasticsearch.indices.breaker.BreakerSettings;
import org.elasticsearch.ingest.Processor;
import org.elasticsearch.node.PluginComponentBinding;
import org.elasticsearch.plugins.CircuitBreakerPlugin;
import org.elasticsearch.plugins.EnginePlugin;
import org.elasticsearch.plugins.HealthPlugin;
import org.elasticsearch.plugins.IngestPlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.plugins.SystemIndexPlugin;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.threadpool.ExecutorBuilder;
import org.elasticsearch.threadpool.ScalingExecutorBuilder;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Stores and searches the {@code dense_vector} fields of indices with {@code index.vamana.enabled}
 * as Vamana graphs.
 *
 * <p>Searches do not need this class, since Lucene finds the format of a segment by its name. The
 * plugin chooses the format of new segments, provides the threads that build graphs, and installs
 * the executor of the node's GPU if there is one.
 */
public final class VamanaPlugin extends Plugin
    implements EnginePlugin, HealthPlugin, IngestPlugin, SystemIndexPlugin, CircuitBreakerPlugin {
  /** All settings, for registration. */
  public static final List<Setting<?>> SETTINGS =
      Stream.of(
              VamanaSettings.ALL,
              GpuSettings.ALL,
              WarmSettings.ALL,
              RecallSettings.ALL,
              WalkSettings.ALL,
              PinnedMemoryBreaker.SETTINGS,
              Codebooks.SETTINGS,
              List.of(IdCache.SIZE))
          .<Setting<?>>flatMap(List::stream)
          .toList();

  private static final TimeValue BUILD_THREAD_KEEP_ALIVE = TimeValue.timeValueSeconds(30);

  // the heap has so many times the bytes that centroids of inverted lists may take
  private static final int CENTROIDS_SHARE_OF_HEAP = 100;

  private final NodeBuilding building;
  private final GpuSettings gpu;
  private final Function<Environment, GpuDevices> devices;
  private final Codebooks codebooks;
  private final PinnedMemoryBreaker breaker = new PinnedMemoryBreaker();
  private ThreadPool threads;
  private NodeExecutor executor;
  private VamanaHealth health;
  private DamagedFiles damaged;
  private RecallMonitor recall;
  private RecallSampler sampler;

  /**
   * Called by the node.
   *
   * @param settings the node's settings
   */
  public VamanaPlugin(Settings settings) {
    this(settings, environment -> new CudaDevices(environment.dataDirs()[0].resolve("vamana")));
  }

  VamanaPlugin(Settings settings, Function<Environment, GpuDevices> devices) {
    this.devices = devices;
    codebooks = new Codebooks(settings);
    building =
        new NodeBuilding(
            VamanaSettings.BUILD_THREADS.get(settings),
            new BuildMemory(settings),
            new BuildStatistics(),
            codebooks.ready()::get,
            new CentroidPool(
                Math.max(
                    CentroidPool.MAX_BYTES,
                    Runtime.getRuntime().maxMemory() / CENTROIDS_SHARE_OF_HEAP)));
    gpu = GpuSettings.of(settings);
  }

  @Override
  public List<Setting<?>> getSettings() {
    return SETTINGS;
  }

  @Override
  public List<ExecutorBuilder<?>> getExecutorBuilders(Settings settings) {
    int threads = VamanaSettings.BUILD_THREADS.get(settings);
    return List.of(
        new ScalingExecutorBuilder(NodeBuilding.POOL, 0, threads, BUILD_THREAD_KEEP_ALIVE, true),
        new ScalingExecutorBuilder(RecallSettings.POOL, 0, 1, BUILD_THREAD_KEEP_ALIVE, true),
        Codebooks.executor(settings));
  }

  @Override
  public Optional<EngineFactory> getEngineFactory(IndexSettings indexSettings) {
    return VamanaEngineFactory.appliesTo(indexSettings)
        ? Optional.of(new VamanaEngineFactory(indexSettings, building))
        : Optional.empty();
  }

  @Override
  public Collection<IndexSettingProvider> getAdditionalIndexSettingProviders(
      IndexSettingProvider.Parameters parameters) {
    return List.of(new NewIndexCheck(building.codebooks()));
  }

  @Override
  public void onIndexModule(IndexModule module) {
    damaged.register(module);
    SettingsWithoutEffect.register(module);
    IndexWarming.register(module, threads);
    sampler.register(module);
  }

  @Override
  public BreakerSettings getCircuitBreaker(Settings settings) {
    return PinnedMemoryBreaker.settings(settings);
  }

  @Override
  public void setCircuitBreaker(CircuitBreaker made) {
    breaker.set(made);
  }

  /**
   * Installs the executor of the node's GPU and makes the plugin's components.
   *
   * @throws IllegalStateException if the settings require a GPU and there is no usable one; the
   *     node then does not start
   */
  @Override
  public Collection<?> createComponents(PluginServices services) {
    threads = services.threadPool();
    damaged = new DamagedFiles(threads.generic());
    health = new VamanaHealth(services.client());
    executor =
        NodeExecutor.start(
            gpu,
            devices.apply(services.environment()),
            damaged,
            breaker,
            SearchWorkers.of(
                threads.executor(ThreadPool.Names.SEARCH), services.environment().settings()));
    ClusterSettings settings = services.clusterService().getClusterSettings();
    settings.addSettingsUpdateConsumer(
        changed -> executor.adjust(GpuSettings.of(changed)), GpuSettings.DYNAMIC);
    breaker.follow(settings);
    building.memory().follow(settings);
    recall = new RecallMonitor(threads, services.environment().settings(), settings);
    sampler = new RecallSampler(recall);
    IdCache ids =
        new IdCache(
            IdCache.SIZE.get(services.environment().settings()).getBytes(),
            services
                .indicesService()
                .getCircuitBreakerService()
                .getBreaker(CircuitBreaker.FIELDDATA),
            threads.executor(ThreadPool.Names.GENERIC));
    List<Object> components = new ArrayList<>(codebooks.start(services));
    components.add(
        new PluginComponentBinding<>(
            StatsSource.class,
            new NodeStatsSource(
                executor,
                building,
                codebooks,
                ids,
                recall,
                new NodeHealth(
                    damaged,
                    new LeftoverSegments(services.indicesService()),
                    threads::relativeTimeInMillis))));
    components.add(recall);
    components.add(ids);
    components.add(damaged);
    return components;
  }

  @Override
  public Collection<ActionHandler> getActions() {
    List<ActionHandler> actions = new ArrayList<>(SearchActions.actions());
    actions.addAll(Codebooks.actions());
    actions.addAll(ResidencyActions.actions());
    actions.add(new ActionHandler(TransportStatsAction.TYPE, TransportStatsAction.class));
    actions.add(new ActionHandler(TransportSegmentsAction.TYPE, TransportSegmentsAction.class));
    return actions;
  }

  @Override
  public List<NamedWriteableRegistry.Entry> getNamedWriteables() {
    return SearchActions.namedWriteables();
  }

  @Override
  public Collection<RestHandler> getRestHandlers(
      RestHandlersServices services,
      Supplier<DiscoveryNodes> nodes,
      Predicate<NodeFeature> features) {
    List<RestHandler> handlers = new ArrayList<>(RestCodebooksAction.all());
    handlers.addAll(ResidencyActions.restHandlers());
    handlers.add(new RestStatsAction());
    handlers.add(new RestBatchSearchAction());
    handlers.add(new RestNeighborsAction());
    handlers.add(new RestRethrottleAction());
    handlers.add(new RestCatVamanaAction());
    handlers.add(new RestIndexStatsAction());
    handlers.add(new RestRemovalAction());
    return handlers;
  }

  @Override
  public Collection<HealthIndicatorService> getHealthIndicatorServices() {
    return List.of(health);
  }

  @Override
  public Map<String, Processor.Factory> getProcessors(Processor.Parameters parameters) {
    return codebooks.processors();
  }

  @Override
  public Collection<SystemIndexDescriptor> getSystemIndexDescriptors(Settings settings) {
    return List.of(CodebookIndex.descriptor());
  }

  @Override
  public String getFeatureName() {
    return "vamana";
  }

  @Override
  public String getFeatureDescription() {
    return "Codebooks of product quantization that indices share";
  }

  @Override
  public void close() throws IOException {
    codebooks.close();
    if (recall != null) {
      recall.close();
    }
    if (executor != null) {
      executor.close();
    }
  }
}
