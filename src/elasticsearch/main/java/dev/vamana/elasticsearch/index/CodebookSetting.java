package dev.vamana.elasticsearch.index;

import dev.vamana.pq.SharedCodebook;
import java.util.HashMap;
import java.util.Map;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;

/** The index settings that name the shared codebooks of an index's fields. */
public final class CodebookSetting {
  /** Prefix of the settings; the full name of the field follows, which may have any characters. */
  static final String PREFIX = "index.vamana.codebook.";

  /** All of these settings; each value is the name of a codebook. */
  static final Setting<Settings> ALL =
      Setting.groupSetting(PREFIX, CodebookSetting::names, Property.IndexScope);

  private CodebookSetting() {}

  /** Returns the setting of a field. */
  static String key(String field) {
    return PREFIX + field;
  }

  /**
   * Reads the codebook names in an index's settings.
   *
   * @return codebook name by field
   * @throws IllegalArgumentException if a name is invalid; the message has the setting, the value
   *     and the rule
   */
  static Map<String, String> of(Settings indexSettings) {
    return names(ALL.get(indexSettings));
  }

  private static Map<String, String> names(Settings fields) {
    Map<String, String> names = new HashMap<>();
    for (String field : fields.keySet()) {
      if (field.isEmpty()) {
        throw new IllegalArgumentException("setting [" + PREFIX + "] must end with a field name");
      }
      String name = fields.get(field);
      if (name == null) {
        // a request removes a setting by the value null
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
