package dev.vamana.elasticsearch.monitor.recall;

import java.util.List;
import java.util.Locale;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;

/** Settings of the recall of live searches. */
public final class RecallSettings {
  /** Name of the pool with the thread that evaluates samples. */
  public static final String POOL = "vamana_recall";

  /** Share of an index's searches that may be answered once more; 0 for none. Dynamic. */
  public static final Setting<Double> SAMPLE_RATE =
      share("index.vamana.recall.sample_rate", "0.0", 0, Property.IndexScope);

  /** Most time of one processor that a node spends on evaluation, as a share. Dynamic. */
  public static final Setting<Double> MAX_LOAD =
      share("vamana.recall.max_load", "0.05", 0.001, Property.NodeScope);

  /** All settings, for registration. */
  public static final List<Setting<?>> ALL = List.of(SAMPLE_RATE, MAX_LOAD);

  private RecallSettings() {}

  private static Setting<Double> share(String key, String value, double min, Property scope) {
    return new Setting<>(key, value, text -> parse(key, text, min), scope, Property.Dynamic);
  }

  private static double parse(String key, String text, double min) {
    double value;
    try {
      value = Double.parseDouble(text);
    } catch (NumberFormatException e) {
      value = Double.NaN;
    }
    // not "<": NaN is refused, too
    if ((value >= min && value <= 1) == false) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "Failed to parse value [%s] for setting [%s] must be a number from %s to 1",
              text,
              key,
              min == 0 ? "0" : Double.toString(min)));
    }
    return value;
  }
}
