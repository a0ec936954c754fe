package dev.vamana.elasticsearch.monitor.openmetrics;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;

/** Names and values that tell samples of one family apart, in the order of {@link #and}. */
public final class Labels {

  /** No labels. */
  public static final Labels NONE = new Labels(Map.of());

  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]*");

  private final Map<String, String> values;

  private Labels(Map<String, String> values) {
    this.values = values;
  }

  /**
   * These labels and one more.
   *
   * @param name of small letters, digits and underscores; new among these labels
   * @param value any text
   */
  public Labels and(String name, String value) {
    Objects.requireNonNull(value, name);
    if (NAME.matcher(name).matches() == false) {
      throw new IllegalArgumentException("label [" + name + "] does not match " + NAME);
    }
    Map<String, String> more = new LinkedHashMap<>(values);
    if (more.put(name, value) != null) {
      throw new IllegalArgumentException("label [" + name + "] is there twice");
    }
    return new Labels(more);
  }

  /** The labels as a sample has them, in braces; nothing if there are none. */
  String text() {
    if (values.isEmpty()) {
      return "";
    }
    StringBuilder text = new StringBuilder();
    values.forEach(
        (name, value) ->
            text.append(text.isEmpty() ? '{' : ',')
                .append(name)
                .append("=\"")
                .append(escape(value))
                .append('"'));
    return text.append('}').toString();
  }

  /** Escapes what would end a text: backslashes, quotes and line feeds. */
  static String escape(String text) {
    return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }
}
