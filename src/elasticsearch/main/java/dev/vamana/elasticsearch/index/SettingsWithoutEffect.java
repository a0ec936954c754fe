package dev.vamana.elasticsearch.index;

import dev.vamana.codec.IndexType;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexModule;
import org.elasticsearch.index.IndexService;
import org.elasticsearch.index.shard.IndexEventListener;

/**
 * Logs settings of an index that have no effect, each time that a node opens the index. Such
 * settings are not refused: one template can serve graphs and lists, and indices that opt in and
 * others.
 */
public final class SettingsWithoutEffect implements IndexEventListener {
  private static final Logger logger = LogManager.getLogger(SettingsWithoutEffect.class);

  private SettingsWithoutEffect() {}

  /** Listens to an index that is being opened. */
  public static void register(IndexModule module) {
    module.addIndexEventListener(new SettingsWithoutEffect());
  }

  @Override
  public void afterIndexCreated(IndexService index) {
    for (String sentence : of(index.getIndexSettings().getSettings())) {
      logger.warn("[{}] {}", index.index().getName(), sentence);
    }
  }

  /** Returns a sentence for each setting without effect, in the order of their names. */
  static List<String> of(Settings settings) {
    List<String> sentences = new ArrayList<>();
    for (String key : new TreeSet<>(settings.keySet())) {
      String missing = VamanaSettings.isOfNewSegments(key) ? missing(key, settings) : null;
      if (missing != null) {
        sentences.add(
            "setting [" + key + "] is [" + settings.get(key) + "], but has no effect " + missing);
      }
    }
    return sentences;
  }

  /** Returns why a setting has no effect, or null if it has one. */
  private static String missing(String key, Settings settings) {
    if (VamanaSettings.ENABLED.exists(settings) == false) {
      return "without [" + VamanaSettings.ENABLED.getKey() + "]";
    }
    boolean lists = VamanaSettings.TYPE.get(settings) == IndexType.IVF;
    if (lists && VamanaSettings.isOfGraphs(key)) {
      return "with [" + VamanaSettings.TYPE.getKey() + "] [ivf]";
    }
    if (lists == false && key.equals(VamanaSettings.CODES.getKey())) {
      return "unless [" + VamanaSettings.TYPE.getKey() + "] is [ivf]";
    }
    return null;
  }
}
