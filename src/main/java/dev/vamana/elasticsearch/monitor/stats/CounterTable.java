package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.monitor.openmetrics.Exposition;
import dev.vamana.elasticsearch.monitor.openmetrics.Family;
import dev.vamana.elasticsearch.monitor.openmetrics.Labels;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Which numbers of {@link Counters} are samples of which OpenMetrics family. Numbers that no row
 * names are left out.
 *
 * <p>A row names the way to its numbers, with dots. A star stands for any name, or for the rest of
 * one, and becomes the value of a label: {@code *.used_in_bytes} with the label {@code pool}
 * matches {@code device.used_in_bytes}. The way's end tells the unit: {@code _in_millis} and {@code
 * _in_micros} become seconds.
 */
final class CounterTable {

  private static final String SEPARATOR = "\\.";
  private static final String STAR = "*";

  private final List<Row> rows;

  private CounterTable(List<Row> rows) {
    this.rows = List.copyOf(rows);
  }

  static Builder builder() {
    return new Builder();
  }

  /** Adds the numbers to an exposition. */
  void addTo(Exposition exposition, Labels labels, Counters counters) {
    rows.forEach(row -> row.addTo(exposition, labels, counters, 0));
  }

  /** Units by the end of a counter's name. */
  private enum Unit {
    BYTES("_in_bytes", "bytes", 0),
    MILLIS("_in_millis", "seconds", 3),
    MICROS("_in_micros", "seconds", 6),
    NONE("", "", 0);

    private final String end;
    private final String base;
    private final int decimals;

    Unit(String end, String base, int decimals) {
      this.end = end;
      this.base = base;
      this.decimals = decimals;
    }

    static Unit of(String path) {
      for (Unit unit : values()) {
        if (path.endsWith(unit.end)) {
          return unit;
        }
      }
      throw new AssertionError(path);
    }
  }

  private record Row(String[] path, Family family, int decimals, String label) {

    void addTo(Exposition exposition, Labels labels, Counters counters, int depth) {
      if (depth == path.length - 1) {
        counters
            .values()
            .forEach(
                (name, value) -> {
                  if (matches(depth, name)) {
                    exposition.add(
                        family, more(labels, depth, name), BigDecimal.valueOf(value, decimals));
                  }
                });
        return;
      }
      for (Map.Entry<String, Counters> group : counters.groups().entrySet()) {
        if (matches(depth, group.getKey())) {
          addTo(exposition, more(labels, depth, group.getKey()), group.getValue(), depth + 1);
        }
      }
    }

    private boolean hasStar(int depth) {
      return path[depth].startsWith(STAR);
    }

    private boolean matches(int depth, String name) {
      return hasStar(depth) ? name.endsWith(path[depth].substring(1)) : name.equals(path[depth]);
    }

    private Labels more(Labels labels, int depth, String name) {
      int rest = path[depth].length() - 1;
      return hasStar(depth) ? labels.and(label, name.substring(0, name.length() - rest)) : labels;
    }
  }

  /** Collects rows. */
  static final class Builder {
    private final List<Row> rows = new ArrayList<>();

    private Builder() {}

    /** Adds a row of one number that only grows. */
    Builder counter(String path, String name, String help) {
      return add(Family.Type.COUNTER, path, name, null, help);
    }

    /** Adds a row of numbers that only grow, with the label of its star. */
    Builder counters(String path, String name, String label, String help) {
      return add(Family.Type.COUNTER, path, name, label, help);
    }

    /** Adds a row of one current value. */
    Builder gauge(String path, String name, String help) {
      return add(Family.Type.GAUGE, path, name, null, help);
    }

    /** Adds a row of current values, with the label of its star. */
    Builder gauges(String path, String name, String label, String help) {
      return add(Family.Type.GAUGE, path, name, label, help);
    }

    private Builder add(Family.Type type, String path, String name, String label, String help) {
      if (path.contains(STAR) != (label != null)) {
        throw new IllegalArgumentException("a star needs a label, and a label a star: " + path);
      }
      Unit unit = Unit.of(path);
      Family family = new Family(name, type, unit.base, help);
      rows.add(new Row(path.split(SEPARATOR), family, unit.decimals, label));
      return this;
    }

    CounterTable build() {
      return new CounterTable(rows);
    }
  }
}
