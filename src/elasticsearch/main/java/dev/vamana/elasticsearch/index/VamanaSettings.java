package dev.vamana.elasticsearch.index;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.elasticsearch.gpu.GpuSettings;
import dev.vamana.graph.BuildParameters;
import dev.vamana.ivf.CodeKind;
import dev.vamana.pq.SubspaceLayout;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.util.concurrent.EsExecutors;

/**
 * The settings of indices, and the node settings that concern builds.
 *
 * <p>The index settings of this class can be given when an index is created, while it is closed, or
 * with {@code reopen=true}, because the shards of an open index fix the format when they open.
 * Values out of range are rejected with an {@link IllegalArgumentException} that names setting,
 * value and range.
 */
public final class VamanaSettings {
  /** Start of the names of all index settings. */
  static final String PREFIX = "index.vamana.";

  /**
   * Whether new segments store their {@code dense_vector} fields as Vamana graphs. An explicit
   * {@code false} differs from the default in one point: a forced merge then rewrites segments in
   * this plugin's format to the stock one.
   */
  public static final Setting<Boolean> ENABLED =
      Setting.boolSetting("index.vamana.enabled", false, Property.IndexScope);

  /**
   * Whether the node's GPU searches the index's segments in stock HNSW formats. It changes no file:
   * without the setting the index answers as before.
   */
  public static final Setting<Boolean> ACCELERATE =
      Setting.boolSetting("index.vamana.accelerate", false, Property.IndexScope);

  /** Most out-neighbours of each vector. */
  static final Setting<Integer> MAX_DEGREE =
      Setting.intSetting(
          "index.vamana.max_degree",
          VamanaParameters.DEFAULT_MAX_DEGREE,
          BuildParameters.MIN_DEGREE,
          BuildParameters.MAX_DEGREE,
          Property.IndexScope);

  /** Candidates that the search for neighbours keeps during a build; at least the max degree. */
  static final Setting<Integer> BEAM_WIDTH =
      new Setting<>(
          "index.vamana.beam_width",
          Integer.toString(VamanaParameters.DEFAULT_BEAM_WIDTH),
          text ->
              Setting.parseInt(
                  text,
                  BuildParameters.MIN_DEGREE,
                  BuildParameters.MAX_BEAM_WIDTH,
                  "index.vamana.beam_width"),
          new AtLeastMaxDegree(),
          Property.IndexScope);

  /** Slack of robust prune; larger values keep longer edges. */
  static final Setting<Float> ALPHA =
      floatSetting(
          "index.vamana.alpha",
          VamanaParameters.DEFAULT_ALPHA,
          BuildParameters.MIN_ALPHA,
          BuildParameters.MAX_ALPHA);

  /**
   * Subspaces of product quantization, which is also the length of a code in bytes; 0 derives the
   * number from the dimension. Fields with fewer dimensions than subspaces get one subspace per
   * dimension.
   */
  static final Setting<Integer> PQ_SUBSPACES =
      Setting.intSetting(
          "index.vamana.pq.subspaces",
          VamanaParameters.AUTO_SUBSPACES,
          VamanaParameters.AUTO_SUBSPACES,
          SubspaceLayout.MAX_SUBSPACES,
          Property.IndexScope);

  /** Number of vectors from which a segment gets codes. */
  static final Setting<Integer> PQ_THRESHOLD =
      Setting.intSetting(
          "index.vamana.pq.threshold",
          VamanaParameters.DEFAULT_QUANTIZATION_THRESHOLD,
          0,
          Integer.MAX_VALUE,
          Property.IndexScope);

  /**
   * Number of vectors from which a segment gets a graph; smaller segments are scanned. -1 derives
   * the number from the dimension.
   */
  static final Setting<Integer> GRAPH_THRESHOLD =
      Setting.intSetting(
          "index.vamana.graph_threshold",
          VamanaParameters.DEFAULT_GRAPH_THRESHOLD,
          VamanaParameters.AUTO_GRAPH_THRESHOLD,
          Integer.MAX_VALUE,
          Property.IndexScope);

  /** How new segments are searched: by a graph, or by inverted lists. */
  public static final Setting<IndexType> TYPE =
      namedSetting(
          "index.vamana.type",
          IndexType.GRAPH,
          List.of(IndexType.values()),
          IndexType::settingName);

