package dev.vamana.elasticsearch.monitor.openmetrics;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What docs/operators/openmetrics.md says of names, and whether OpenMetrics text and JSON of the
 * same statistics have the same numbers by it.
 */
public final class MetricsPage {
  private static final Path PAGE = Path.of("docs/operators/openmetrics.md");
  private static final Pattern ROW =
      Pattern.compile(
          "^\\| `(vamana_\\w+)(?:\\{[\\w,]+\\})?` \\| `((?:\\w|[.<>])+)`.* \\|$",
          Pattern.MULTILINE);
  private static final Pattern NAME = Pattern.compile("`(vamana_\\w+)(?:\\{[\\w,]+\\})?`");
  private static final Pattern PLACEHOLDER = Pattern.compile("<(\\w+)>");

  private final List<Row> rows;
  private final Set<String> names;

  /** A number of the JSON and its sample; in the path, groups stand for values of the labels. */
  private record Row(String sample, List<String> labels, Pattern path) {}

  private MetricsPage(List<Row> rows, Set<String> names) {
    this.rows = rows;
    this.names = names;
  }

  /** Reads the page. */
  public static MetricsPage read() throws IOException {
    String text = Files.readString(PAGE);
    List<Row> rows =
        ROW.matcher(text)
            .results()
            .map(row -> new Row(row.group(1), labels(row.group(2)), path(row.group(2))))
            .toList();
    Set<String> names =
        NAME.matcher(text).results().map(m -> m.group(1)).collect(Collectors.toSet());
    return new MetricsPage(rows, names);
  }

  private static List<String> labels(String path) {
    return PLACEHOLDER.matcher(path).results().map(match -> match.group(1)).toList();
  }

  private static Pattern path(String path) {
    Matcher matcher = PLACEHOLDER.matcher(path.replace(".", "\n"));
    return Pattern.compile(matcher.replaceAll("(.+)"));
  }

  /** Names of all samples that the page explains. */
  public Set<String> names() {
    return names;
  }

  /** Compares the text with all numbers of a JSON answer of {@code _vamana/stats}. */
  public void assertSame(Map<String, Object> json, MetricsText text) {
    Set<String> written =
        text.samples().stream()
            .map(MetricsText.Sample::name)
            .collect(Collectors.toCollection(TreeSet::new));
    written.removeAll(names);
    check(written.isEmpty(), "names that the page does not have: " + written);
    Map<?, ?> header = (Map<?, ?>) json.get("_nodes");
    String cluster = (String) json.get("cluster_name");
    for (String result : List.of("successful", "failed")) {
      compare(text, "vamana_nodes", Map.of("cluster", cluster, "result", result), header, result);
    }
    ((Map<?, ?>) json.get("nodes"))
        .forEach((id, node) -> assertSame(cluster, (String) id, (Map<?, ?>) node, text));
  }

  private void assertSame(String cluster, String id, Map<?, ?> node, MetricsText text) {
    Map<String, String> labels = new HashMap<>();
    labels.put("cluster", cluster);
    labels.put("node", id);
    labels.put("node_name", (String) node.get("name"));
    numbers(new ArrayList<>(), node, (path, value) -> assertNumber(path, value, labels, text));
    if (node.get("executor") instanceof Map<?, ?> executor) {
      assertHistogram(text, "vamana_launch_items", labels, executor.get("batch_size_histogram"), 0);
      assertHistogram(
          text, "vamana_launch_wait_seconds", labels, executor.get("wait_in_micros_histogram"), 6);
    }
    if (node.get("state") instanceof Map<?, ?> state) {
      String name = "vamana_gpu_state";
      for (MetricsText.Sample sample : text.families().get(name).samples()) {
        if (sample.labels().get("node").equals(id)) {
          boolean now = sample.labels().get(name).equals(state.get("state"));
          check(sample.value().intValueExact() == (now ? 1 : 0), sample.toString());
        }
      }
      only(text, "vamana_gpu_usable", labels, state.get("usable").equals(true) ? "1" : "0");
      only(text, "vamana_gpu_info", with(labels, "enabled", (String) state.get("enabled")), "1");
    }
    if (node.get("device") instanceof Map<?, ?> device) {
      Map<String, String> described = with(labels, "device", device.get("ordinal").toString());
      for (String name : List.of("name", "compute_capability", "cuda_version")) {
        described = with(described, name, (String) device.get(name));
      }
      only(text, "vamana_device_info", described, "1");
    }
    if (node.get("recall") instanceof Map<?, ?> recall) {
      for (Object row : (List<?>) recall.get("searches")) {
        Map<?, ?> search = (Map<?, ?>) row;
        Map<String, String> asked = labels;
        for (String label : List.of("index", "field", "k", "num_candidates")) {
          asked = with(asked, label, search.get(label).toString());
        }
        only(text, "vamana_recall_queries", asked, search.get("queries").toString());
        only(text, "vamana_recall_ratio", asked, search.get("recall").toString());
        only(text, "vamana_recall_ratio_low", asked, search.get("low").toString());
        only(text, "vamana_recall_ratio_high", asked, search.get("high").toString());
      }
    }
    if (node.get("health") instanceof List<?> troubles) {
      for (MetricsText.Sample sample : text.families().get("vamana_troubles").samples()) {
        if (sample.labels().get("node").equals(id)) {
          String kind = sample.labels().get("kind");
          long count =
              troubles.stream().filter(each -> ((Map<?, ?>) each).get("kind").equals(kind)).count();
          check(sample.value().longValueExact() == count, sample.toString());
        }
      }
    }
  }

