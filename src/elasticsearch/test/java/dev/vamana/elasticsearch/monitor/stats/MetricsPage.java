package dev.vamana.elasticsearch.monitor.stats;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The rules of docs/operators/openmetrics.md by which the name of a metric follows from the JSON,
 * and whether both have the same numbers by them.
 */
public final class MetricsPage {
  private static final Path PAGE = Path.of("docs/operators/openmetrics.md");
  private static final Pattern LABELLED = Pattern.compile("\\| `([\\w.]+\\.<\\w+>[\\w.]*)` \\|");
  private static final Pattern PLACEHOLDER = Pattern.compile("<(\\w+)>");

  /** Units of the JSON, base units of metrics, and the decimal places between them. */
  private static final Map<String, Map.Entry<String, Integer>> UNITS =
      Map.of(
          "_in_bytes", Map.entry("_bytes", 0),
          "_in_millis", Map.entry("_seconds", 3));

  private final List<String> labelled;

  private MetricsPage(List<String> labelled) {
    this.labelled = labelled;
  }

  /** Reads the page. */
  public static MetricsPage read() throws IOException {
    List<String> labelled =
        LABELLED.matcher(Files.readString(PAGE)).results().map(row -> row.group(1)).toList();
    check(labelled.size() > 8, labelled.toString());
    return new MetricsPage(labelled);
  }

  /** The samples that the text has to contain. */
  private static final class Expected {
    private final Map<String, BigDecimal> samples = new TreeMap<>();

    void add(String name, Map<String, String> labels, BigDecimal value) {
      check(samples.put(name + new TreeMap<>(labels), value) == null, name + labels + " twice");
    }
  }

  /** Compares the text with all numbers of a JSON answer of {@code _vamana/nodes/stats}. */
  public void assertSame(Map<String, Object> json, MetricsText text) {
    Expected expected = new Expected();
    String cluster = (String) json.get("cluster_name");
    for (String result : List.of("successful", "failed")) {
      expected.add(
          "vamana_nodes",
          Map.of("cluster", cluster, "result", result),
          number(((Map<?, ?>) json.get("_nodes")).get(result)));
    }
    ((Map<?, ?>) json.get("nodes"))
        .forEach(
            (id, node) -> {
              Map<String, String> labels = new HashMap<>();
              labels.put("cluster", cluster);
              labels.put("node", (String) id);
              labels.put("node_name", (String) ((Map<?, ?>) node).get("name"));
              addNode(expected, labels, (Map<?, ?>) node);
            });
    assertSamples(expected, text);
  }

  /** Compares the text with all numbers of a JSON answer of {@code {index}/_vamana/stats}. */
  public void assertSameOfIndices(Map<String, Object> json, MetricsText text) {
    Expected expected = new Expected();
    for (String result : List.of("successful", "failed")) {
      expected.add(
          "vamana_index_shards",
          Map.of("result", result),
          number(((Map<?, ?>) json.get("_shards")).get(result)));
    }
    ((Map<?, ?>) json.get("indices"))
        .forEach(
            (index, of) ->
                ((Map<?, ?>) ((Map<?, ?>) of).get("fields"))
                    .forEach(
                        (field, sums) ->
                            addAll(
                                expected,
                                "vamana_index",
                                Map.of("index", (String) index, "field", (String) field),
                                (Map<?, ?>) sums)));
    assertSamples(expected, text);
  }

