package dev.vamana.elasticsearch;

import dev.vamana.pq.SharedCodebook;
import java.util.HashMap;
import java.util.Map;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;

/** The index settings that name the shared codebook of a field. */
final class CodebookSetting {
  /** Followed by the full name of the field, which may have any characters. */
  static final String PREFIX = "index.vamana.codebook.";

  /** All of them together; each value is a codebook's name. */
  static final Setting<Settings> ALL =
      Setting.groupSetting(PREFIX, CodebookSetting::names, Property.IndexScope);

  private CodebookSetting() {}

  /** The setting of a field. */
  static String key(String field) {
    return PREFIX + field;
  }

  /**
   * The codebook's name of each field that an index's settings give one.
   *
   * @throws IllegalArgumentException if a name is not valid; names setting, value and rule
   */
  static Map<String, String> of(Settings indexSettings) {
    return names(ALL.get(indexSettings));
  }

  private static Map<String, String> names(Settings fields) {
    Map<String, String> names = new HashMap<>();
    for (String field : fields.keySet()) {
      if (field.isEmpty()) {
        throw new IllegalArgumentException("setting [" + PREFIX + "] has to end with a field");
      }
      String name = fields.get(field);
      if (name == null) {
        // how a request takes the setting away
        continue;
      }
      try {
        names.put(field, SharedCodebook.checkName(name));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(
            "Failed to parse value [" + name + "] for setting [" + key(field) + "]", e);
      }
    }
    return names;
  }
}
