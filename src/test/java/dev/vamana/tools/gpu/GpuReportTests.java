package dev.vamana.tools.gpu;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;
import static org.junit.Assume.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.Before;
import org.junit.Test;

/**
 * The committed report names the sources that it measured, and its figures follow from its samples.
 */
public class GpuReportTests {

  private static final Path FOLDER = Path.of("docs/benchmarks");
  private static final Path REPORT = FOLDER.resolve("gpu-report.json");
  private static final Path CELLS = FOLDER.resolve("gpu-cells.json");
  private static final Path MANIFEST = FOLDER.resolve("gpu-sources.sha256");
  private static final Path FAILURES = FOLDER.resolve("gpu-failures.md");
  private static final Pattern LISTED = Pattern.compile("\\| `([^`]+)` \\| \\S.*\\|");

  private Map<String, Object> report;

  @Before
  public void read() throws IOException {
    boolean there = Files.exists(REPORT);
    // tables without a report would be figures that nobody can check
    assertTrue(REPORT + " is missing", there || Files.notExists(FOLDER.resolve("gpu.md")));
    assumeTrue("no report of the GPU suite has been committed yet", there);
    report = Fragment.read(REPORT);
  }

  private List<Map<String, Object>> benchmarks() {
    return Fragment.rows(report, "benchmarks");
  }

  @Test
  public void manifestIsThatOfTheReport() throws IOException {
    String sources = SourcesHash.of(Files.readString(MANIFEST));
    assertEquals(sources, report.get(Fragment.OF_SOURCES));
    assertEquals(sources, Fragment.read(CELLS).get(Fragment.OF_SOURCES));
  }

  /** Returns what the first column of a page's table names; nothing if there is no page. */
  private static SortedSet<String> listed(Path page) throws IOException {
    SortedSet<String> listed = new TreeSet<>();
    if (Files.exists(page)) {
      for (String line : Files.readAllLines(page)) {
        Matcher row = LISTED.matcher(line);
        if (row.matches()) {
          assertTrue(row.group(1) + " is listed twice", listed.add(row.group(1)));
        }
      }
      assertFalse(page + " lists nothing; remove it", listed.isEmpty());
    }
    return listed;
  }

  @Test
  public void saysWhereAndWhen() {
    for (String key : List.of("device", "driver", "date")) {
      assertFalse(key, report.get(key).toString().isBlank());
    }
  }

  /** A failed test is either the kernels' fault, and nothing is committed, or it is explained. */
  @Test
  public void failuresAreExplained() throws IOException {
    Map<?, ?> correctness = (Map<?, ?>) report.get("correctness");
    assertEquals(
        "failed tests, and those that " + FAILURES + " explains",
        new TreeSet<Object>((List<?>) correctness.get("failed")),
        listed(FAILURES));
    assertFalse("no test passed", ((List<?>) correctness.get("passed")).isEmpty());
    for (Object id : (List<?>) correctness.get("passed")) {
      if (id.toString().contains("#") == false) {
        continue; // a check of the node's stage, or of a tool that runs a test
      }
      String className = id.toString().split("#")[0];
      Path source = Path.of("src/test/java", className.replace('.', '/') + ".java");
      assertTrue(id + " is no test of this checkout", Files.exists(source));
    }
  }

  @Test
  public void summariesAreThoseOfTheSamples() {
    assertFalse(benchmarks().isEmpty());
    for (Map<String, Object> row : benchmarks()) {
      double[] samples =
          ((List<?>) row.get("samples"))
              .stream().mapToDouble(sample -> ((Number) sample).doubleValue()).toArray();
      assertTrue(row.toString(), samples.length >= 5);
      double qps =
          Samples.qps(
              ReportTables.number(row, "batch"), ReportTables.number(row, "callers"), samples);
      assertEquals(row.toString(), qps, ReportTables.real(row, "qps"), 1e-3 * qps);
      double p50 = Samples.median(samples);
      assertEquals(row.toString(), p50, ReportTables.real(row, "p50_us"), 1e-3 * p50 + 0.01);
      double recall = ReportTables.real(row, "recall_at_10");
      assertTrue(row.toString(), recall > 0 && recall <= 1);
    }
  }

  @Test
  public void rowsOfASetAreOfTheSameVectors() {
    Map<Object, List<Object>> hashes =
        benchmarks().stream()
            .collect(
                Collectors.groupingBy(
                    row -> row.get("set") + " of " + row.get("n"),
                    Collectors.mapping(row -> row.get("set_sha256"), Collectors.toList())));
    hashes.forEach(
        (set, found) -> assertEquals(set.toString(), 1, found.stream().distinct().count()));
  }

  @Test
  public void rowsAreThereOnce() {
    // only rows of one set and method can be the same
    Map<List<String>, List<Map<String, Object>>> alike = new HashMap<>();
    for (Map<String, Object> row : benchmarks()) {
      List<Map<String, Object>> others =
          alike.computeIfAbsent(
              List.of(String.valueOf(row.get("set")), String.valueOf(row.get("method"))),
              unseen -> new ArrayList<>());
      for (Map<String, Object> other : others) {
        assertFalse(row.toString(), Fragment.sameIdentity(row, other));
      }
      others.add(row);
    }
  }

  @Test
  public void tablesAreThoseOfTheReport() throws IOException {
    Map<String, String> made = ReportTables.make(REPORT);
    for (Map.Entry<String, String> file : made.entrySet()) {
      Path committed = FOLDER.resolve(file.getKey());
      assertTrue(committed + " is missing", Files.exists(committed));
      assertEquals(committed.toString(), file.getValue(), Files.readString(committed));
    }
    try (Stream<Path> plots = Files.list(FOLDER)) {
      for (Path plot : plots.filter(path -> path.toString().matches(".*/gpu-.*svg")).toList()) {
        assertTrue(plot + " is of no report", made.containsKey(plot.getFileName().toString()));
      }
    }
  }
}
