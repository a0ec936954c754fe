package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import dev.vamana.elasticsearch.codebook.sample.Samples;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.threadpool.Scheduler;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Starts trainings once all nodes together have seen enough vectors. Every node watches its own
 * samples. It asks the others only when it has seen its even share of the required number: once the
 * nodes together have seen enough, at least one of them has seen its share. The node that claims
 * the codebook first trains it.
 */
public final class SamplingWatch {
  private static final Logger logger = LogManager.getLogger(SamplingWatch.class);
  private static final TimeValue PAUSE_AFTER_TRIAL = TimeValue.timeValueSeconds(10);

  private final Samples samples;
  private final Trainer trainer;
  private final ClusterService cluster;
  private final ThreadPool threads;
  private final Client client;
  private final TimeValue interval;
  private final Map<String, Long> quietUntil = new ConcurrentHashMap<>();
  private Scheduler.Cancellable schedule;

  /**
   * Makes a watch that is not started.
   *
   * @param interval time between two checks of the samples
   */
  public SamplingWatch(
      Samples samples,
      Trainer trainer,
      ClusterService cluster,
      ThreadPool threads,
      Client client,
      TimeValue interval) {
    this.samples = samples;
    this.trainer = trainer;
    this.cluster = cluster;
    this.threads = threads;
    this.client = client;
    this.interval = interval;
  }

  /** Starts checking the samples. */
  public synchronized void start() {
    schedule = threads.scheduleWithFixedDelay(this::look, interval, threads.generic());
  }

  /** Stops checking the samples. */
  public synchronized void stop() {
    if (schedule != null) {
      schedule.cancel();
    }
  }

  private void look() {
    for (SampleStatus sample : samples.status()) {
      long now = threads.relativeTimeInMillis();
      long nodes = Math.max(1, cluster.state().nodes().getSize());
      if (sample.seen() * nodes >= sample.options().minDocuments()
          && samples.wanted(sample.name())
          && now >= quietUntil.getOrDefault(sample.name(), Long.MIN_VALUE)) {
        quietUntil.put(sample.name(), now + interval.millis());
        ask(sample);
      }
    }
  }

  private void ask(SampleStatus sample) {
    MergedSamples merged = new MergedSamples(client, sample.name(), sample.options());
    merged.seen(
        ActionListener.wrap(
            seen -> {
              if (seen >= sample.options().minDocuments()) {
                train(sample, merged);
              }
            },
            e -> logger.debug("could not ask for samples of [" + sample.name() + "]", e)));
  }

  private void train(SampleStatus sample, MergedSamples merged) {
    // do not repeat at once a trial that failed, for instance because another node was first
    quietUntil.put(sample.name(), threads.relativeTimeInMillis() + PAUSE_AFTER_TRIAL.millis());
    TrainingPlan plan =
        new TrainingPlan(
            sample.name(),
            sample.options().space(),
            sample.options().subspaces(),
            sample.options().sampleSize(),
            "ingest pipelines",
            true,
            true,
            () -> false);
    trainer.train(
        plan,
        merged,
        ActionListener.wrap(
            none -> logger.info("training codebook [{}] from ingest pipelines", sample.name()),
            e -> logger.debug("not training codebook [" + sample.name() + "]", e)),
        ActionListener.wrap(
            entry ->
                logger.info(
                    "codebook [{}] version [{}] is ready", entry.name(), entry.content().version()),
            // the trainer has logged it
            e -> logger.debug("training codebook [" + sample.name() + "] failed", e)));
  }
}
