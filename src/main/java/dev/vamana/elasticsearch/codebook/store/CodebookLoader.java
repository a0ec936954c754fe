package dev.vamana.elasticsearch.codebook.store;

import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.pq.SharedCodebook;
import java.util.ArrayDeque;
import java.util.Queue;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.cluster.ClusterChangedEvent;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.ClusterStateListener;
import org.elasticsearch.cluster.metadata.IndexAbstraction;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.cluster.routing.IndexRoutingTable;
import org.elasticsearch.index.Index;

/**
 * Loads codebooks from the index into this node's memory. It loads a codebook when asked to, and
 * all codebooks when the index becomes readable for this node, for instance after the node has
 * started. Nothing waits for it.
 *
 * <p>Loads run one at a time, so that the result of the last read remains.
 */
public final class CodebookLoader implements ClusterStateListener {
  private static final Logger logger = LogManager.getLogger(CodebookLoader.class);

  private final CodebookStore store;
  private final NodeCodebooks codebooks;
  private final Samples samples;
  private final Queue<Load> queue = new ArrayDeque<>();
  private boolean running;

  private record Load(String name, ActionListener<Void> listener) {}

  /**
   * Makes a loader.
   *
   * @param store store to read from
   * @param codebooks receives the codebooks that are ready
   * @param samples samples to drop once a codebook is ready
   */
  public CodebookLoader(CodebookStore store, NodeCodebooks codebooks, Samples samples) {
    this.store = store;
    this.codebooks = codebooks;
    this.samples = samples;
  }

  @Override
  public void clusterChanged(ClusterChangedEvent event) {
    boolean back =
        event.previousState().nodes().getMasterNode() == null
            && event.state().nodes().getMasterNode() != null;
    if (readable(event.state()) && (back || !readable(event.previousState()))) {
      loadAll();
    }
    if (exists(event.previousState()) && !exists(event.state())) {
      codebooks.names().forEach(name -> load(name, ActionListener.noop()));
    }
  }

  private static boolean exists(ClusterState state) {
    return state.metadata().projects().values().stream()
        .anyMatch(project -> project.getIndicesLookup().containsKey(CodebookIndex.NAME));
  }

  private static boolean readable(ClusterState state) {
    if (state.nodes().getMasterNode() == null) {
      return false;
    }
    for (ProjectMetadata project : state.metadata().projects().values()) {
      IndexAbstraction found = project.getIndicesLookup().get(CodebookIndex.NAME);
      if (found != null) {
        for (Index index : found.getIndices()) {
          IndexRoutingTable shards = state.routingTable(project.id()).index(index);
          if (shards != null && shards.allPrimaryShardsActive()) {
            return true;
          }
        }
      }
    }
    return false;
  }

  private void loadAll() {
    store.list(
        ActionListener.wrap(
            entries -> entries.forEach(entry -> load(entry.name(), ActionListener.noop())),
            e -> logger.warn("could not list the codebooks; each is loaded when it changes", e)));
  }

  /**
   * Loads one codebook, or removes it from memory if it has been deleted; then calls the listener.
   */
  public void load(String name, ActionListener<Void> listener) {
    synchronized (queue) {
      queue.add(new Load(name, listener));
      if (running) {
        return;
      }
      running = true;
    }
    next();
  }

  private void next() {
    Load load;
    synchronized (queue) {
      load = queue.poll();
      if (load == null) {
        running = false;
        return;
      }
    }
    ActionListener<Void> listener = ActionListener.runAfter(load.listener(), this::next);
    ActionListener.run(
        listener,
        l ->
            store.find(
                load.name(),
                l.map(
                    found -> {
                      take(load.name(), found);
                      return null;
                    })));
  }

  private void take(String name, CodebookStore.Found found) {
    SharedCodebook codebook;
    try {
      codebook = found.codebook();
    } catch (IllegalArgumentException e) {
      logger.warn("codebook [" + name + "] cannot be read and is not used", e);
      codebook = null;
    }
    if (codebook != null) {
      codebooks.put(codebook);
      samples.drop(name);
      return;
    }
    codebooks.remove(name);
    if (!found.exists()) {
      samples.drop(name);
    } else if (found.entry().claim() == null) {
      samples.unseal(name);
    }
  }
}
