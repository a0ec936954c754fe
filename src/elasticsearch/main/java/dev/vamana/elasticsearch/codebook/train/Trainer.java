package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.Sample;
import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.lucene.util.StringHelper;
import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.tasks.TaskCancelledException;

/**
 * Trains codebooks on this node. Before it draws vectors it claims the codebook in the store, so
 * that only one of several nodes trains it. The result replaces the claim; it is discarded if the
 * codebook has been deleted or imported in the meantime.
 */
public final class Trainer {
  private static final Logger logger = LogManager.getLogger(Trainer.class);

  private final CodebookStore store;
  private final ClusterService cluster;
  private final LongSupplier clock;
  private final Workers workers;
  private final Set<String> running = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * Describes one training.
   *
   * @param name name of the codebook
   * @param from source of the vectors, for people to read
   * @param firstOnly whether to refuse a codebook that is ready or has failed
   * @param cancelled whether to end the training; a cancelled training stores no codebook
   */
  public record Plan(
      String name,
      SampleOptions options,
      String from,
      boolean firstOnly,
      BooleanSupplier cancelled) {}

  /**
   * Vectors to train on.
   *
   * @param rows a uniform sample, in the form in which vectors are stored
   * @param documents number of vectors that the sample was drawn from
   */
  public record Drawn(List<float[]> rows, long documents) {}

  /**
   * Makes a trainer.
   *
   * @param clock gives milliseconds since 1970
   * @param workers the threads that train
   */
  public Trainer(CodebookStore store, ClusterService cluster, LongSupplier clock, Workers workers) {
    this.store = store;
    this.cluster = cluster;
    this.clock = clock;
    this.workers = workers;
  }

  /** Makes running trainings end soon. */
  public void close() {
    closed = true;
  }

  /**
   * Whether a node is training the codebook. A claim of a node that has left the cluster is void.
   */
  public boolean trains(CodebookEntry entry) {
    String node = entry.trainer();
    if (node == null) {
      return false;
    }
    if (node.equals(cluster.localNode().getEphemeralId())) {
      return running.contains(entry.name());
    }
    return cluster.state().nodes().stream().anyMatch(n -> n.getEphemeralId().equals(node));
  }

  /**
   * Trains a codebook. If that fails, the codebook keeps the reason; it does not if another
   * training runs.
   *
   * @param source gives the vectors, after the codebook has been claimed
   * @param listener notified of the end
   */
  public void train(
      Plan plan, Consumer<ActionListener<Drawn>> source, ActionListener<CodebookEntry> listener) {
    store.find(
        plan.name(),
        listener.delegateFailureAndWrap(
            (l, found) -> {
              CodebookEntry entry = found.entry();
              if (trains(entry) || !running.add(plan.name())) {
                throw conflict(plan.name(), "is being trained");
              }
              ActionListener<CodebookEntry> end =
                  ActionListener.runBefore(l, () -> running.remove(plan.name()));
              ActionListener.run(end, e -> claim(plan, source, found, e));
            }));
  }

  private void claim(
      Plan plan,
      Consumer<ActionListener<Drawn>> source,
      CodebookStore.Found found,
      ActionListener<CodebookEntry> listener) {
    CodebookEntry entry = found.entry();
    if (plan.firstOnly() && (entry.version() > 0 || entry.failed())) {
      throw conflict(plan.name(), "was trained before");
    }
    entry.requireFit(plan.options().space());
    String node = cluster.localNode().getEphemeralId();
    store.write(
        found,
        entry.claimed(node, plan.from(), clock.getAsLong()),
        null,
        listener.delegateFailureAndWrap(
            (l, claim) -> {
              logger.info("training codebook [{}] from {}", plan.name(), plan.from());
              ActionListener<CodebookEntry> end =
                  l.delegateResponse((next, e) -> fail(plan.name(), claim, e, next));
              ActionListener<Drawn> drawn =
                  end.delegateFailureAndWrap(
                      (next, vectors) ->
                          workers
                              .executor()
                              .execute(
                                  ActionRunnable.wrap(
                                      next, last -> run(plan, vectors, claim, last))));
              ActionListener.run(drawn, source::accept);
            }));
  }

  private static ElasticsearchStatusException conflict(String name, String why) {
    return new ElasticsearchStatusException("codebook [" + name + "] " + why, RestStatus.CONFLICT);
  }

  private void run(
      Plan plan, Drawn drawn, CodebookStore.Found claim, ActionListener<CodebookEntry> listener)
      throws IOException {
    int size = drawn.rows().size();
    if (size < SampleOptions.MIN_SAMPLE_SIZE) {
      throw new IllegalArgumentException(
          "a codebook needs at least "
              + SampleOptions.MIN_SAMPLE_SIZE
              + " vectors, but "
              + plan.from()
              + " gave "
              + size
              + " (vectors in nested documents do not count)");
    }
    VectorSpace space = plan.options().space();
    SubspaceLayout layout = SampleOptions.layout(space.dims(), plan.options().subspaces());
    TrainingSample sample = TrainingSample.of(space.dims(), drawn.rows().toArray(new float[0][]));
    int version = Math.addExact(claim.entry().version(), 1);
    AbortCheck abort = () -> check(plan);
    Codebook codebook =
        PqTrainer.train(
            ExecutorRegistry.quantizer(),
            sample,
            layout,
            new CodebookId(StringHelper.randomId(), plan.name(), version),
            PqTrainer.Options.defaults(Sample.freshSeed()),
            workers,
            abort);
    SharedCodebook shared =
        SharedCodebook.of(
            plan.name(),
            version,
            codebook,
            space.function(),
            sample,
            Math.max(drawn.documents(), size),
            plan.from(),
            workers,
            abort);
    check(plan);
    store.write(
        claim,
        CodebookEntry.ready(shared, space.similarity(), clock.getAsLong()),
        shared,
        listener.map(CodebookStore.Found::entry));
  }

  private void check(Plan plan) throws IOException {
    if (closed) {
      throw new IOException("the node is closing");
    }
    if (plan.cancelled().getAsBoolean()) {
      throw new TaskCancelledException(
          "the training of codebook [" + plan.name() + "] was cancelled");
    }
  }

  private void fail(
      String name, CodebookStore.Found claim, Exception e, ActionListener<CodebookEntry> listener) {
    if (ExceptionsHelper.status(e).getStatus() < RestStatus.INTERNAL_SERVER_ERROR.getStatus()) {
      logger.info("training codebook [{}] failed: {}", name, e.getMessage());
    } else {
      logger.warn("training codebook [" + name + "] failed", e);
    }
    store.write(
        claim,
        claim.entry().failed(String.valueOf(e.getMessage()), clock.getAsLong()),
        null,
        ActionListener.running(() -> listener.onFailure(e)));
  }
}
