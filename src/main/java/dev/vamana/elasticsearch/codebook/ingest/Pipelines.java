package dev.vamana.elasticsearch.codebook.ingest;

import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.pq.SharedCodebook;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import org.apache.lucene.index.VectorEncoding;
import org.elasticsearch.ElasticsearchException;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.ingest.IngestMetadata;
import org.elasticsearch.ingest.PipelineConfiguration;

/** Reads the options of codebooks in the stored pipelines. */
final class Pipelines {
  private Pipelines() {}

  /** The options of each codebook in the stored pipelines. */
  static Map<String, Set<SampleOptions>> fed(ClusterState state) {
    Map<String, Set<SampleOptions>> fed = new HashMap<>();
    for (Map<String, Object> pipeline : stored(state).values()) {
      for (TrainOptions options : in(pipeline)) {
        fed.computeIfAbsent(options.codebook(), name -> new HashSet<>()).add(options.sample());
      }
    }
    return fed;
  }

  /**
   * Returns the reason why a pipeline cannot be stored beside the others, or null if it can. All
   * processors of one codebook must have the same options, except the field, and be for vectors of
   * the codebook if that is ready. Processors that are stored in this pipeline already pass.
   *
   * @param id id of the pipeline; its stored version is ignored
   * @param pipeline new version of the pipeline
   * @param ready returns the codebook with a name that is ready, or null
   */
  static String conflict(
      ClusterState state,
      String id,
      Map<String, Object> pipeline,
      Function<String, SharedCodebook> ready) {
    List<TrainOptions> present = in(stored(state).getOrDefault(id, Map.of()));
    Map<String, SampleOptions> known = new HashMap<>();
    Map<String, String> owners = new HashMap<>();
    stored(state)
        .forEach(
            (other, config) -> {
              if (!other.equals(id)) {
                for (TrainOptions options : in(config)) {
                  known.put(options.codebook(), options.sample());
                  owners.put(options.codebook(), other);
                }
              }
            });
    for (TrainOptions options : in(pipeline)) {
      SampleOptions before = known.putIfAbsent(options.codebook(), options.sample());
      if (before != null && !before.equals(options.sample())) {
        return "processors ["
            + TrainProcessor.TYPE
            + "] of codebook ["
            + options.codebook()
            + "] must have the same options: pipeline ["
            + owners.getOrDefault(options.codebook(), id)
            + "] has "
            + before
            + ", pipeline ["
            + id
            + "] has "
            + options.sample();
      }
      SharedCodebook codebook = ready.apply(options.codebook());
      if (codebook != null && !present.contains(options) && !fits(codebook, options.sample())) {
        return "processor ["
            + TrainProcessor.TYPE
            + "] of pipeline ["
            + id
            + "] has dims ["
            + options.sample().space().dims()
            + "] and similarity ["
            + options.sample().space().similarity().label()
            + "], but codebook ["
            + options.codebook()
            + "] is ready and has dims ["
            + codebook.dimension()
            + "] and similarity "
            + VectorSpace.Similarity.labels(codebook.similarity())
            + ": name another codebook, or delete this one first";
      }
    }
    return null;
  }

  private static boolean fits(SharedCodebook codebook, SampleOptions sample) {
    VectorSpace space = sample.space();
    return codebook
        .mismatch(space.dims(), VectorEncoding.FLOAT32, space.similarity().function())
        .isEmpty();
  }

  private static Map<String, Map<String, Object>> stored(ClusterState state) {
    Map<String, Map<String, Object>> all = new TreeMap<>();
    for (ProjectMetadata project : state.metadata().projects().values()) {
      IngestMetadata ingest = project.custom(IngestMetadata.TYPE);
      if (ingest != null) {
        for (PipelineConfiguration pipeline : ingest.getPipelines().values()) {
          all.put(pipeline.getId(), pipeline.getConfig());
        }
      }
    }
    return all;
  }

  /**
   * The options of all processors of type {@value TrainProcessor#TYPE} in a pipeline, including
   * nested ones.
   */
  private static List<TrainOptions> in(Map<String, Object> pipeline) {
    List<TrainOptions> found = new ArrayList<>();
    collect(pipeline.get("processors"), found);
    collect(pipeline.get("on_failure"), found);
    return found;
  }

  private static void collect(Object part, List<TrainOptions> found) {
    if (part instanceof List<?> list) {
      list.forEach(element -> collect(element, found));
    } else if (part instanceof Map<?, ?> map) {
      map.forEach(
          (key, value) -> {
            if (TrainProcessor.TYPE.equals(key) && value instanceof Map<?, ?> config) {
              read(config, found);
            }
            collect(value, found);
          });
    }
  }

  private static void read(Map<?, ?> config, List<TrainOptions> found) {
    Map<String, Object> copy = new HashMap<>();
    config.forEach((key, value) -> copy.put(String.valueOf(key), value));
    try {
      found.add(TrainOptions.read(null, copy));
    } catch (ElasticsearchException e) {
      // the processor's factory reports this error when the pipeline is stored
      return;
    }
  }
}
