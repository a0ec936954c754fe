package dev.vamana.elasticsearch.codebook.sample;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.elasticsearch.ElasticsearchException;
import org.elasticsearch.cluster.ClusterChangedEvent;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.ClusterStateListener;
import org.elasticsearch.ingest.IngestMetadata;

/**
 * This node's samples: one for each codebook that a stored pipeline feeds. Processors feed the
 * samples but do not own them, since Elasticsearch makes new processors at every change of any
 * pipeline. Thread-safe.
 *
 * <p>Samples are only on the heap; a restart of the node begins them anew.
 */
public final class Samples implements ClusterStateListener {
  private static final Logger logger = LogManager.getLogger(Samples.class);

  private final Map<String, Sample> samples = new ConcurrentHashMap<>();
  private final SampleMemory memory;
  private final Predicate<String> ready;

  /**
   * Makes an instance without samples.
   *
   * @param memory limit of all samples together
   * @param ready whether a codebook exists, in which case nothing is sampled for it
   */
  public Samples(SampleMemory memory, Predicate<String> ready) {
    this.memory = memory;
    this.ready = ready;
  }

  /** Limit of all samples together. */
  public SampleMemory memory() {
    return memory;
  }

  /** Returns the sample of a codebook, or null if no pipeline feeds it or if it is ready. */
  public Sample wanted(String name) {
    return ready.test(name) ? null : samples.get(name);
  }

  /** The options of each sample whose codebook is not ready, by its name. */
  public Map<String, SampleOptions> options() {
    Map<String, SampleOptions> options = new HashMap<>();
    samples.forEach((name, sample) -> options.put(name, sample.options()));
    options.keySet().removeIf(ready);
    return options;
  }

  /** The state of each sample whose codebook is not ready. */
  public List<SampleStatus> status() {
    return samples.entrySet().stream()
        .filter(entry -> !ready.test(entry.getKey()))
        .map(entry -> entry.getValue().status(entry.getKey()))
        .toList();
  }

  /** Begins the sample of a codebook anew, if there is one. */
  public synchronized void restart(String name) {
    Sample before = samples.get(name);
    if (before != null) {
      samples.put(name, sample(before.options()));
      before.close();
    }
  }

  private Sample sample(SampleOptions options) {
    return new Sample(options, memory, Sample.freshSeed());
  }

  /** Drops all samples. */
  public void close() {
    feed(Map.of());
  }

  @Override
  public void clusterChanged(ClusterChangedEvent event) {
    if (event.metadataChanged()
        && !pipelines(event.state()).equals(pipelines(event.previousState()))) {
      feed(fed(event.state()));
    }
  }

  /**
   * Begins a sample for each codebook that a pipeline feeds now. Drops a sample whose codebook no
   * pipeline feeds any more, or feeds with other options.
   *
   * @param fed the options of each codebook in the stored pipelines
   */
  synchronized void feed(Map<String, SampleOptions> fed) {
    samples.forEach(
        (name, sample) -> {
          if (!sample.options().equals(fed.get(name))) {
            samples.remove(name).close();
          }
        });
    fed.forEach((name, options) -> samples.computeIfAbsent(name, key -> sample(options)));
  }

  private static List<IngestMetadata> pipelines(ClusterState state) {
    return state.metadata().projects().values().stream()
        .map(project -> project.<IngestMetadata>custom(IngestMetadata.TYPE))
        .filter(Objects::nonNull)
        .toList();
  }

  /**
   * The options of each codebook in the stored pipelines. If processors of a codebook have
   * different options, the pipeline whose id sorts first decides.
   */
  static Map<String, SampleOptions> fed(ClusterState state) {
    Map<String, SampleOptions> fed = new HashMap<>();
    for (IngestMetadata ingest : pipelines(state)) {
      ingest.getPipelines().entrySet().stream()
          .sorted(Map.Entry.comparingByKey())
          .forEach(pipeline -> collect(pipeline.getKey(), pipeline.getValue().getConfig(), fed));
    }
    return fed;
  }

  /** Collects the options of all processors in a part of a pipeline, including nested ones. */
  private static void collect(String pipeline, Object part, Map<String, SampleOptions> fed) {
    if (part instanceof List<?> list) {
      list.forEach(element -> collect(pipeline, element, fed));
    } else if (part instanceof Map<?, ?> map) {
      map.forEach(
          (key, value) -> {
            if (TrainProcessor.TYPE.equals(key) && value instanceof Map<?, ?> config) {
              read(pipeline, config, fed);
            } else {
              collect(pipeline, value, fed);
            }
          });
    }
  }

  private static void read(String pipeline, Map<?, ?> config, Map<String, SampleOptions> fed) {
    Map<String, Object> copy = new HashMap<>();
    config.forEach((key, value) -> copy.put(String.valueOf(key), value));
    TrainProcessor.Options options;
    try {
      options = TrainProcessor.Options.read(null, copy);
    } catch (ElasticsearchException e) {
      // the processor's factory reports this error when the pipeline is stored
      return;
    }
    SampleOptions first = fed.putIfAbsent(options.codebook(), options.sample());
    if (first != null && !first.equals(options.sample())) {
      logger.warn(
          "pipeline [{}] does not feed codebook [{}]: its processor [{}] has {}, another has {}",
          pipeline,
          options.codebook(),
          TrainProcessor.TYPE,
          options.sample(),
          first);
    }
  }
}
