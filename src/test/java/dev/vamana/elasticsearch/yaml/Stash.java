package dev.vamana.elasticsearch.yaml;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Values that a test has kept, to be named as {@code $name} or inside a text as <code>${name}
 * </code>. The last response's body is {@code $body}, what is inside of it {@code $body.path}.
 */
final class Stash {
  private static final Pattern EMBEDDED = Pattern.compile("\\$\\{([^}]+)}");

  private final Map<String, Object> values = new HashMap<>();

  void put(String name, Object value) {
    values.put(name, value);
  }

  /** Whether a text names a kept value. */
  static boolean isReference(String text) {
    return (text.startsWith("$") && text.length() > 1) || EMBEDDED.matcher(text).find();
  }

  /**
   * What a text stands for: the kept value itself where the text is nothing but its name, a text
   * with the values filled in otherwise, the text itself if it names none.
   *
   * @throws IllegalArgumentException if there is no such value
   */
  Object resolve(String text) {
    if (text.startsWith("$") && text.length() > 1 && text.charAt(1) != '{') {
      return named(text.substring(1));
    }
    Matcher embedded = EMBEDDED.matcher(text);
    if (embedded.matches()) {
      return named(embedded.group(1));
    }
    StringBuilder filled = new StringBuilder();
    embedded.reset();
    while (embedded.find()) {
      String value = String.valueOf(named(embedded.group(1)));
      embedded.appendReplacement(filled, Matcher.quoteReplacement(value));
    }
    return embedded.appendTail(filled).toString();
  }

  private Object named(String name) {
    if (values.containsKey(name)) {
      return values.get(name);
    }
    List<String> parts = ResponsePath.split(name);
    if (parts.size() > 1 && values.containsKey(parts.get(0))) {
      return ResponsePath.find(values.get(parts.get(0)), parts.subList(1, parts.size()), this);
    }
    throw new IllegalArgumentException("nothing was kept under [" + name + "]");
  }

  /** A copy of a value in which every reference, in keys too, is what it stands for. */
  Object fill(Object value) {
    if (value instanceof String text) {
      return isReference(text) ? resolve(text) : text;
    }
    if (value instanceof List<?> list) {
      List<Object> copy = new ArrayList<>();
      list.forEach(entry -> copy.add(fill(entry)));
      return copy;
    }
    if (value instanceof Map<?, ?> map) {
      Map<String, Object> copy = new LinkedHashMap<>();
      map.forEach((key, entry) -> copy.put(String.valueOf(fill(key)), fill(entry)));
      return copy;
    }
    return value;
  }
}
