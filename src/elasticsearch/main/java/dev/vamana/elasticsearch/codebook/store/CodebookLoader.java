package dev.vamana.elasticsearch.codebook.store;

import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.pq.SharedCodebook;
import java.util.Map;
import java.util.concurrent.Executor;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.cluster.ClusterChangedEvent;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.ClusterStateListener;
import org.elasticsearch.cluster.metadata.IndexAbstraction;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.common.util.concurrent.ThrottledTaskRunner;

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
  private final Map<String, SharedCodebook> ready;
  private final Samples samples;
  private final ThrottledTaskRunner loads;

  /**
   * Makes a loader.
   *
   * @param store store to read from
   * @param ready receives the codebooks that are ready, by name
   * @param samples samples that begin anew once their codebook is ready or deleted
   * @param executor starts loads
   */
  public CodebookLoader(
      CodebookStore store, Map<String, SharedCodebook> ready, Samples samples, Executor executor) {
    this.store = store;
    this.ready = ready;
    this.samples = samples;
    loads = new ThrottledTaskRunner("vamana_codebooks", 1, executor);
  }

  @Override
  public void clusterChanged(ClusterChangedEvent event) {
    boolean readable = readable(event.state());
    if (readable && !readable(event.previousState())) {
      store.list(
          ActionListener.wrap(
              entries -> entries.forEach(entry -> load(entry.name(), ActionListener.noop())),
              e -> logger.warn("could not list the codebooks; each is loaded when it changes", e)));
    }
    if (!readable && exists(event.previousState()) && !exists(event.state())) {
      ready.keySet().forEach(name -> load(name, ActionListener.noop()));
    }
  }

  private static boolean exists(ClusterState state) {
    return state.metadata().projects().values().stream()
        .anyMatch(project -> project.getIndicesLookup().containsKey(CodebookIndex.NAME));
  }

  /** Whether the node is in a cluster whose codebooks it can read. */
  private static boolean readable(ClusterState state) {
    return state.nodes().getMasterNode() != null
        && state.metadata().projects().values().stream()
            .anyMatch(project -> readable(state, project));
  }

  private static boolean readable(ClusterState state, ProjectMetadata project) {
    IndexAbstraction found = project.getIndicesLookup().get(CodebookIndex.NAME);
    return found != null
        && found.getIndices().stream()
            .map(index -> state.routingTable(project.id()).index(index))
            .anyMatch(shards -> shards != null && shards.allPrimaryShardsActive());
  }

  /**
   * Loads one codebook, or removes it from memory if it has been deleted; then calls the listener.
   */
  void load(String name, ActionListener<Void> listener) {
    loads.enqueueTask(
        listener.delegateFailureAndWrap(
            (l, slot) ->
                store.find(
                    name,
                    ActionListener.releaseBefore(
                        slot,
                        l.map(
                            found -> {
                              take(name, found);
                              return null;
                            })))));
  }

  private void take(String name, CodebookStore.Found found) {
    SharedCodebook codebook;
    try {
      codebook = found.codebook();
    } catch (IllegalArgumentException e) {
      logger.warn("codebook [" + name + "] cannot be read and is not used", e);
      codebook = null;
    }
    if (codebook == null) {
      ready.remove(name);
    } else {
      ready.put(name, codebook);
    }
    if (codebook != null || !found.exists()) {
      samples.restart(name);
    }
  }
}
