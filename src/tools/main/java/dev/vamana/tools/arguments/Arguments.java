package dev.vamana.tools.arguments;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Parses arguments of the form {@code --name=value}; an empty value counts as absent. An argument
 * that is unknown, malformed, out of range or missing causes an {@link IllegalArgumentException}
 * that names the argument, its value and the allowed values.
 */
public final class Arguments {
  private final Map<String, String> values;
  private final Set<String> known = new TreeSet<>();

  private Arguments(Map<String, String> values) {
    this.values = values;
  }

  /** Reads arguments. Their names are checked by {@link #checked}. */
  public static Arguments parse(String... arguments) {
    Map<String, String> values = new LinkedHashMap<>();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      if (argument.startsWith("--") == false || equals < 3) {
        throw new IllegalArgumentException(
            "unknown argument '" + argument + "', allowed is --name=value");
      }
      if (equals + 1 < argument.length()) {
        values.put(argument.substring(2, equals), argument.substring(equals + 1));
      }
    }
    return new Arguments(values);
  }

  /**
   * Returns what was made of the arguments.
   *
   * @throws IllegalArgumentException if there is an unknown argument
   */
  public <T> T checked(T made) {
    for (Map.Entry<String, String> value : values.entrySet()) {
      if (known.contains(value.getKey()) == false) {
        throw new IllegalArgumentException(
            "unknown argument '--"
                + value.getKey()
                + "="
                + value.getValue()
                + "', allowed are --name=value with the names "
                + String.join(", ", known));
      }
    }
    return made;
  }

  private String value(String name) {
    known.add(name);
    return values.get(name);
  }

  /** Returns the value of an argument that must be present. */
  public String required(String name, String meaning) {
    String value = value(name);
    if (value == null) {
      throw new IllegalArgumentException(
          name + " is missing: " + meaning + ", --" + name + "=<value>");
    }
    return value;
  }

  /** Returns the value of an argument, or the default, which may be null. */
  public String text(String name, String standard) {
    String value = value(name);
    return value == null ? standard : value;
  }

  /** Returns the path of an argument, or the default, which may be null. */
  public Path file(String name, String standard) {
    String value = text(name, standard);
    return value == null ? null : Path.of(value);
  }

  /** Returns the parts of a comma-separated value, or the default. */
  public List<String> list(String name, List<String> standard) {
    String value = value(name);
    return value == null ? standard : Arrays.asList(value.split(","));
  }

  /** Returns {@code true} or {@code false}, or the default. */
  public boolean flag(String name, boolean standard) {
    String value = text(name, Boolean.toString(standard));
    if (List.of("true", "false").contains(value) == false) {
      throw new IllegalArgumentException(name + " is '" + value + "', allowed are true and false");
    }
    return value.equals("true");
  }

  /** Returns a whole number in a range, or the default. */
  public int number(String name, int lowest, int highest, int standard) {
    String value = value(name);
    return value == null ? standard : number(name, value, lowest, highest);
  }

  /** Returns comma-separated whole numbers of at least {@code lowest}, or the default. */
  public List<Integer> numbers(String name, int lowest, List<Integer> standard) {
    String value = value(name);
    return value == null
        ? standard
        : Arrays.stream(value.split(","))
            .map(part -> number(name, part, lowest, Integer.MAX_VALUE))
            .toList();
  }

  private static int number(String name, String value, int lowest, int highest) {
    String allowed =
        highest == Integer.MAX_VALUE
            ? ", allowed is a number >= " + lowest
            : ", allowed is a whole number in [" + lowest + ", " + highest + "]";
    int number;
    try {
      number = Integer.parseInt(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " is '" + value + "'" + allowed, e);
    }
    if (number < lowest || number > highest) {
      throw new IllegalArgumentException(name + " is " + number + allowed);
    }
    return number;
  }

  /** Returns a number above 0 and below a bound, or the default. */
  public double positive(String name, double below, double standard) {
    String value = value(name);
    if (value == null) {
      return standard;
    }
    String allowed = ", allowed is a number above 0 and below " + below;
    double number;
    try {
      number = Double.parseDouble(value);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(name + " is '" + value + "'" + allowed, e);
    }
    // negated so that NaN fails, too
    if (!(number > 0 && number < below)) {
      throw new IllegalArgumentException(name + " is " + value + allowed);
    }
    return number;
  }
}
