package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.nodes.NamedNodesRequest;
import dev.vamana.elasticsearch.codebook.nodes.TransportReloadAction;
import dev.vamana.elasticsearch.codebook.sample.SampleMemory;
import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.Seeds;
import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import dev.vamana.elasticsearch.codebook.store.CodebookIndex;
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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.lucene.util.StringHelper;
import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRunnable;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.OriginSettingClient;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.tasks.TaskCancelledException;
import org.elasticsearch.threadpool.ThreadPool;

/**
 * Trains codebooks on this node. Before it draws vectors it claims the codebook in the store, so
 * that only one of several nodes trains it. The result replaces the claim; it is discarded if the
 * codebook has been deleted or imported in the meantime.
 */
public final class Trainer {
  private static final Logger logger = LogManager.getLogger(Trainer.class);

  private final CodebookStore store;
  private final SampleMemory memory;
  private final ClusterService cluster;
  private final ThreadPool threads;
  private final Workers workers;
  private final Client client;
  private final Set<String> running = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * Makes a trainer.
   *
   * @param workers the threads that train
   */
  public Trainer(
      CodebookStore store,
      SampleMemory memory,
      ClusterService cluster,
      ThreadPool threads,
      Client client,
      Workers workers) {
    this.store = store;
    this.memory = memory;
    this.cluster = cluster;
    this.threads = threads;
    this.client = new OriginSettingClient(client, CodebookIndex.ORIGIN);
    this.workers = workers;
  }

  /** Makes running trainings end soon. */
  public void close() {
    closed = true;
  }

  /**
   * Whether a node is training the codebook. A claim of a node that has left the cluster is void.
   */
  public boolean claimed(CodebookEntry entry) {
    if (entry.claim() == null) {
      return false;
    }
    String node = entry.claim().node();
    if (node.equals(cluster.localNode().getEphemeralId())) {
      return running.contains(entry.name());
    }
    return cluster.state().nodes().stream().anyMatch(n -> n.getEphemeralId().equals(node));
  }

  /**
   * Trains a codebook.
   *
   * @param source gives the vectors, after the codebook has been claimed
   * @param claimed notified when the codebook has been claimed, or of the reason why it cannot be
   * @param done notified of the end, if the codebook was claimed
   */
  void train(
      TrainingPlan plan,
      VectorSource source,
      ActionListener<Void> claimed,
      ActionListener<CodebookEntry> done) {
    if (!running.add(plan.name())) {
      claimed.onFailure(conflict(plan.name(), "is being trained by this node"));
      return;
    }
    ActionListener<CodebookEntry> end =
        ActionListener.runBefore(done, () -> running.remove(plan.name()));
    claim(
        plan,
        ActionListener.wrap(
            claim -> {
              claimed.onResponse(null);
              drawAndTrain(plan, source, claim, end);
            },
            e -> {
              running.remove(plan.name());
              claimed.onFailure(e);
            }));
  }

  private void claim(TrainingPlan plan, ActionListener<CodebookStore.Found> listener) {
    store.find(
        plan.name(),
        listener.delegateFailureAndWrap(
            (l, found) -> {
              CodebookEntry entry =
                  found.exists() ? found.entry() : new CodebookEntry(plan.name(), null, null, null);
              if (!heldByThisTraining(entry) && claimed(entry)) {
                throw conflict(plan.name(), "is being trained from " + entry.claim().from());
              }
              if (plan.firstOnly() && (entry.content() != null || entry.failure() != null)) {
                throw conflict(plan.name(), "was trained before");
              }
              String node = cluster.localNode().getEphemeralId();
              CodebookEntry.Claim claim =
                  new CodebookEntry.Claim(node, plan.from(), threads.absoluteTimeInMillis());
              store.replace(found, entry.with(claim), l);
            }));
  }

  /**
   * Whether the claim is from this node. Then it is left over from a training that has ended, since
   * {@link #train} starts only one training of a codebook at a time on this node.
   */
  private boolean heldByThisTraining(CodebookEntry entry) {
    return entry.claim() != null
        && entry.claim().node().equals(cluster.localNode().getEphemeralId());
  }

  private static ElasticsearchStatusException conflict(String name, String why) {
    return new ElasticsearchStatusException("codebook [" + name + "] " + why, RestStatus.CONFLICT);
  }

