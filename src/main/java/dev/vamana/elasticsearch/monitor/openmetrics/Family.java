package dev.vamana.elasticsearch.monitor.openmetrics;

import java.util.Locale;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * What all samples of one name have in common.
 *
 * @param name name without the suffix of the type, such as {@code _total}; ends with the unit
 * @param type what the numbers are
 * @param unit a base unit such as {@code seconds} or {@code bytes}; empty if there is none
 * @param help one sentence for the reader
 */
public record Family(String name, Type type, String unit, String help) {

  private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_]*");

  /** The types of OpenMetrics that we use. */
  public enum Type {
    /** Only grows while the process runs. */
    COUNTER("_total"),
    /** Tells of the moment. */
    GAUGE(""),
    /** Counts values by size; samples are cumulative. */
    HISTOGRAM(""),
    /** One of several states. */
    STATESET(""),
    /** Texts, as labels. */
    INFO("_info");

    private final String suffix;

    Type(String suffix) {
      this.suffix = suffix;
    }

    private String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Checks the name. */
  public Family {
    Objects.requireNonNull(type, "type");
    Objects.requireNonNull(help, "help");
    if (NAME.matcher(name).matches() == false) {
      throw new IllegalArgumentException("name [" + name + "] does not match " + NAME);
    }
    if (type.suffix.isEmpty() == false && name.endsWith(type.suffix)) {
      throw new IllegalArgumentException("name [" + name + "] has a suffix that samples get");
    }
    if (unit.isEmpty() == false && name.endsWith("_" + unit) == false) {
      throw new IllegalArgumentException("name [" + name + "] does not end with [_" + unit + "]");
    }
  }

  /** Makes a family of numbers without a unit. */
  public static Family of(Type type, String name, String help) {
    return new Family(name, type, "", help);
  }

  /** The name of samples with a single value. */
  String sampleName() {
    return name + type.suffix;
  }

  void describe(StringBuilder text) {
    text.append("# TYPE ").append(name).append(' ').append(type.label()).append('\n');
    if (unit.isEmpty() == false) {
      text.append("# UNIT ").append(name).append(' ').append(unit).append('\n');
    }
    text.append("# HELP ").append(name).append(' ').append(Labels.escape(help)).append('\n');
  }
}
