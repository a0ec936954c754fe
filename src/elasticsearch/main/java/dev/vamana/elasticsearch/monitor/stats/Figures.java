package dev.vamana.elasticsearch.monitor.stats;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * A table of figures: each has one line with its path in a tree of statistics, its kind, where it
 * is read, and what it is. The tree is the JSON; the table over the tree is the OpenMetrics text.
 *
 * <p>The name of a metric follows from the path: a prefix, and the names on the path with
 * underscores. {@code count} at the end is left out, and a unit at the end becomes a base unit,
 * such as {@code _in_millis} seconds. A name in angle brackets stands for any name, which becomes
 * the label of that name; in a list it is a member by which entries are counted.
 *
 * <p>A figure is read from groups of counters, by {@code group/name}; the name in brackets may
 * stand for the end of a counter's name. Without a source, the tree has the figure already. The
 * source of texts is the list of their names.
 */
public final class Figures {

  private static final String COUNT = "count";

  private final List<Figure> all;

  /** How a figure changes. */
  private enum Kind {
    /** Only grows while the process runs. */
    COUNTER("_total"),
    /** Tells of the moment. */
    GAUGE(""),
    /** Texts, as labels. */
    INFO("_info");

    private final String suffix;

    Kind(String suffix) {
      this.suffix = suffix;
    }
  }

  /** Units by the end of a figure's name. */
  private enum Unit {
    BYTES("_in_bytes", "bytes", 0),
    MILLIS("_in_millis", "seconds", 3),
    NONE("", "", 0);

    private final String end;
    private final String base;
    private final int decimals;

    Unit(String end, String base, int decimals) {
      this.end = end;
      this.base = base;
      this.decimals = decimals;
    }

    static Unit of(String name) {
      return Arrays.stream(values())
          .filter(unit -> name.endsWith(unit.end))
          .findFirst()
          .orElseThrow();
    }

    /** The name with the base unit in place of this one. */
    String rename(String name) {
      return this == NONE ? name : name.substring(0, name.length() - end.length()) + "_" + base;
    }
  }

  /** A line of the table; {@code metric} is the name of the metric. */
  record Figure(
      List<String> path, Kind kind, String source, Unit unit, String metric, String help) {

    String group() {
      return source.substring(0, source.indexOf('/'));
    }

    /** The beginning of the names of counters, or the whole name. */
    String name() {
      return source.substring(
          source.indexOf('/') + 1, isPattern() ? source.indexOf('<') : source.length());
    }

    boolean isPattern() {
      return source.endsWith(">");
    }

    /** The type as OpenMetrics names it. */
    String type() {
      return kind.name().toLowerCase(Locale.ROOT);
    }

    /** The name of samples. */
    String sample() {
      return metric + kind.suffix;
    }

    /** The base unit; empty if there is none. */
    String baseUnit() {
      return unit.base;
    }

    boolean isRead() {
      return kind != Kind.INFO && source.isEmpty() == false;
    }
  }

  /**
   * Reads a table.
   *
   * @param prefix begins the names of metrics
   * @param table lines of {@code path | kind | source | help}
   */
  public Figures(String prefix, String table) {
    all = table.lines().map(line -> figure(prefix, line.split("\\|", -1))).toList();
  }

  private static Figure figure(String prefix, String[] cells) {
    List<String> path =
        Arrays.stream(cells[0].strip().split("\\."))
            .filter(name -> name.isEmpty() == false)
            .toList();
    Kind kind = Kind.valueOf(cells[1].strip().toUpperCase(Locale.ROOT));
    StringBuilder name = new StringBuilder(prefix);
    for (int i = 0; i < path.size(); i++) {
      boolean counts = i == path.size() - 1 && path.get(i).equals(COUNT);
      if (isLabel(path.get(i)) == false && counts == false) {
        name.append('_').append(path.get(i));
      }
    }
    Unit unit = Unit.of(name.toString());
    return new Figure(
        path, kind, cells[2].strip(), unit, unit.rename(name.toString()), cells[3].strip());
  }

  private static boolean isLabel(String name) {
    return name.startsWith("<");
  }

  private static String label(String name) {
    return name.substring(1, name.length() - 1);
  }

  /**
   * Puts what counters say of the figures of a section into a tree.
   *
   * @param section first name of the paths; null for all
   * @param counters groups of counters by name; figures whose group or counter is missing are left
   *     out
   */
  void read(
      Map<String, Object> tree, String section, Map<String, ? extends Map<String, Long>> counters) {
    for (Figure figure : all) {
      Map<String, Long> group =
          figure.isRead() && (section == null || figure.path.get(0).equals(section))
              ? counters.get(figure.group())
              : null;
      if (group == null) {
        continue;
      }
      if (figure.isPattern() == false) {
        if (group.get(figure.name()) != null) {
          put(tree, figure, "", group.get(figure.name()));
        }
        continue;
      }
      group.forEach(
          (name, value) -> {
            if (name.startsWith(figure.name()) && isNamed(figure.group() + "/" + name) == false) {
              put(tree, figure, name.substring(figure.name().length()), value);
            }
          });
    }
  }

