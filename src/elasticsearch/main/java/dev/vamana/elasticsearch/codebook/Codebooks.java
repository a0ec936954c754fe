package dev.vamana.elasticsearch.codebook;

import dev.vamana.elasticsearch.codebook.sample.SampleMemory;
import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.elasticsearch.codebook.sample.TrainProcessor;
import dev.vamana.elasticsearch.codebook.store.CodebookLoader;
import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import dev.vamana.elasticsearch.codebook.store.ReloadCodebookAction;
import dev.vamana.elasticsearch.codebook.train.IngestTrainings;
import dev.vamana.elasticsearch.codebook.train.Trainer;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.work.Workers;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.common.util.concurrent.EsExecutors;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.ingest.Processor;
import org.elasticsearch.plugins.ActionPlugin.ActionHandler;
import org.elasticsearch.plugins.Plugin;
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

  /** The settings, for registration. */
  public static final List<Setting<?>> SETTINGS = List.of(SAMPLE_MEMORY);

  private final Settings settings;
  private final Map<String, SharedCodebook> ready = new ConcurrentHashMap<>();
  private final Samples samples;
  private volatile Trainer trainer;

  /**
   * Makes the parts of one node.
   *
   * @param settings the node's settings
   */
  public Codebooks(Settings settings) {
    this.settings = settings;
    SampleMemory memory = new SampleMemory(SAMPLE_MEMORY.get(settings).getBytes());
    samples = new Samples(memory, ready::containsKey);
  }

  /**
   * The codebooks in this node's memory that are ready, by name: the newest versions that it knows.
   * A view, which never waits.
   */
  public Map<String, SharedCodebook> ready() {
    return Collections.unmodifiableMap(ready);
  }

  /** The samples that this node collects. */
  public Samples samples() {
    return samples;
  }

  /** Makes the thread pool for training. */
  public static ExecutorBuilder<?> executor(Settings settings) {
    return new ScalingExecutorBuilder(
        TRAIN_POOL, 0, threadCount(settings), TimeValue.timeValueSeconds(30), true);
  }

  private static int threadCount(Settings settings) {
    return Math.max(1, EsExecutors.allocatedProcessors(settings) / 2);
  }

  /** The ingest processors. */
  public Map<String, Processor.Factory> processors() {
    return Map.of(TrainProcessor.TYPE, TrainProcessor.factory(samples));
  }

  /**
   * Starts the node's parts.
   *
   * @return the components to inject into the transport actions
   */
  public Collection<?> start(Plugin.PluginServices services) {
    ThreadPool threads = services.threadPool();
    ClusterService cluster = services.clusterService();
    samples
        .memory()
        .countBy(
            services
                .indicesService()
                .getCircuitBreakerService()
                .getBreaker(CircuitBreaker.REQUEST));
    CodebookStore store = new CodebookStore(services.client());
    CodebookLoader loader =
        new CodebookLoader(store, ready, samples, threads.executor(ThreadPool.Names.MANAGEMENT));
    Workers workers = new Workers(threads.executor(TRAIN_POOL), threadCount(settings));
    trainer = new Trainer(store, cluster, threads::absoluteTimeInMillis, workers);
    cluster.addListener(loader);
    cluster.addListener(samples);
    return List.of(samples, store, loader, trainer, new IngestTrainings(samples, trainer, threads));
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
        new ActionHandler(ReloadCodebookAction.TYPE, ReloadCodebookAction.class),
        new ActionHandler(TransportGetCodebooksAction.TYPE, TransportGetCodebooksAction.class),
        new ActionHandler(TransportPutCodebookAction.TYPE, TransportPutCodebookAction.class),
        new ActionHandler(TransportDeleteCodebookAction.TYPE, TransportDeleteCodebookAction.class),
        new ActionHandler(TransportTrainCodebookAction.TYPE, TransportTrainCodebookAction.class));
  }
}
