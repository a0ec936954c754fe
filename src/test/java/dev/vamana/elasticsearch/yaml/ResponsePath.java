package dev.vamana.elasticsearch.yaml;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Paths such as {@code hits.hits.0._id} into maps and lists. A dot of a key is written {@code \.};
 * a part may name a kept value; {@code _arbitrary_key_} is the first key of an object.
 */
final class ResponsePath {
  private static final String ANY_KEY = "_arbitrary_key_";

  private ResponsePath() {}

  static List<String> split(String path) {
    List<String> parts = new ArrayList<>();
    StringBuilder part = new StringBuilder();
    boolean escaped = false;
    int braces = 0;
    for (char c : path.toCharArray()) {
      if (c == '\\' && !escaped) {
        escaped = true;
        continue;
      }
      if (c == '.' && !escaped && braces == 0) {
        add(parts, part);
      } else {
        braces += c == '{' ? 1 : c == '}' ? -1 : 0;
        part.append(c);
      }
      escaped = false;
    }
    add(parts, part);
    return parts;
  }

  private static void add(List<String> parts, StringBuilder part) {
    if (!part.isEmpty()) {
      parts.add(part.toString());
      part.setLength(0);
    }
  }

  /**
   * What lies at a path, or null where an object on the way lacks the key.
   *
   * @throws IllegalArgumentException if a list's part is no index in it, or a scalar is gone into
   */
  static Object find(Object from, List<String> parts, Stash stash) {
    Object value = from;
    for (String part : parts) {
      if (value == null) {
        return null;
      }
      String key = Stash.isReference(part) ? String.valueOf(stash.resolve(part)) : part;
      value = step(value, key);
    }
    return value;
  }

  private static Object step(Object value, String key) {
    if (value instanceof Map<?, ?> map) {
      return key.equals(ANY_KEY) && !map.isEmpty() ? map.keySet().iterator().next() : map.get(key);
    }
    if (value instanceof List<?> list) {
      int index;
      try {
        index = Integer.parseInt(key);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("[" + key + "] is no index of a list", e);
      }
      if (index < 0 || index >= list.size()) {
        throw new IllegalArgumentException(
            "index [" + key + "] is outside of a list of " + list.size());
      }
      return list.get(index);
    }
    throw new IllegalArgumentException("there is no [" + key + "] in [" + value + "]");
  }
}
