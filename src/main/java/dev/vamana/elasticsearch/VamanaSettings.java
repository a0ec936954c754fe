package dev.vamana.elasticsearch;

import dev.vamana.codec.VamanaParameters;
import java.util.List;
import java.util.Locale;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.util.concurrent.EsExecutors;

/**
 * The settings of the plugin.
 *
 * <p>Index settings are neither dynamic nor final: they are given when an index is created or while
 * it is closed, because the format of an open index is fixed when its shards open. Values outside
 * the range are rejected with an {@link IllegalArgumentException} that names setting, value and
 * range.
 */
final class VamanaSettings {
  /**
   * Whether new segments store their {@code dense_vector} fields as Vamana graphs. Leaving it out
   * and saying {@code false} differ in one point: with an explicit {@code false} a forced merge
   * turns the segments that are still in our format back into the stock one.
   */
  static final Setting<Boolean> ENABLED =
      Setting.boolSetting("index.vamana.enabled", false, Property.IndexScope);

  /** Out-neighbours kept for each vector. */
  static final Setting<Integer> MAX_DEGREE =
      Setting.intSetting(
          "index.vamana.max_degree",
          VamanaParameters.DEFAULT_MAX_DEGREE,
          VamanaParameters.MIN_MAX_DEGREE,
          VamanaParameters.MAX_MAX_DEGREE,
          Property.IndexScope);

  /** Candidates kept by the search for neighbours while the graph is built. */
  static final Setting<Integer> BEAM_WIDTH =
      Setting.intSetting(
          "index.vamana.beam_width",
          VamanaParameters.DEFAULT_BEAM_WIDTH,
          VamanaParameters.MIN_BEAM_WIDTH,
          VamanaParameters.MAX_BEAM_WIDTH,
          Property.IndexScope);

  /** Slack of robust prune: larger values keep longer edges. */
  static final Setting<Float> ALPHA =
      floatSetting(
          "index.vamana.alpha",
          VamanaParameters.DEFAULT_ALPHA,
          VamanaParameters.MIN_ALPHA,
          VamanaParameters.MAX_ALPHA);

  /** Bytes of a vector's product quantization code; 0 derives it from the dimension. */
  static final Setting<Integer> PQ_SUBSPACES =
      Setting.intSetting(
          "index.vamana.pq.subspaces",
          VamanaParameters.AUTO_PQ_SUBSPACES,
          VamanaParameters.AUTO_PQ_SUBSPACES,
          VamanaParameters.MAX_PQ_SUBSPACES,
          Property.IndexScope);

  /** Vectors below which a segment gets no graph and is scanned. */
  static final Setting<Integer> GRAPH_THRESHOLD =
      Setting.intSetting(
          "index.vamana.graph_threshold",
          VamanaParameters.DEFAULT_GRAPH_THRESHOLD,
          0,
          Integer.MAX_VALUE,
          Property.IndexScope);

  /**
   * Node setting: threads that build graphs on this node, all shards together. Building is bound by
   * the processor, so more threads than the node may use processors only add switching; and fewer
   * would leave a merge slower than it need be on a node that is otherwise idle. Nodes that must
   * keep search latency flat while they merge set it lower.
   */
  static final Setting<Integer> BUILD_THREADS =
      Setting.intSetting(
          "vamana.build.threads",
          settings -> Integer.toString(EsExecutors.allocatedProcessors(settings)),
          1,
          1024,
          Property.NodeScope);

  /** Every setting, for registration. */
  static final List<Setting<?>> ALL =
      List.of(ENABLED, MAX_DEGREE, BEAM_WIDTH, ALPHA, PQ_SUBSPACES, GRAPH_THRESHOLD, BUILD_THREADS);

  private VamanaSettings() {}

  /** The format parameters that an index's settings ask for. */
  static VamanaParameters parameters(Settings indexSettings) {
    return VamanaParameters.defaults()
        .withMaxDegree(MAX_DEGREE.get(indexSettings))
        .withBeamWidth(BEAM_WIDTH.get(indexSettings))
        .withAlpha(ALPHA.get(indexSettings))
        .withPqSubspaces(PQ_SUBSPACES.get(indexSettings))
        .withGraphThreshold(GRAPH_THRESHOLD.get(indexSettings));
  }

  private static Setting<Float> floatSetting(String key, float defaultValue, float min, float max) {
    return new Setting<>(
        key,
        Float.toString(defaultValue),
        text -> parseFloat(key, text, min, max),
        Property.IndexScope);
  }

  private static float parseFloat(String key, String text, float min, float max) {
    float value;
    try {
      value = Float.parseFloat(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "Failed to parse value [" + text + "] for setting [" + key + "] as a number", e);
    }
    // Written so that NaN fails too.
    if (!(value >= min && value <= max)) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "Failed to parse value [%s] for setting [%s] must be >= %s and <= %s",
              text,
              key,
              min,
              max));
    }
    return value;
  }
}
