package dev.vamana.elasticsearch.codebook;

import dev.vamana.elasticsearch.codebook.action.TransportDeleteCodebookAction;
import dev.vamana.elasticsearch.codebook.action.TransportGetCodebooksAction;
import dev.vamana.elasticsearch.codebook.action.TransportPutCodebookAction;
import dev.vamana.elasticsearch.codebook.action.TransportTrainCodebookAction;
import dev.vamana.elasticsearch.codebook.ingest.Ingest;
import dev.vamana.elasticsearch.codebook.nodes.TransportReloadAction;
import dev.vamana.elasticsearch.codebook.nodes.TransportRowsAction;
import dev.vamana.elasticsearch.codebook.nodes.TransportSamplesAction;
import dev.vamana.elasticsearch.codebook.rest.RestDeleteCodebookAction;
import dev.vamana.elasticsearch.codebook.rest.RestGetCodebooksAction;
import dev.vamana.elasticsearch.codebook.rest.RestPutCodebookAction;
import dev.vamana.elasticsearch.codebook.rest.RestTrainCodebookAction;
import dev.vamana.elasticsearch.codebook.sample.SampleMemory;
import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.elasticsearch.codebook.sample.Seeds;
import dev.vamana.elasticsearch.codebook.store.CodebookIndex;
import dev.vamana.elasticsearch.codebook.store.CodebookLoader;
import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import dev.vamana.elasticsearch.codebook.store.CodebookUsers;
import dev.vamana.elasticsearch.codebook.store.NodeCodebooks;
import dev.vamana.elasticsearch.codebook.train.IndexTrainings;
import dev.vamana.elasticsearch.codebook.train.SamplingWatch;
import dev.vamana.elasticsearch.codebook.train.Trainer;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.work.Workers;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.elasticsearch.action.support.MappedActionFilter;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.component.LifecycleListener;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.indices.SystemIndexDescriptor;
import org.elasticsearch.ingest.Processor;
import org.elasticsearch.node.PluginComponentBinding;
import org.elasticsearch.plugins.ActionPlugin.ActionHandler;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.threadpool.ExecutorBuilder;
import org.elasticsearch.threadpool.ScalingExecutorBuilder;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Holds the shared codebooks' parts of one node, and lists what the plugin registers for them.
 * Created together with the plugin, since Elasticsearch asks for ingest processors before it
 * provides services.
 */
public final class Codebooks {
  /** Name of the thread pool for training. */
  public static final String TRAIN_POOL = "vamana_train";

  /** Most heap for all samples together. */
  static final Setting<ByteSizeValue> SAMPLE_MEMORY =
      Setting.memorySizeSetting("vamana.codebook.sample.memory", "10%", Property.NodeScope);

  /** Interval of the check whether enough vectors for a training have been seen. */
  static final Setting<TimeValue> CHECK_INTERVAL =
      Setting.timeSetting(
          "vamana.codebook.check_interval",
          TimeValue.timeValueSeconds(1),
          TimeValue.timeValueMillis(100),
          TimeValue.timeValueMinutes(1),
          Property.NodeScope);

  /** The settings, for registration. */
  public static final List<Setting<?>> SETTINGS = List.of(SAMPLE_MEMORY, CHECK_INTERVAL);

  private static final TimeValue THREAD_KEEP_ALIVE = TimeValue.timeValueSeconds(30);

  private final Settings settings;
  private final NodeCodebooks codebooks = new NodeCodebooks();
  private final Samples samples;
  private volatile ThreadPool threads;
  private volatile ClusterService cluster;
  private volatile Trainer trainer;

  /**
   * Makes the parts of one node.
   *
   * @param settings the node's settings
   */
  public Codebooks(Settings settings) {
    this.settings = settings;
    SampleMemory memory = new SampleMemory(SAMPLE_MEMORY.get(settings).getBytes());
    samples = new Samples(memory, Seeds::next, codebooks::has);
  }

