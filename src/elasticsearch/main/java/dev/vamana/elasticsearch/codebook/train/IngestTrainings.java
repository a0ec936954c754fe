package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.Sample;
import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import dev.vamana.elasticsearch.codebook.sample.Samples;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.common.component.AbstractLifecycleComponent;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.threadpool.Scheduler;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Trains codebooks from this node's samples. Every node watches its own; the first one that has
 * seen enough vectors claims the codebook and trains it.
 */
public final class IngestTrainings extends AbstractLifecycleComponent {
  private static final Logger logger = LogManager.getLogger(IngestTrainings.class);
  private static final TimeValue INTERVAL = TimeValue.timeValueSeconds(1);
  private static final TimeValue PAUSE_AFTER_TRIAL = TimeValue.timeValueSeconds(10);

  private final Samples samples;
  private final Trainer trainer;
  private final ThreadPool threads;
  private final Map<String, Long> quietUntil = new ConcurrentHashMap<>();
  private Scheduler.Cancellable schedule;

  /** Makes a watch that is not started. */
  public IngestTrainings(Samples samples, Trainer trainer, ThreadPool threads) {
    this.samples = samples;
    this.trainer = trainer;
    this.threads = threads;
  }

  @Override
  protected void doStart() {
    schedule = threads.scheduleWithFixedDelay(this::look, INTERVAL, threads.generic());
  }

  @Override
  protected void doStop() {
    schedule.cancel();
  }

  @Override
  protected void doClose() {}

  private void look() {
    for (SampleStatus status : samples.status()) {
      Sample sample = samples.wanted(status.name());
      if (sample != null
          && status.seen() >= sample.options().minDocuments()
          && threads.relativeTimeInMillis()
              >= quietUntil.getOrDefault(status.name(), Long.MIN_VALUE)) {
        train(status, sample);
      }
    }
  }

  private void train(SampleStatus status, Sample sample) {
    String name = status.name();
    // do not repeat at once a trial that failed, for instance because another node was first
    quietUntil.put(name, threads.relativeTimeInMillis() + PAUSE_AFTER_TRIAL.millis());
    trainer.train(
        new Trainer.Plan(name, sample.options(), "ingest pipelines", true, () -> false),
        listener -> listener.onResponse(new Trainer.Drawn(sample.rows(), status.seen())),
        ActionListener.wrap(
            entry -> logger.info("codebook [{}] version [{}] is ready", name, entry.version()),
            // the trainer has logged what users of the codebook should know
            e -> logger.debug("did not train codebook [" + name + "]", e)));
  }
}
