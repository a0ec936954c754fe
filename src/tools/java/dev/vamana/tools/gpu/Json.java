package dev.vamana.tools.gpu;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;

/** Writes JSON with readable diffs: one line per value, and one line per row. */
final class Json {

  private Json() {}

  /** Writes an object. Arrays of objects among its values get one line per row. */
  static String write(Map<String, Object> object) throws IOException {
    StringJoiner lines = new StringJoiner(",\n", "{\n", "\n}\n");
    for (Map.Entry<String, Object> entry : object.entrySet()) {
      lines.add(JSON.std.asString(entry.getKey()) + ": " + value(entry.getValue()));
    }
    return lines.toString();
  }

  private static String value(Object value) throws IOException {
    if (value instanceof List<?> list
        && list.isEmpty() == false
        && list.stream().allMatch(row -> row instanceof Map)) {
      StringJoiner rows = new StringJoiner(",\n  ", "[\n  ", "\n]");
      for (Object row : list) {
        rows.add(JSON.std.asString(row));
      }
      return rows.toString();
    }
    return JSON.std.asString(value);
  }
}