  private boolean isNamed(String source) {
    return all.stream().anyMatch(figure -> figure.source.equals(source));
  }

  private static void put(Map<String, Object> tree, Figure figure, String label, long value) {
    Map<String, Object> object = tree;
    for (String name : figure.path.subList(0, figure.path.size() - 1)) {
      object = object(object, isLabel(name) ? label : name);
    }
    String last = figure.path.get(figure.path.size() - 1);
    long divisor =
        figure.unit != Unit.MILLIS
            ? 1
            : figure.source.endsWith("nanos")
                ? 1_000_000
                : figure.source.endsWith("micros") ? 1000 : 1;
    object.put(isLabel(last) ? label : last, value / divisor);
  }

  /** The object of a name in an object, which is made if it is missing. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Map<String, Object> tree, String name) {
    return (Map<String, Object>)
        tree.computeIfAbsent(name, missing -> new LinkedHashMap<String, Object>());
  }

  /** Adds the figures of a tree as OpenMetrics. */
  public void addTo(OpenMetrics text, Map<String, String> labels, Map<?, ?> tree) {
    for (Figure figure : all) {
      add(text, figure, labels, tree, 0);
    }
  }

  private static void add(
      OpenMetrics text, Figure figure, Map<String, String> labels, Object node, int depth) {
    if (node == null) {
      return;
    }
    if (depth == figure.path.size()) {
      add(text, figure, labels, node);
      return;
    }
    String name = figure.path.get(depth);
    if (isLabel(name) == false) {
      add(text, figure, labels, ((Map<?, ?>) node).get(name), depth + 1);
    } else {
      entries(node, label(name))
          .forEach(
              (key, value) -> add(text, figure, with(labels, label(name), key), value, depth + 1));
    }
  }

  /** The members of an object, or the numbers of a list's entries by the value of a member. */
  private static Map<String, Object> entries(Object node, String member) {
    Map<String, Object> entries = new TreeMap<>();
    if (node instanceof Map<?, ?> map) {
      map.forEach((key, value) -> entries.put((String) key, value));
    } else {
      for (Object entry : (List<?>) node) {
        entries.merge((String) ((Map<?, ?>) entry).get(member), 1L, (a, b) -> (Long) a + (Long) b);
      }
    }
    return entries;
  }

  private static void add(
      OpenMetrics text, Figure figure, Map<String, String> labels, Object value) {
    if (figure.kind == Kind.INFO) {
      Map<String, String> described = labels;
      for (String name : figure.source.split(", ", -1)) {
        Object member = ((Map<?, ?>) value).get(name);
        if (member != null) {
          described = with(described, name, member.toString());
        }
      }
      text.add(figure, described, BigDecimal.ONE);
      return;
    }
    BigDecimal number =
        switch (value) {
          case Boolean truth -> truth ? BigDecimal.ONE : BigDecimal.ZERO;
          default -> new BigDecimal(value.toString());
        };
    text.add(figure, labels, number.movePointLeft(figure.unit.decimals));
  }

  /** Labels and one more. */
  public static Map<String, String> with(Map<String, String> labels, String name, String value) {
    Map<String, String> more = new LinkedHashMap<>(labels);
    more.put(name, value);
    return more;
  }

  /**
   * Writes the members of an object. Sizes and times are also written in readable form if the
   * request has the parameter {@code human}.
   */
  public static void write(XContentBuilder json, Map<?, ?> object) throws IOException {
    for (Map.Entry<?, ?> member : object.entrySet()) {
      String name = (String) member.getKey();
      Object value = member.getValue();
      Unit unit = Unit.of(name);
      if (value instanceof Map<?, ?> map) {
        json.startObject(name);
        write(json, map);
        json.endObject();
      } else if (value instanceof List<?> list) {
        json.startArray(name);
        for (Object each : list) {
          json.startObject();
          write(json, (Map<?, ?>) each);
          json.endObject();
        }
        json.endArray();
      } else if (unit == Unit.BYTES) {
        json.humanReadableField(name, stem(name, unit), ByteSizeValue.ofBytes((Long) value));
      } else if (unit == Unit.MILLIS) {
        json.humanReadableField(name, stem(name, unit), TimeValue.timeValueMillis((Long) value));
      } else {
        json.field(name, value);
      }
    }
  }

  private static String stem(String name, Unit unit) {
    return name.substring(0, name.length() - unit.end.length());
  }
}
