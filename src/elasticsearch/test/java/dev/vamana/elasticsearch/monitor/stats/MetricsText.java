package dev.vamana.elasticsearch.monitor.stats;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads OpenMetrics 1.0 text and accepts nothing that the specification forbids or advises against.
 * Timestamps and exemplars, which we never write, are refused too.
 */
public final class MetricsText {
  private static final String END = "# EOF\n";
  private static final String NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
  private static final String ESCAPED = "(?:[^\\n\"\\\\]|\\\\[n\"\\\\])*";
  private static final String LABEL = "[a-zA-Z_][a-zA-Z0-9_]*=\"" + ESCAPED + "\"";
  private static final Pattern METADATA =
      Pattern.compile("# (TYPE|UNIT|HELP) (" + NAME + ") (" + ESCAPED + ")");
  private static final Pattern SAMPLE =
      Pattern.compile(
          "("
              + NAME
              + ")(?:\\{((?:"
              + LABEL
              + "(?:,"
              + LABEL
              + ")*)?)\\})? (-?[0-9]+(?:\\.[0-9]+)?)");
  private static final Pattern ONE_LABEL =
      Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"(" + ESCAPED + ")\"(?:,|$)");
  private static final List<String> ORDER = List.of("TYPE", "UNIT", "HELP");

  /** Suffixes of the samples of each type. */
  private static final Map<String, Set<String>> SUFFIXES =
      Map.of(
          "counter", Set.of("_total"),
          "gauge", Set.of(""),
          "info", Set.of("_info"));

  private final Map<String, Family> families = new LinkedHashMap<>();

  /** A sample. */
  public record Sample(String name, Map<String, String> labels, BigDecimal value) {}

  /** A family with its metadata, by {@code TYPE}, {@code UNIT} and {@code HELP}, and samples. */
  public record Family(String name, Map<String, String> metadata, List<Sample> samples) {

    /** The type. */
    public String type() {
      return metadata.get("TYPE");
    }

    private String told(String name) {
      return metadata.getOrDefault(name, "");
    }
  }

  private MetricsText() {}

  /**
   * Reads a text.
   *
   * @throws IllegalArgumentException if it breaks a rule
   */
  public static MetricsText parse(String text) {
    MetricsText parsed = new MetricsText();
    require(text.endsWith(END) && (text.equals(END) || text.endsWith("\n" + END)), "end", text);
    require(text.indexOf('\r') < 0, "carriage return", text);
    String body = text.substring(0, text.length() - END.length());
    Family family = null;
    for (String line : body.lines().toList()) {
      family = line.startsWith("#") ? parsed.metadata(line, family) : sample(line, family);
    }
    parsed.families.values().forEach(MetricsText::check);
    Map<String, Family> owners = new TreeMap<>();
    for (Family each : parsed.families.values()) {
      for (Sample sample : each.samples) {
        Family owner = owners.putIfAbsent(sample.name, each);
        require(owner == null || owner == each, "a name of two families", sample.name);
      }
    }
    return parsed;
  }

  private static void require(boolean condition, String what, String where) {
    if (condition == false) {
      throw new IllegalArgumentException(what + ": " + where);
    }
  }

  private Family metadata(String line, Family current) {
    Matcher matcher = METADATA.matcher(line);
    require(matcher.matches(), "no metadata", line);
    String name = matcher.group(2);
    Family family = current;
    if (family == null || family.name.equals(name) == false) {
      family = new Family(name, new LinkedHashMap<>(), new ArrayList<>());
      require(families.put(name, family) == null, "family in two places", line);
    }
    require(family.samples.isEmpty(), "metadata behind samples", line);
    int order = ORDER.indexOf(matcher.group(1));
    for (String before : family.metadata.keySet()) {
      require(ORDER.indexOf(before) < order, "order of metadata", line);
    }
    require(order == 0 || family.metadata.containsKey("TYPE"), "no type", line);
    family.metadata.put(matcher.group(1), unescape(matcher.group(3)));
    return family;
  }

  private static Family sample(String line, Family family) {
    Matcher matcher = SAMPLE.matcher(line);
    require(matcher.matches(), "no sample", line);
    require(family != null, "no family", line);
    String name = matcher.group(1);
    require(name.startsWith(family.name), "sample of another family", line);
    Set<String> suffixes = SUFFIXES.get(family.type());
    require(suffixes != null, "type", family.name);
    require(suffixes.contains(name.substring(family.name.length())), "suffix", line);
    Map<String, String> labels = new LinkedHashMap<>();
    if (matcher.group(2) != null) {
      Matcher label = ONE_LABEL.matcher(matcher.group(2));
      while (label.find()) {
        require(label.group(1).startsWith("__") == false, "reserved label", line);
        require(labels.put(label.group(1), unescape(label.group(2))) == null, "label twice", line);
      }
    }
    family.samples.add(new Sample(name, labels, new BigDecimal(matcher.group(3))));
    return family;
  }

  private static String unescape(String escaped) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < escaped.length(); i++) {
      char c = escaped.charAt(i);
      if (c == '\\') {
        i++;
        c = escaped.charAt(i) == 'n' ? '\n' : escaped.charAt(i);
      }
      text.append(c);
    }
    return text.toString();
  }

  private static void check(Family family) {
    String unit = family.told("UNIT");
    require(unit.isEmpty() || family.name.endsWith("_" + unit), "unit", family.name);
    require(family.told("HELP").isEmpty() == false, "no help", family.name);
    Set<String> series = new TreeSet<>();
    for (Sample sample : family.samples) {
      require(series.add(sample.name + new TreeMap<>(sample.labels)), "twice", sample.toString());
      check(family, sample);
    }
  }

  private static void check(Family family, Sample sample) {
    String where = sample.toString();
    switch (family.type()) {
      case "counter" -> require(sample.value.signum() >= 0, "negative counter", where);
      case "info" -> {
        require(family.told("UNIT").isEmpty(), "unit of an info", where);
        require(sample.value.equals(BigDecimal.ONE), "value of an info", where);
      }
      default -> {
        // any number will do
      }
    }
  }

  /** The families by name, in their order. */
  public Map<String, Family> families() {
    return families;
  }

  /** All samples in their order. */
  public List<Sample> samples() {
    return families.values().stream().map(Family::samples).flatMap(Collection::stream).toList();
  }

  /** Values of the samples of a name that have some labels among others. */
  public List<BigDecimal> values(String name, Map<String, String> labels) {
    return samples().stream()
        .filter(sample -> sample.name.equals(name))
        .filter(sample -> sample.labels.entrySet().containsAll(labels.entrySet()))
        .map(Sample::value)
        .toList();
  }
}
