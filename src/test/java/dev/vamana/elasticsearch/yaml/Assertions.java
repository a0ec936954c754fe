package dev.vamana.elasticsearch.yaml;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;

/** Steps that compare what was answered with what was expected. */
final class Assertions {
  private Assertions() {}

  /** Compares; fails by an {@link AssertionError}. */
  private interface Comparison {
    void check(String path, Object actual, Object expected);
  }

  /** Reads an assertion; see {@link Step#parse}. */
  static Step parse(String kind, Object argument) {
    return switch (kind) {
      case "is_true" -> ofPath(kind, argument, Assertions::isTrue);
      case "is_false" -> ofPath(kind, argument, Assertions::isFalse);
      case "exists" -> ofPath(kind, argument, Assertions::exists);
      case "not_exists" -> ofPath(kind, argument, Assertions::notExists);
      case "match" -> ofPair(kind, argument, Assertions::match);
      case "matches_in_any_order" -> ofPair(kind, argument, Assertions::matchInAnyOrder);
      case "contains" -> ofPair(kind, argument, Assertions::contains);
      case "length" -> ofPair(kind, argument, Assertions::length);
      case "close_to" -> closeTo(kind, argument);
      case "is_after" -> ofPair(kind, argument, Assertions::isAfter);
      case "lt" -> order(kind, argument, sign -> sign < 0);
      case "lte" -> order(kind, argument, sign -> sign <= 0);
      case "gt" -> order(kind, argument, sign -> sign > 0);
      case "gte" -> order(kind, argument, sign -> sign >= 0);
      default -> throw new IllegalArgumentException("unknown step [" + kind + "]");
    };
  }

  private static Step ofPath(String kind, Object argument, Comparison comparison) {
    String path = Content.text(argument, "[" + kind + "]");
    return execution -> comparison.check(path, execution.value(path), null);
  }

  private static Step ofPair(String kind, Object argument, Comparison comparison) {
    Map<String, Object> pair = Content.object(argument, "[" + kind + "]");
    if (pair.size() != 1) {
      throw new IllegalArgumentException(
          "[" + kind + "] takes one path and value, has " + pair.keySet());
    }
    String path = pair.keySet().iterator().next();
    Object expected = pair.get(path);
    return execution ->
        comparison.check(path, execution.value(path), execution.stash().fill(expected));
  }

  private static Step order(String kind, Object argument, IntPredicate accepted) {
    return ofPair(
        kind,
        argument,
        (path, actual, expected) -> {
          if (!accepted.test(compare(path, actual, expected))) {
            throw failure(path, actual, kind + " " + shown(expected));
          }
        });
  }

  private static int compare(String path, Object actual, Object expected) {
    if (actual instanceof Number a && expected instanceof Number b) {
      return new BigDecimal(a.toString()).compareTo(new BigDecimal(b.toString()));
    }
    if (actual instanceof String a && expected instanceof String b) {
      return a.compareTo(b);
    }
    throw failure(path, actual, "something that can be compared with " + shown(expected));
  }

  private static Step closeTo(String kind, Object argument) {
    Step step = ofPair(kind, argument, Assertions::closeTo);
    Object bounds = ((Map<?, ?>) argument).values().iterator().next();
    Map<String, Object> members = Content.object(bounds, "[close_to]");
    if (!members.keySet().equals(Set.of("value", "error"))
        || members.get("error") instanceof Number == false) {
      throw new IllegalArgumentException(
          "[close_to] takes a [value] and a number [error], has " + members);
    }
    return step;
  }

  private static void closeTo(String path, Object actual, Object expected) {
    Map<?, ?> bounds = (Map<?, ?>) expected;
    double error = ((Number) bounds.get("error")).doubleValue();
    boolean close =
        actual instanceof Number a
            && bounds.get("value") instanceof Number b
            && Math.abs(a.doubleValue() - b.doubleValue()) <= error;
    if (!close) {
      throw failure(path, actual, "a number close to " + expected);
    }
  }

  private static boolean isFalsy(Object value) {
    return value == null
        || Set.of("", "0").contains(value.toString())
        || value.toString().equalsIgnoreCase("false");
  }

  private static void isTrue(String path, Object actual, Object none) {
    if (isFalsy(actual)) {
      throw failure(path, actual, "a true value");
    }
  }

