package dev.vamana.elasticsearch.gpu;

import java.util.List;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.TimeValue;

/** Index settings for the device; both are dynamic. */
public final class WarmSettings {

  /** Whether the index's segments are uploaded to the device before others, and kept there. */
  public static final Setting<Boolean> WARM =
      GpuSettings.booleanSetting("index.vamana.warm", false, Property.IndexScope, Property.Dynamic);

  /** Longest time that the start of a shard waits for the uploads of a warm index. */
  public static final Setting<TimeValue> WARM_TIMEOUT =
      Setting.timeSetting(
          "index.vamana.warm_timeout",
          TimeValue.timeValueSeconds(30),
          TimeValue.ZERO,
          TimeValue.timeValueMinutes(10),
          Property.IndexScope,
          Property.Dynamic);

  /** All settings, for registration. */
  public static final List<Setting<?>> ALL = List.of(WARM, WARM_TIMEOUT);

  private WarmSettings() {}

  /** Whether an index is warm. */
  static boolean warm(Settings settings) {
    return WARM.get(settings);
  }
}