  private void drawAndTrain(
      TrainingPlan plan,
      VectorSource source,
      CodebookStore.Found claim,
      ActionListener<CodebookEntry> done) {
    SampleMemory.Rows kept = memory.rows(plan.space().dims());
    ActionListener<CodebookEntry> end =
        ActionListener.releaseBefore(
            kept, ActionListener.wrap(done::onResponse, e -> fail(plan, claim, e, done)));
    ActionListener.run(
        end,
        l ->
            source.draw(
                memory.fitting(plan.sampleSize(), plan.space().dims()),
                kept,
                l.delegateFailureAndWrap(
                    (next, drawn) ->
                        workers
                            .executor()
                            .execute(ActionRunnable.wrap(next, r -> run(plan, drawn, claim, r))))));
  }

  private void run(
      TrainingPlan plan,
      VectorSource.Drawn drawn,
      CodebookStore.Found claim,
      ActionListener<CodebookEntry> listener)
      throws IOException {
    int dims = plan.space().dims();
    SubspaceLayout layout = SampleOptions.layout(dims, plan.subspaces());
    TrainingSample sample = TrainingSample.of(dims, drawn.rows().toArray(new float[0][]));
    AbortCheck abort =
        () -> {
          if (closed) {
            throw new IOException("the node is closing");
          }
          if (plan.cancelled().getAsBoolean()) {
            throw new TaskCancelledException(
                "the training of codebook [" + plan.name() + "] was cancelled");
          }
        };
    int version = claim.entry().nextVersion();
    CodebookId id = new CodebookId(StringHelper.randomId(), plan.name(), version);
    Codebook codebook =
        PqTrainer.train(
            ExecutorRegistry.quantizer(),
            sample,
            layout,
            id,
            PqTrainer.Options.defaults(Seeds.next()),
            workers,
            abort);
    SharedCodebook shared =
        SharedCodebook.of(
            plan.name(),
            version,
            codebook,
            plan.space().similarity().function(),
            sample,
            drawn.vectors(),
            plan.from(),
            workers,
            abort);
    abort.check();
    CodebookEntry entry =
        CodebookEntry.ready(shared, plan.space().similarity(), threads.absoluteTimeInMillis());
    store.replace(
        claim,
        entry,
        shared,
        listener.delegateFailureAndWrap(
            (l, found) -> reload(plan.name(), l.map(none -> found.entry()))));
  }

  private void fail(
      TrainingPlan plan,
      CodebookStore.Found claim,
      Exception e,
      ActionListener<CodebookEntry> done) {
    ActionListener<Void> told = ActionListener.running(() -> done.onFailure(e));
    ActionListener<Void> undone = ActionListener.running(() -> reload(plan.name(), told));
    CodebookEntry before = claim.entry().with((CodebookEntry.Claim) null);
    if (plan.keepFailure()) {
      if (ExceptionsHelper.status(e).getStatus() < RestStatus.INTERNAL_SERVER_ERROR.getStatus()) {
        logger.info("training codebook [{}] failed: {}", plan.name(), e.getMessage());
      } else {
        logger.warn("training codebook [" + plan.name() + "] failed", e);
      }
      CodebookEntry.Failure failure =
          new CodebookEntry.Failure(String.valueOf(e.getMessage()), threads.absoluteTimeInMillis());
      store.replace(claim, before.with(failure), undone.map(found -> null));
    } else if (before.content() == null && before.failure() == null) {
      store.delete(claim, undone);
    } else {
      store.replace(claim, before, undone.map(found -> null));
    }
  }

  /**
   * Makes all nodes reload a codebook. A node that cannot be reached reloads it when it is back.
   */
  public void reload(String name, ActionListener<Void> listener) {
    client.execute(
        TransportReloadAction.TYPE,
        new NamedNodesRequest(name),
        ActionListener.wrap(
            response -> {
              response
                  .failures()
                  .forEach(e -> logger.warn("a node could not load codebook [" + name + "]", e));
              listener.onResponse(null);
            },
            e -> {
              logger.warn("could not notify the nodes of codebook [" + name + "]", e);
              listener.onResponse(null);
            }));
  }
}
