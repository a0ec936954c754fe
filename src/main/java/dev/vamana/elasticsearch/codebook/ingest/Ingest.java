package dev.vamana.elasticsearch.codebook.ingest;

import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.pq.SharedCodebook;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.elasticsearch.action.support.MappedActionFilter;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.ClusterStateListener;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.ingest.Processor;

/** Lists what a node registers for the ingest processor. */
public final class Ingest {
  private Ingest() {}

  /** The processor's factory, by the processor's type. */
  public static Map<String, Processor.Factory> processors(Samples samples, ThreadContext context) {
    return Map.of(TrainProcessor.TYPE, new TrainProcessor.Factory(samples, context));
  }

  /**
   * Filters that mark simulations, and that reject pipelines with conflicting options.
   *
   * @param ready returns the codebook with a name that is ready, or null
   */
  public static Collection<MappedActionFilter> filters(
      Supplier<ThreadContext> context,
      Supplier<ClusterState> state,
      Function<String, SharedCodebook> ready) {
    List<MappedActionFilter> filters = new ArrayList<>(Simulation.filters(context));
    filters.add(new PipelineCheck(state, ready));
    return filters;
  }

  /** The options of each codebook in the stored pipelines. */
  public static Map<String, Set<SampleOptions>> fed(ClusterState state) {
    return Pipelines.fed(state);
  }

  /** Makes a listener that drops the samples which no pipeline feeds any more. */
  public static ClusterStateListener watch(Samples samples) {
    return new PipelineWatch(samples);
  }
}
