package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.memory.Absence;
import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.elasticsearch.xcontent.yaml.YamlXContent;
import org.junit.BeforeClass;

/** The dashboard and the alerting rules of docs/operators/monitoring ask for what there is. */
public class MonitoringFilesTests extends LuceneTestCase {
  private static final Path FOLDER = Path.of("docs/operators/monitoring");
  private static final Pattern NAME = Pattern.compile("vamana_[a-z0-9_]+");

  /** Objects whose members are values of labels, some of which other pages explain. */
  private static final Set<String> LABELS =
      Set.of("by_placement", "by_plan", "on_cpu", "misses", "not_shared", "skipped");

  private static final Pattern REASONS = Pattern.compile("reason=~?\"([a-z_|]+)\"");

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static Map<String, Object> dashboard() throws IOException {
    String text = Files.readString(FOLDER.resolve("grafana-dashboard.json"));
    return XContentHelper.convertToMap(JsonXContent.jsonXContent, text, true);
  }

  private static Map<String, Object> yaml(String name) throws IOException {
    String text = Files.readString(FOLDER.resolve(name));
    return XContentHelper.convertToMap(YamlXContent.yamlXContent, text, true);
  }

  private static List<Map<?, ?>> maps(Object list) {
    List<Map<?, ?>> maps = new ArrayList<>();
    ((List<?>) list).forEach(each -> maps.add((Map<?, ?>) each));
    return maps;
  }

  private static List<Map<?, ?>> rules() throws IOException {
    List<Map<?, ?>> groups = maps(yaml("alerts.yml").get("groups"));
    return groups.stream().flatMap(group -> maps(group.get("rules")).stream()).toList();
  }

  /** The queries of all panels and variables, by where they are. */
  private static List<String> queries() throws IOException {
    List<String> queries = new ArrayList<>();
    for (Map<?, ?> panel : maps(dashboard().get("panels"))) {
      if (panel.containsKey("targets")) {
        maps(panel.get("targets")).forEach(target -> queries.add((String) target.get("expr")));
      }
    }
    Map<?, ?> templating = (Map<?, ?>) dashboard().get("templating");
    for (Map<?, ?> variable : maps(templating.get("list"))) {
      if (variable.get("type").equals("query")) {
        queries.add((String) variable.get("definition"));
      }
    }
    return queries;
  }

  private static Set<String> rendered() {
    MetricsText text =
        MetricsText.parse(
            FullStatistics.response(FullStatistics.node("one", FullStatistics.ofAGpu().tree()))
                .openMetrics()
                .text());
    return text.samples().stream()
        .map(MetricsText.Sample::name)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> names(String expression) {
    return NAME.matcher(expression).results().map(m -> m.group()).collect(Collectors.toSet());
  }

  public void testNamesExist() throws IOException {
    Set<String> known = rendered();
    List<String> expressions = new ArrayList<>(queries());
    rules().forEach(rule -> expressions.add((String) rule.get("expr")));
    assertTrue(expressions.toString(), expressions.size() > 30);
    for (String expression : expressions) {
      Set<String> unknown = new TreeSet<>(names(expression));
      assertFalse(expression, unknown.isEmpty());
      unknown.removeAll(known);
      assertEquals(expression, Set.of(), unknown);
    }
  }

  /** The page for operators explains each member of the statistics. */
  public void testThePageExplainsAllFigures() throws IOException {
    String page = Files.readString(Path.of("docs/operators/statistics.md"));
    List<String> missing = new ArrayList<>();
    addNames(FullStatistics.ofAGpu().tree(), page, missing);
    assertEquals(List.of(), missing);
  }

  private static void addNames(Map<?, ?> object, String page, List<String> missing) {
    object.forEach(
        (name, value) -> {
          if (value instanceof Map<?, ?> inner && LABELS.contains(name) == false) {
            addNames(inner, page, missing);
          } else if (page.contains((String) name) == false) {
            missing.add((String) name);
          }
        });
  }

  /** Failures are the reasons that the executor calls so; on a GPU-less node there are none. */
  public void testReasonsAreThoseOfTheExecutor() throws IOException {
    Set<String> failures =
        Arrays.stream(FallbackReason.values())
            .filter(reason -> reason.failure() && reason != FallbackReason.NO_DEVICE)
            .map(FallbackReason::statisticsName)
            .collect(Collectors.toCollection(TreeSet::new));
    List<String> lists = new ArrayList<>(queries());
    rules().forEach(rule -> lists.add((String) rule.get("expr")));
    int found = 0;
    for (String expression : lists) {
      for (String reasons :
          REASONS.matcher(expression).results().map(match -> match.group(1)).toList()) {
        if (reasons.contains("|")) {
          assertEquals(failures, new TreeSet<>(List.of(reasons.split("\\|"))));
          found++;
        } else {
          assertTrue(reasons, failures.contains(reasons) || isAbsence(reasons));
        }
      }
    }
    assertEquals(2, found);
  }

  private static boolean isAbsence(String name) {
    return Arrays.stream(Absence.values())
        .anyMatch(absence -> absence.name().toLowerCase(Locale.ROOT).equals(name));
  }
}