  private void addNode(Expected expected, Map<String, String> labels, Map<?, ?> node) {
    Map<Object, Object> rest = new HashMap<>(node);
    rest.remove("timestamp");
    if (rest.get("state") instanceof Map<?, ?> state) {
      expected.add("vamana_state_info", with(labels, state, "enabled", "state"), BigDecimal.ONE);
    }
    if (rest.remove("devices") instanceof List<?> devices) {
      for (Object each : devices) {
        Map<Object, Object> device = new HashMap<>((Map<?, ?>) each);
        Map<String, String> own = new HashMap<>(labels);
        own.put("device", device.remove("ordinal").toString());
        expected.add(
            "vamana_device_info",
            with(own, device, "uuid", "name", "compute_capability", "cuda_version"),
            BigDecimal.ONE);
        addAll(expected, "vamana_device", own, device);
      }
    }
    if (rest.get("recall") instanceof Map<?, ?> recall) {
      for (Object each : (List<?>) recall.get("searches")) {
        Map<Object, Object> row = new HashMap<>((Map<?, ?>) each);
        Map<String, String> own = with(labels, row, "index", "field", "k");
        row.keySet().removeAll(Set.of("index", "field", "k"));
        addAll(expected, "vamana_searches", own, row);
      }
    }
    if (rest.remove("health") instanceof List<?> troubles) {
      Map<String, Integer> kinds = new TreeMap<>();
      troubles.forEach(
          each -> kinds.merge((String) ((Map<?, ?>) each).get("kind"), 1, Integer::sum));
      rest.put("health", kinds);
    }
    addAll(expected, "vamana", labels, rest);
  }

  private void addAll(
      Expected expected, String prefix, Map<String, String> labels, Map<?, ?> object) {
    addAll(expected, prefix, labels, object, "");
  }

  private void addAll(
      Expected expected, String prefix, Map<String, String> labels, Map<?, ?> object, String path) {
    object.forEach(
        (key, value) -> {
          String longer = path.isEmpty() ? (String) key : path + "." + key;
          if (value instanceof Map<?, ?> inner) {
            addAll(expected, prefix, labels, inner, longer);
          } else if (value instanceof Number || value instanceof Boolean) {
            add(expected, prefix, labels, longer, value);
          }
        });
  }

  private void add(
      Expected expected, String prefix, Map<String, String> labels, String path, Object value) {
    String stem = path;
    Map<String, String> all = labels;
    for (String pattern : labelled) {
      Matcher label = PLACEHOLDER.matcher(pattern);
      check(label.find(), pattern);
      List<MatchResult> found =
          Pattern.compile(pattern.replace(".", "\\.").replace(label.group(), "(.+)"))
              .matcher(path)
              .results()
              .filter(match -> match.group().equals(path))
              .toList();
      if (found.isEmpty() == false) {
        all = new HashMap<>(labels);
        all.put(label.group(1), found.get(0).group(1));
        stem = pattern.replace("." + label.group(), "").replace(label.group(), "");
      }
    }
    stem = stem.endsWith(".count") ? stem.substring(0, stem.length() - ".count".length()) : stem;
    String name = prefix + "_" + stem.replace('.', '_');
    BigDecimal number = number(value);
    for (Map.Entry<String, Map.Entry<String, Integer>> unit : UNITS.entrySet()) {
      if (name.endsWith(unit.getKey())) {
        name = name.replace(unit.getKey(), unit.getValue().getKey());
        number = number.movePointLeft(unit.getValue().getValue());
        break;
      }
    }
    expected.add(name, all, number);
  }

  private static BigDecimal number(Object value) {
    return value instanceof Boolean truth
        ? BigDecimal.valueOf(truth ? 1 : 0)
        : new BigDecimal(value.toString());
  }

  private static Map<String, String> with(
      Map<String, String> labels, Map<?, ?> members, String... names) {
    Map<String, String> more = new HashMap<>(labels);
    for (String name : names) {
      if (members.get(name) != null) {
        more.put(name, members.get(name).toString());
      }
    }
    return more;
  }

  private static void assertSamples(Expected expected, MetricsText text) {
    Set<String> missing = new HashSet<>(expected.samples.keySet());
    List<String> wrong = new ArrayList<>();
    for (MetricsText.Family family : text.families().values()) {
      for (MetricsText.Sample sample : family.samples()) {
        boolean counter = family.type().equals("counter");
        String name = counter ? family.name() : sample.name();
        String key = name + new TreeMap<>(sample.labels());
        BigDecimal value = expected.samples.get(key);
        missing.remove(key);
        if (value == null || value.compareTo(sample.value()) != 0) {
          wrong.add(sample + " instead of " + value);
        }
      }
    }
    check(wrong.isEmpty() && missing.isEmpty(), "wrong " + wrong + ", missing " + missing);
  }

  private static void check(boolean condition, String message) {
    if (condition == false) {
      throw new AssertionError(message);
    }
  }
}