  private interface Consumer {
    void accept(List<String> path, Number value);
  }

  private static void numbers(List<String> path, Map<?, ?> object, Consumer consumer) {
    object.forEach(
        (key, value) -> {
          List<String> longer = new ArrayList<>(path);
          longer.add((String) key);
          if (value instanceof Map<?, ?> inner) {
            numbers(longer, inner, consumer);
          } else if (value instanceof Number number) {
            consumer.accept(longer, number);
          }
        });
  }

  private void assertNumber(
      List<String> path, Number value, Map<String, String> labels, MetricsText text) {
    String joined = String.join("\n", path);
    if (joined.equals("residency\nsegments\nresident")) {
      long sum =
          text.values("vamana_resident_segments", labels).stream()
              .mapToLong(BigDecimal::longValueExact)
              .sum();
      check(sum == value.longValue(), "resident " + sum + " instead of " + value);
      return;
    }
    if (joined.equals("device\nordinal")) {
      return; // a label
    }
    if (path.contains("percent_of_predicted")) {
      assertRatio(path, value.longValue(), labels, text);
      return;
    }
    List<Row> matching = rows.stream().filter(row -> row.path.matcher(joined).matches()).toList();
    check(matching.size() == 1, path + " has the rows " + matching);
    Row row = matching.get(0);
    MatchResult match = row.path.matcher(joined).results().findFirst().orElseThrow();
    Map<String, String> all = labels;
    for (int i = 0; i < row.labels.size(); i++) {
      all = with(all, row.labels.get(i), match.group(i + 1));
    }
    only(text, row.sample, all, inBaseUnit(path.get(path.size() - 1), value).toPlainString());
  }

  private static BigDecimal inBaseUnit(String name, Number value) {
    int decimals = 0;
    if (name.endsWith("_in_millis") || name.equals("timestamp") || name.equals("since")) {
      decimals = 3;
    } else if (name.endsWith("_in_micros")) {
      decimals = 6;
    } else if (name.endsWith("_in_milliwatts")) {
      decimals = 3;
    } else if (name.endsWith("_percent")) {
      decimals = 2;
    }
    return new BigDecimal(value.toString()).movePointLeft(decimals);
  }

  /** A bucket holds what the JSON counts there and in all smaller ones. */
  private static void assertRatio(
      List<String> path, long count, Map<String, String> labels, MetricsText text) {
    String bound = path.get(path.size() - 1).replace("up_to_", "");
    double upTo = bound.equals("more") ? Double.POSITIVE_INFINITY : Integer.parseInt(bound) / 100.0;
    Map<String, String> plan = with(labels, "plan", path.get(path.indexOf("by_plan") + 1));
    check(
        count == inBucket(text, "vamana_plan_measured_to_predicted_ratio", plan, upTo),
        path.toString());
  }

  private static void assertHistogram(
      MetricsText text, String name, Map<String, String> labels, Object buckets, int decimals) {
    List<?> list = buckets == null ? List.of() : (List<?>) buckets;
    long sum = 0;
    for (Object bucket : list) {
      Map<?, ?> members = (Map<?, ?>) bucket;
      Number upTo = (Number) members.get("up_to");
      long count = ((Number) members.get("count")).longValue();
      double le =
          upTo == null
              ? Double.POSITIVE_INFINITY
              : BigDecimal.valueOf(upTo.longValue(), decimals).doubleValue();
      check(count == inBucket(text, name, labels, le), name + " " + bucket);
      sum += count;
    }
    if (buckets != null) {
      only(text, name + "_count", labels, Long.toString(sum));
    }
  }

  private static long inBucket(
      MetricsText text, String name, Map<String, String> labels, double bound) {
    long before = 0;
    for (MetricsText.Sample sample : text.families().get(name).samples()) {
      String le = sample.labels().get("le");
      if (le != null && sample.labels().entrySet().containsAll(labels.entrySet())) {
        double at = le.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(le);
        if (at == bound) {
          return sample.value().longValueExact() - before;
        }
        before = sample.value().longValueExact();
      }
    }
    throw new AssertionError(name + " has no bucket " + bound);
  }

  private static Map<String, String> with(Map<String, String> labels, String name, String value) {
    Map<String, String> more = new HashMap<>(labels);
    more.put(name, value);
    return more;
  }

  private static void compare(
      MetricsText text, String name, Map<String, String> labels, Map<?, ?> json, String member) {
    only(text, name, labels, json.get(member).toString());
  }

  /** The only sample with these labels and perhaps others has the value. */
  private static void only(
      MetricsText text, String name, Map<String, String> labels, String value) {
    List<BigDecimal> values = text.values(name, labels);
    check(values.size() == 1, name + labels + " has the values " + values);
    check(
        values.get(0).compareTo(new BigDecimal(value)) == 0,
        name + labels + " is " + values + " instead of " + value);
  }

  private static void check(boolean condition, String message) {
    if (condition == false) {
      throw new AssertionError(message);
    }
  }
}
