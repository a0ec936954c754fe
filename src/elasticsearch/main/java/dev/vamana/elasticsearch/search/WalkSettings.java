package dev.vamana.elasticsearch.search;

import dev.vamana.search.WalkChange;
import dev.vamana.search.WalkParameters;
import java.util.List;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;

/** Dynamic index settings for walks; with 0 the search chooses the value. */
public final class WalkSettings {

  /** Least beam width, where {@code num_candidates} is less. */
  public static final Setting<Integer> BEAM_WIDTH =
      setting("index.vamana.search.beam_width", WalkParameters.MAX_BEAM_WIDTH);

  /** Nodes that are expanded together in one step. */
  public static final Setting<Integer> PARENTS =
      setting("index.vamana.search.parents", WalkParameters.MAX_PARENTS);

  /** Nodes that get exact scores after a walk on codes. */
  public static final Setting<Integer> RERANK_DEPTH =
      setting("index.vamana.search.rerank_depth", WalkParameters.MAX_BEAM_WIDTH);

  /** All settings, for registration. */
  public static final List<Setting<?>> ALL = List.of(BEAM_WIDTH, PARENTS, RERANK_DEPTH);

  private WalkSettings() {}

  private static Setting<Integer> setting(String key, int max) {
    return Setting.intSetting(key, 0, 0, max, Property.IndexScope, Property.Dynamic);
  }

  /** Returns what the settings of an index change. */
  public static WalkChange of(Settings index) {
    return new WalkChange(BEAM_WIDTH.get(index), PARENTS.get(index), RERANK_DEPTH.get(index));
  }
}
