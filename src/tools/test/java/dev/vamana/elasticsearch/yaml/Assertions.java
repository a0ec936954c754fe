package dev.vamana.elasticsearch.yaml;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/** Steps that compare what was answered with what was expected. */
final class Assertions {
  private Assertions() {}

  /**
   * Compares.
   *
   * @param kind such as {@code match}
   * @param path where the value was found, for the message
   * @param actual what was found, or null for nothing
   * @param expected what stands behind the path, or null for nothing
   * @throws AssertionError if the value is another
   * @throws IllegalArgumentException if there is no such step
   */
  static void check(String kind, String path, Object actual, Object expected) {
    boolean fine =
        switch (kind) {
          case "is_true" -> !isFalsy(actual);
          case "is_false" -> isFalsy(actual);
          case "exists" -> actual != null;
          case "not_exists" -> actual == null;
          case "match" -> matches(actual, expected);
          case "length" -> length(actual) == ((Number) expected).intValue();
          case "close_to" -> isClose(actual, (Map<?, ?>) expected);
          case "gt" -> compare(actual, expected) > 0;
          case "gte" -> compare(actual, expected) >= 0;
          default -> throw new IllegalArgumentException("unknown step [" + kind + "]");
        };
    if (!fine) {
      throw new AssertionError(
          "[" + path + "] " + kind + " [" + expected + "], but it is [" + actual + "]");
    }
  }

  private static boolean isFalsy(Object value) {
    return value == null || Set.of("", "0", "false").contains(value.toString());
  }

  /**
   * Numbers are equal whatever their types; numbers inside of objects and lists have to be written
   * alike. A text between slashes is a pattern in which blanks stand for nothing.
   */
  private static boolean matches(Object actual, Object expected) {
    if (expected instanceof String text && text.strip().matches("(?s)/.+/")) {
      String regex = text.strip().substring(1, text.strip().length() - 1);
      return actual instanceof String a
          && Pattern.compile(regex, Pattern.COMMENTS).matcher(a).find();
    }
    return actual instanceof Number a && expected instanceof Number b
        ? a.doubleValue() == b.doubleValue()
        : Objects.equals(actual, expected);
  }

  private static int length(Object value) {
    if (value instanceof List<?> list) {
      return list.size();
    }
    return value instanceof Map<?, ?> map ? map.size() : -1;
  }

  private static boolean isClose(Object actual, Map<?, ?> bounds) {
    return Math.abs(number(actual) - number(bounds.get("value"))) <= number(bounds.get("error"));
  }

  private static int compare(Object actual, Object expected) {
    return Double.compare(number(actual), number(expected));
  }

  private static double number(Object value) {
    if (value instanceof Number number) {
      return number.doubleValue();
    }
    throw new AssertionError("[" + value + "] is no number");
  }
}
