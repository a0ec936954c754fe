package dev.vamana.tools.gpu;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Merges the fragments of all stages into one report, in two files. */
final class ReportStage implements Stage {

  /** Name of this stage. It uses no device, so its own fragment is left out of the report. */
  static final String NAME = "report";

  static final String FILE = "gpu-report.json";

  /** The report's {@link #CELLS} in a file of their own, beside the others. */
  static final String CELLS_FILE = "gpu-cells.json";

  /** Standard searches beside the stock index: a third of all that is measured. */
  static final List<String> CELLS = List.of(CellsStage.SECTION, CellsStage.POINTS);

  /** The list of files that the report's hash covers. */
  static final String MANIFEST = "gpu-sources.sha256";

  /**
   * Folder beside the fragments that holds fragments of earlier sources which the report should
   * keep.
   */
  static final String EARLIER = "earlier";

  /** Column of rows that were measured with other sources than the report's: their hash. */
  static final String SOURCES = "sources";

  /** Digits of that hash: enough to tell sources apart, and thousands of rows have it. */
  private static final int SOURCES_DIGITS = 16;

  /** Column of rows that were measured on another device than the report's: its name. */
  static final String DEVICE = "device";

  /** Sections of rows, in the order of the report. */
  static final List<String> SECTIONS =
      List.of(
          "benchmarks",
          "builds",
          LargeStage.SECTION,
          LargeListsStage.GRAPH_SECTION,
          ListsStage.GRAPH_SECTION,
          "top_docs",
          "concurrent",
          DevicesStage.SECTION,
          FilterStage.SECTION,
          "plans",
          "node",
          DriverStage.SECTION,
          CellsStage.SECTION,
          CellsStage.POINTS);

  private static final List<String> OF_THE_RUN = List.of(DEVICE, "driver", "date");

  @Override
  public void run(Context context) throws IOException {
    Path folder = context.options().home().resolve("report");
    String sources = context.fragment().sources();
    Map<String, Object> report =
        merge(fragments(folder), fragments(folder.resolve(EARLIER)), sources);
    Map<String, Object> cells = new LinkedHashMap<>();
    cells.put(Fragment.OF_SOURCES, sources);
    CELLS.forEach(section -> cells.put(section, report.get(section)));
    Files.writeString(folder.resolve(CELLS_FILE), Json.write(cells));
    Map<String, Object> others = new LinkedHashMap<>(report);
    others.keySet().removeAll(CELLS);
    Files.writeString(folder.resolve(FILE), Json.write(others));
    Path manifest = context.options().home().resolve("code").resolve("sources.manifest");
    if (Files.exists(manifest)) {
      Files.copy(manifest, folder.resolve(MANIFEST), StandardCopyOption.REPLACE_EXISTING);
    }
    context.say(
        "%s: %d benchmark rows, correctness %s, device %s",
        FILE, Fragment.rows(report, "benchmarks").size(), counts(report), report.get("device"));
  }

  private static List<Map<String, Object>> fragments(Path folder) throws IOException {
    List<Map<String, Object>> fragments = new ArrayList<>();
    if (Files.notExists(folder)) {
      return fragments;
    }
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file :
          files
              .filter(file -> file.getFileName().toString().endsWith(".json"))
              .filter(
                  file ->
                      List.of(FILE, CELLS_FILE).contains(file.getFileName().toString()) == false)
              .sorted()
              .toList()) {
        fragments.add(Fragment.read(file));
      }
    }
    return fragments;
  }

  /**
   * Returns the report of the fragments that were measured with these sources.
   *
   * @param earlier fragments of stages that were not run with these sources. Their rows are marked
   *     with the hash of their sources, and their tests are left out
   */
  static Map<String, Object> merge(
      List<Map<String, Object>> fragments, List<Map<String, Object>> earlier, String sources) {
    Map<String, Object> report = new LinkedHashMap<>();
    report.put(Fragment.OF_SOURCES, sources);
    List<Map<String, Object>> measured =
        fragments.stream()
            .filter(fragment -> sources.equals(fragment.get(Fragment.OF_SOURCES)))
            .filter(fragment -> NAME.equals(fragment.get("stage")) == false)
            .toList();
    for (String key : OF_THE_RUN) {
      report.put(
          key,
          measured.stream()
              .map(fragment -> fragment.getOrDefault(key, "").toString())
              .max(Comparator.naturalOrder())
              .orElse(""));
    }
    String device = report.get(DEVICE).toString();
    Map<String, String> tests = new TreeMap<>();
    Map<String, List<Map<String, Object>>> sections = new LinkedHashMap<>();
    SECTIONS.forEach(section -> sections.put(section, new ArrayList<>()));
    for (Map<String, Object> fragment : measured) {
      for (Map<String, Object> test : Fragment.rows(fragment, "tests")) {
        tests.put(test.get("id").toString(), test.get("status").toString());
      }
      for (String section : SECTIONS) {
        for (Map<String, Object> of : Fragment.rows(fragment, section)) {
          Map<String, Object> row = onDevice(of, fragment, device);
          sections.get(section).removeIf(old -> Fragment.sameIdentity(old, row));
          sections.get(section).add(row);
        }
      }
    }
    for (Map<String, Object> fragment : earlier) {
      boolean again =
          measured.stream()
              .anyMatch(
                  now ->
                      now.get("stage").equals(fragment.get("stage"))
                          && Objects.equals(now.get(DEVICE), fragment.get(DEVICE)));
      if (again == false) {
        carry(fragment, device, sections);
      }
    }
    Map<String, Object> correctness = new LinkedHashMap<>();
    for (String status : List.of("passed", "failed", "skipped")) {
      correctness.put(
          status,
          tests.entrySet().stream()
              .filter(test -> test.getValue().equals(status))
              .map(Map.Entry::getKey)
              .toList());
    }
    report.put("correctness", correctness);
    report.putAll(sections);
    return report;
  }

  /** Marks a row of a fragment that another device has measured. */
  private static Map<String, Object> onDevice(
      Map<String, Object> row, Map<String, Object> fragment, String device) {
    Object own = fragment.get(DEVICE);
    if (own == null || own.equals(device)) {
      return row;
    }
    Map<String, Object> marked = new LinkedHashMap<>(row);
    marked.put(DEVICE, own);
    return marked;
  }

  private static void carry(
      Map<String, Object> fragment,
      String device,
      Map<String, List<Map<String, Object>>> sections) {
    String hash = fragment.get(Fragment.OF_SOURCES).toString();
    String measuredWith = hash.substring(0, Math.min(hash.length(), SOURCES_DIGITS));
    for (String section : SECTIONS) {
      List<Map<String, Object>> rows = sections.get(section);
      for (Map<String, Object> of : Fragment.rows(fragment, section)) {
        Map<String, Object> row = onDevice(of, fragment, device);
        if (rows.stream().noneMatch(now -> Fragment.sameIdentity(now, row))) {
          Map<String, Object> marked = new LinkedHashMap<>(row);
          marked.put(SOURCES, measuredWith);
          rows.add(marked);
        }
      }
    }
  }

  private static Map<String, Integer> counts(Map<String, Object> report) {
    Map<String, Integer> counts = new TreeMap<>();
    ((Map<?, ?>) report.get("correctness"))
        .forEach((status, ids) -> counts.put(status.toString(), ((List<?>) ids).size()));
    return counts;
  }
}