  /**
   * Returns a function from a name to the newest version of its codebook, or null if there is none.
   * The function never waits.
   */
  public Function<String, SharedCodebook> ready() {
    return codebooks::get;
  }

  /** The codebooks in this node's memory. */
  public NodeCodebooks known() {
    return codebooks;
  }

  /** The samples that this node collects. */
  public Samples samples() {
    return samples;
  }

  /** Makes the thread pool for training. */
  public static ExecutorBuilder<?> executor(Settings settings) {
    return new ScalingExecutorBuilder(
        TRAIN_POOL, 0, threadCount(settings), THREAD_KEEP_ALIVE, true);
  }

  private static int threadCount(Settings settings) {
    return Math.max(1, EsExecutors.allocatedProcessors(settings) / 2);
  }

  /** The ingest processors. */
  public Map<String, Processor.Factory> processors(Processor.Parameters parameters) {
    return Ingest.processors(samples, parameters.threadContext);
  }

  /** The action filters for pipelines and simulations. */
  public Collection<MappedActionFilter> filters() {
    return Ingest.filters(() -> threads.getThreadContext(), () -> cluster.state(), codebooks::get);
  }

  /** The system index. */
  public static Collection<SystemIndexDescriptor> systemIndices() {
    return List.of(CodebookIndex.descriptor());
  }

  /**
   * Starts the node's parts.
   *
   * @param users the indices that name codebooks
   * @return the components to inject into the transport actions
   */
  public Collection<?> start(Plugin.PluginServices services, CodebookUsers users) {
    threads = services.threadPool();
    cluster = services.clusterService();
    samples
        .memory()
        .countBy(
            services
                .indicesService()
                .getCircuitBreakerService()
                .getBreaker(CircuitBreaker.REQUEST));
    CodebookStore store = new CodebookStore(services.client());
    CodebookLoader loader = new CodebookLoader(store, codebooks, samples);
    Workers workers = new Workers(threads.executor(TRAIN_POOL), threadCount(settings));
    trainer = new Trainer(store, samples.memory(), cluster, threads, services.client(), workers);
    SamplingWatch watch =
        new SamplingWatch(
            samples, trainer, cluster, threads, services.client(), CHECK_INTERVAL.get(settings));
    cluster.addListener(loader);
    cluster.addListener(Ingest.watch(samples));
    cluster.addLifecycleListener(
        new LifecycleListener() {
          @Override
          public void afterStart() {
            watch.start();
          }

          @Override
          public void beforeStop() {
            watch.stop();
          }
        });
    return List.of(
        samples,
        store,
        loader,
        trainer,
        new PluginComponentBinding<>(CodebookUsers.class, users),
        new IndexTrainings(trainer, users, services.client()));
  }

  /** Drops the samples, and makes running trainings end soon. */
  public void close() {
    samples.close();
    if (trainer != null) {
      trainer.close();
    }
  }

  /** The transport actions. */
  public static Collection<ActionHandler> actions() {
    return List.of(
        new ActionHandler(TransportSamplesAction.TYPE, TransportSamplesAction.class),
        new ActionHandler(TransportRowsAction.TYPE, TransportRowsAction.class),
        new ActionHandler(TransportReloadAction.TYPE, TransportReloadAction.class),
        new ActionHandler(TransportGetCodebooksAction.TYPE, TransportGetCodebooksAction.class),
        new ActionHandler(TransportPutCodebookAction.TYPE, TransportPutCodebookAction.class),
        new ActionHandler(TransportDeleteCodebookAction.TYPE, TransportDeleteCodebookAction.class),
        new ActionHandler(TransportTrainCodebookAction.TYPE, TransportTrainCodebookAction.class));
  }

  /** The REST endpoints. */
  public static Collection<RestHandler> restHandlers() {
    return List.of(
        new RestGetCodebooksAction(),
        new RestPutCodebookAction(),
        new RestDeleteCodebookAction(),
        new RestTrainCodebookAction());
  }
}