  /** Codes of inverted lists; only with the type {@code ivf}. */
  public static final Setting<CodeKind> CODES =
      namedSetting(
          "index.vamana.codes",
          CodeKind.DEFAULT,
          List.of(CodeKind.values()),
          CodeKind::settingName);

  /**
   * Field whose values get graphs of their own in merges, for searches with a filter by this field;
   * empty for none.
   */
  public static final Setting<String> FILTER_FIELD =
      Setting.simpleString("index.vamana.filter_field", Property.IndexScope);

  /**
   * Node setting: threads that build graphs on this node, for all shards together. Half of the
   * processors are left to searches and indexing, unless told otherwise. More threads than
   * allocated processors only cause switching.
   */
  public static final Setting<Integer> BUILD_THREADS =
      Setting.intSetting(
          "vamana.build.threads",
          settings -> Integer.toString((EsExecutors.allocatedProcessors(settings) + 1) / 2),
          1,
          1024,
          Property.NodeScope);

  /** The settings of this class and of what it names. */
  public static final List<Setting<?>> ALL =
      List.of(
          ENABLED,
          ACCELERATE,
          MAX_DEGREE,
          BEAM_WIDTH,
          ALPHA,
          PQ_SUBSPACES,
          PQ_THRESHOLD,
          GRAPH_THRESHOLD,
          TYPE,
          CODES,
          FILTER_FIELD,
          CodebookSetting.ALL,
          BUILD_THREADS,
          BuildMemory.LIMIT);

  private static final Set<String> OF_GRAPHS =
      Set.of(
          MAX_DEGREE.getKey(),
          BEAM_WIDTH.getKey(),
          ALPHA.getKey(),
          PQ_SUBSPACES.getKey(),
          PQ_THRESHOLD.getKey());

  private static final Set<String> OF_ALL_TYPES =
      Set.of(GRAPH_THRESHOLD.getKey(), TYPE.getKey(), CODES.getKey(), FILTER_FIELD.getKey());

  private VamanaSettings() {}

  /** Whether an index setting concerns graphs or their codes, which lists do not have. */
  static boolean isOfGraphs(String key) {
    return OF_GRAPHS.contains(key) || key.startsWith(CodebookSetting.PREFIX);
  }

  /** Whether an index setting concerns new segments, so that it needs {@link #ENABLED}. */
  static boolean isOfNewSegments(String key) {
    return isOfGraphs(key) || OF_ALL_TYPES.contains(key);
  }

  /** Reads the format parameters from an index's settings. */
  public static VamanaParameters parameters(Settings indexSettings) {
    return new VamanaParameters(
        MAX_DEGREE.get(indexSettings),
        BEAM_WIDTH.get(indexSettings),
        ALPHA.get(indexSettings),
        PQ_SUBSPACES.get(indexSettings),
        GRAPH_THRESHOLD.get(indexSettings),
        PQ_THRESHOLD.get(indexSettings),
        TYPE.get(indexSettings),
        CODES.get(indexSettings),
        FILTER_FIELD.get(indexSettings).isEmpty() ? null : FILTER_FIELD.get(indexSettings));
  }

  private static <T> Setting<T> namedSetting(
      String key, T value, List<T> values, Function<T, String> name) {
    return new Setting<>(
        key,
        name.apply(value),
        text -> GpuSettings.oneOf(key, text, values, name),
        Property.IndexScope);
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
    // negated so that NaN fails, too
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

  private static final class AtLeastMaxDegree implements Setting.Validator<Integer> {
    @Override
    public void validate(Integer value) {}

    @Override
    public void validate(Integer beamWidth, Map<Setting<?>, Object> others) {
      int maxDegree = (Integer) others.get(MAX_DEGREE);
      if (beamWidth < maxDegree) {
        throw new IllegalArgumentException(
            String.format(
                Locale.ROOT,
                "Failed to parse value [%d] for setting [%s] must be >= [%s] which is [%d]",
                beamWidth,
                BEAM_WIDTH.getKey(),
                MAX_DEGREE.getKey(),
                maxDegree));
      }
    }

    @Override
    public Iterator<Setting<?>> settings() {
      return List.<Setting<?>>of(MAX_DEGREE).iterator();
    }
  }
}