  private static void isFalse(String path, Object actual, Object none) {
    if (!isFalsy(actual)) {
      throw failure(path, actual, "no true value");
    }
  }

  private static void exists(String path, Object actual, Object none) {
    if (actual == null) {
      throw failure(path, null, "anything");
    }
  }

  private static void notExists(String path, Object actual, Object none) {
    if (actual != null) {
      throw failure(path, actual, "nothing");
    }
  }

  /**
   * Numbers are equal whatever their types; numbers inside of objects and lists have to be written
   * alike, so that 1 is not 1.0.
   */
  private static void match(String path, Object actual, Object expected) {
    if (expected instanceof String text && isRegex(text.strip())) {
      String regex = text.strip().substring(1, text.strip().length() - 1);
      boolean found =
          actual instanceof String a && Pattern.compile(regex, Pattern.COMMENTS).matcher(a).find();
      if (!found) {
        throw failure(path, actual, "text that matches /" + regex + "/");
      }
      return;
    }
    boolean equal =
        actual instanceof Number a && expected instanceof Number b && a.getClass() != b.getClass()
            ? a.doubleValue() == b.doubleValue()
            : Objects.equals(actual, expected);
    if (!equal) {
      throw failure(path, actual, shown(expected));
    }
  }

  /** Whether a text is a regular expression between slashes. */
  static boolean isRegex(String text) {
    return text.length() > 2 && text.startsWith("/") && text.endsWith("/");
  }

  private static void matchInAnyOrder(String path, Object actual, Object expected) {
    if (actual instanceof List == false || expected instanceof List == false) {
      if (actual instanceof List || expected instanceof List) {
        throw failure(path, actual, shown(expected) + " in any order");
      }
      match(path, actual, expected);
      return;
    }
    List<Object> left = new ArrayList<>((List<?>) actual);
    for (Object wanted : (List<?>) expected) {
      int index = 0;
      while (index < left.size() && !matches(path, left.get(index), wanted)) {
        index++;
      }
      if (index == left.size()) {
        throw failure(path, actual, shown(expected) + " in any order");
      }
      left.remove(index);
    }
    if (!left.isEmpty()) {
      throw failure(path, actual, shown(expected) + " in any order");
    }
  }

  private static boolean matches(String path, Object actual, Object expected) {
    try {
      match(path, actual, expected);
      return true;
    } catch (AssertionError e) {
      return false;
    }
  }

  /** An object's members in one of a list of objects, or a text in a text. */
  private static void contains(String path, Object actual, Object expected) {
    boolean contained;
    if (actual instanceof List<?> list && expected instanceof Map<?, ?> members) {
      contained =
          list.stream()
              .anyMatch(
                  entry ->
                      entry instanceof Map<?, ?> object
                          && object.entrySet().containsAll(members.entrySet()));
    } else if (actual instanceof String text && expected instanceof String part) {
      contained = text.contains(part);
    } else {
      contained = false;
    }
    if (!contained) {
      throw failure(path, actual, "something that contains " + shown(expected));
    }
  }

  private static void length(String path, Object actual, Object expected) {
    int wanted;
    try {
      wanted = new BigDecimal(String.valueOf(expected)).intValueExact();
    } catch (ArithmeticException | NumberFormatException e) {
      throw new IllegalArgumentException("[length] takes a whole number, has " + expected, e);
    }
    int length = -1;
    if (actual instanceof String text) {
      length = text.length();
    } else if (actual instanceof List<?> list) {
      length = list.size();
    } else if (actual instanceof Map<?, ?> map) {
      length = map.size();
    }
    if (length != wanted) {
      throw failure(path, actual, "something of length " + wanted);
    }
  }

  private static void isAfter(String path, Object actual, Object expected) {
    if (!instant(actual).isAfter(instant(expected))) {
      throw failure(path, actual, "an instant after " + expected);
    }
  }

  private static Instant instant(Object value) {
    try {
      return Instant.parse(String.valueOf(value));
    } catch (DateTimeParseException e) {
      throw new AssertionError("[" + value + "] is no instant", e);
    }
  }

  private static AssertionError failure(String path, Object actual, String expected) {
    return new AssertionError("[" + path + "] should be " + expected + " but is " + shown(actual));
  }

  private static String shown(Object value) {
    return value == null ? "nothing" : value.getClass().getSimpleName() + " [" + value + "]";
  }
}
