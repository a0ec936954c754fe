package dev.vamana.tools.figures;

import dev.vamana.tools.cells.Median;
import dev.vamana.tools.plot.LinePlot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.IntToDoubleFunction;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Makes a page of tables and three plots of the CSV files of a folder. */
public final class Page {

  /** Name of the page. */
  public static final String FILE = "gpu.md";

  /** The largest number of lines that the page may have. */
  public static final int MOST_LINES = 150;

  private static final double TARGET = 0.95;
  private static final int[] BATCHES = {1, 10, 100, 1_000, 10_000};
  private static final String PUBLISHED = "cagra.csv";
  private static final String LARGE = "generated-96-bytes";

  private final Map<Sheet, List<Map<String, String>>> sheets = new TreeMap<>();
  private final List<String[]> published;
  private final StringBuilder text = new StringBuilder();

  private Page(Path folder) throws IOException {
    Path file = folder.resolve(PUBLISHED);
    published =
        Files.notExists(file)
            ? List.of()
            : Files.readAllLines(file).stream().map(line -> line.split(",", -1)).toList();
    for (Sheet sheet : Sheet.values()) {
      sheets.put(sheet, Figures.read(folder, sheet));
    }
  }

  /** Writes the page and the plots of the folder that the only argument names. */
  public static void main(String[] arguments) throws IOException {
    write(Path.of(arguments[0]));
  }

  /** Writes the page and the plots beside the CSV files. */
  public static void write(Path folder) throws IOException {
    for (Map.Entry<String, String> file : make(folder).entrySet()) {
      Files.writeString(folder.resolve(file.getKey()), file.getValue());
    }
  }

  /** Returns the page and the plots by the names of their files. */
  public static Map<String, String> make(Path folder) throws IOException {
    return new Page(folder).make();
  }

  private Map<String, String> make() throws IOException {
    head();
    searches();
    builds();
    cells();
    beside();
    filters();
    scale();
    Map<String, String> files = new LinkedHashMap<>();
    Plots plots = new Plots(this);
    put(files, "gpu-recall.svg", plots.recall());
    put(files, "gpu-cells.svg", plots.cells());
    put(files, "gpu-scale.svg", plots.scale());
    files.put(FILE, text.toString());
    return files;
  }

  private static void put(Map<String, String> files, String name, LinePlot plot) {
    if (plot != null) {
      files.put(name, plot.toSvg());
    }
  }

  private void say(String format, Object... values) {
    text.append(String.format(Locale.ROOT, format, values)).append('\n');
  }

  /** Begins a section with a table, whose columns from a number on are of numbers. */
  private void section(String title, String words, int numbers, List<String> columns) {
    say("\n## %s\n\n%s\n", title, words);
    header(numbers, columns);
  }

  private void header(int numbers, List<String> columns) {
    say("| %s |", String.join(" | ", columns));
    say("|%s%s", " --- |".repeat(numbers), " ---: |".repeat(columns.size() - numbers));
  }

  private void head() {
    Set<String> commits = new LinkedHashSet<>();
    Set<String> devices = new TreeSet<>();
    for (List<Map<String, String>> rows : sheets.values()) {
      commits.addAll(values(rows, "commit"));
      devices.addAll(values(rows, "device"));
    }
    List<String> now =
        commits.stream().filter(commit -> commit.startsWith(Figures.EARLIER) == false).toList();
    say("# Measured on a GPU\n");
    say(
        "Made of the CSV files of this folder by the stage `report` of the"
            + " [suite](../internals/gpu-suite.md), on %s. Commit: %s.",
        String.join(", ", devices), now.isEmpty() ? "none yet" : String.join(", ", now));
    if (commits.size() > now.size()) {
      say(
          "Rows of %d earlier states of the sources say so in their column `commit`"
              + " (`%s` and the first digits of a hash of the sources).",
          commits.size() - now.size(), Figures.EARLIER);
    }
    Map<String, Long> tests =
        sheets.get(Sheet.TESTS).stream()
            .collect(
                Collectors.groupingBy(
                    row -> row.get("outcome"), TreeMap::new, Collectors.counting()));
    say("Tests on the device: %s.", tests.isEmpty() ? "none recorded" : tests);
    say(
        "\nPlots: [queries a second against recall](gpu-recall.svg), [a node beside the stock"
            + " index](gpu-cells.svg), [one segment as it grows](gpu-scale.svg).");
  }

  static double number(Map<String, String> row, String column) {
    String value = row.get(column);
    return value.isEmpty() ? Double.NaN : Double.parseDouble(value);
  }

  List<Map<String, String>> rows(Sheet sheet, Predicate<Map<String, String>> which) {
    return sheets.get(sheet).stream().filter(which).toList();
  }

  static Set<String> values(List<Map<String, String>> rows, String column) {
    return rows.stream()
        .map(row -> row.get(column))
        .collect(Collectors.toCollection(LinkedHashSet::new));
  }

  /** Groups rows by the values of columns, in the order in which they first appear. */
  private static Map<List<String>, List<Map<String, String>>> grouped(
      List<Map<String, String>> rows, String... columns) {
    return rows.stream()
        .collect(
            Collectors.groupingBy(
                row -> Arrays.stream(columns).map(row::get).toList(),
                LinkedHashMap::new,
                Collectors.toList()));
  }

  static boolean isSearch(Map<String, String> row) {
    String method = row.get("method");
    return row.get("set").startsWith(LARGE) == false
        && (List.of("vamana-gpu", "vamana-ivf", "vamana-exact").contains(method)
            || method.startsWith("lucene"));
  }

  /**
   * Queries a second at a recall; NaN if there are none. On the GPU of one caller, and of several
   * only with the largest calls; Lucene's of all threads.
   */
  static double best(List<Map<String, String>> rows, int batch) {
    return rows.stream()
        .filter(row -> number(row, "batch") == batch && number(row, "recall") >= TARGET)
        .filter(
            row ->
                batch == BATCHES[BATCHES.length - 1]
                    || row.get("method").startsWith("lucene")
                    || number(row, "callers") == 1)
        .mapToDouble(row -> number(row, "qps"))
        .max()
        .orElse(Double.NaN);
  }

  private static String cell(double value) {
    return Double.isNaN(value) ? "-" : String.format(Locale.ROOT, "%,.0f", value);
  }

  private void searches() {
    List<Map<String, String>> all = rows(Sheet.GPU, Page::isSearch);
    if (all.isEmpty()) {
      return;
    }
    section(
        String.format(Locale.ROOT, "Searches, recall@10 of at least %.2f", TARGET),
        """
        Queries a second from arrays to arrays, by the queries of a call: of one caller, of several
        with calls of 10,000. Lucene's HNSW has all threads of the machine. `exact` holds float32
        vectors; CAGRA is its fastest type ([published figures](cagra.csv)).""",
        2,
        List.of("set", "method", "1", "10", "100", "1,000", "10,000"));
    grouped(all, "set")
        .forEach(
            (set, of) -> {
              grouped(of, "method", "placement")
                  .forEach(
                      (method, rows) ->
                          line(set.get(0), String.join(" ", method), batch -> best(rows, batch)));
              line(
                  set.get(0), "CAGRA, as published", batch -> published(set.get(0), batch, TARGET));
            });
  }

  private void line(String set, String method, IntToDoubleFunction speed) {
    List<String> cells =
        Arrays.stream(BATCHES).mapToDouble(speed::applyAsDouble).mapToObj(Page::cell).toList();
    if (cells.stream().anyMatch(cell -> cell.equals("-") == false)) {
      say("| %s | %s | %s |", set, method, String.join(" | ", cells));
    }
  }

  /** CAGRA's queries a second, of its fastest type; NaN if nothing is published. */
  double published(String set, int batch, double recall) {
    return published.stream()
        .filter(row -> row.length > 4 && row[0].equals(set))
        .filter(row -> Double.parseDouble(row[1]) == recall && Integer.parseInt(row[2]) == batch)
        .flatMap(row -> Arrays.stream(row).skip(4))
        .filter(value -> value.isEmpty() == false)
        .mapToDouble(Double::parseDouble)
        .max()
        .orElse(Double.NaN);
  }

  private void builds() {
    List<Map<String, String>> all =
        rows(Sheet.BUILDS, row -> row.get("set").startsWith(LARGE) == false);
    if (all.isEmpty()) {
      return;
    }
    say("\n## Builds\n\nSeconds for the graph or the lists; of an `index`, with all files.\n");
    say("| set | vectors | builds |\n| --- | ---: | --- |");
    grouped(all, "set")
        .forEach(
            (set, of) ->
                say(
                    "| %s | %,.0f | %s |",
                    set.get(0),
                    number(of.get(of.size() - 1), "n"),
                    of.stream()
                        .map(row -> row.get("method") + " " + row.get("seconds"))
                        .distinct()
                        .collect(Collectors.joining(", "))));
  }

  private void cells() {
    ratios(
        Sheet.CELLS,
        "A node over HTTP",
        """
        Ratio of requests a second to another index at equal recall@10: geometric mean (lowest)
        of all numbers of clients, recall 0.95 and 0.99. *CPU* is ours with the GPU off. The stock
        index has native distance functions written for this comparison (`src/tools/libvec`), as the
        distribution has; rows of earlier states were measured without them.""");
    sizes();
    ratios(
        Sheet.STOCK_CELLS,
        "Stock indices that the GPU searches",
        """
        The same for stock indices with `index.vamana.accelerate` over the same index without it,
        in the same node.""");
  }

  private void ratios(Sheet sheet, String title, String text) {
    List<Map<String, String>> all = sheets.get(sheet);
    if (all.isEmpty()) {
      return;
    }
    List<String> columns = new ArrayList<>(sheet.columns());
    columns.subList(0, 3).clear();
    List<String> ratios = List.copyOf(columns);
    columns.replaceAll(ratio -> ratio.replace('_', ' '));
    columns.addAll(0, List.of("set", "segments"));
    section(title, text, 1, columns);
    for (String set : values(all, "set")) {
      for (String segments : values(all, "segments")) {
        Predicate<Map<String, String>> which =
            row -> row.get("set").equals(set) && row.get("segments").equals(segments);
        ratioLine(set + " | " + segments, rows(sheet, which), ratios);
      }
    }
    ratioLine("**all** | ", all, ratios);
  }

  private void sizes() {
    List<Map<String, String>> sizes = rows(Sheet.SIZES, row -> row.get("segments").equals("1"));
    if (sizes.isEmpty() == false) {
      say("\nMB on the disk (outside of the heap), one segment:\n");
      header(2, List.of("set", "index", "disk", "off heap"));
      for (Map<String, String> row : sizes) {
        say(
            "| %s | %s | %s | %s |",
            row.get("set"),
            row.get("kind"),
            cell(number(row, "disk_bytes") * 1e-6),
            cell(number(row, "off_heap_bytes") * 1e-6));
      }
    }
  }

  private void ratioLine(String name, List<Map<String, String>> rows, List<String> ratios) {
    StringBuilder cells = new StringBuilder();
    for (String ratio : ratios) {
      List<Double> of =
          rows.stream().map(row -> number(row, ratio)).filter(Double::isFinite).toList();
      cells.append(
          of.isEmpty()
              ? " - |"
              : String.format(
                  Locale.ROOT, " %.2f (%.2f) |", Median.geometricMean(of), Collections.min(of)));
    }
    if (rows.isEmpty() == false) {
      say("| %s |%s", name, cells);
    }
  }

  private void beside() {
    List<Map<String, String>> all = sheets.get(Sheet.NRT);
    if (all.isEmpty()) {
      return;
    }
    section(
        "Searches beside indexing",
        "Milliseconds of a request while so many documents arrive in a second.",
        2,
        List.of("set", "index", "documents/s", "clients", "p50", "p99", "longest"));
    for (Map<String, String> row : all) {
      List<String> columns =
          List.of("set", "kind", "rate", "clients", "p50_ms", "p99_ms", "max_ms");
      say("| %s |", String.join(" | ", columns.stream().map(row::get).toList()));
    }
  }

  private void filters() {
    List<Map<String, String>> all = sheets.get(Sheet.FILTERS);
    if (all.isEmpty()) {
      return;
    }
    List<String> columns = new ArrayList<>(List.of("set", "placement", "kind"));
    Set<String> shares = values(all, "share");
    columns.addAll(shares);
    section(
        "Filters",
        "Queries a second of 64 callers over Lucene's HNSW (recall@10, Lucene's), by accepted share.",
        3,
        columns);
    grouped(all, "set", "placement", "kind")
        .forEach(
            (name, rows) -> {
              List<String> cells = new ArrayList<>(name);
              for (String share : shares) {
                cells.add(
                    rows.stream()
                        .filter(row -> row.get("share").equals(share))
                        .map(Page::filtered)
                        .findFirst()
                        .orElse("-"));
              }
              say("| %s |", String.join(" | ", cells));
            });
  }

  private static String filtered(Map<String, String> row) {
    return String.format(
        Locale.ROOT,
        "%.1f (%.2f, %.2f)",
        number(row, "qps") / number(row, "stock_qps"),
        number(row, "recall"),
        number(row, "stock_recall"));
  }

  List<Map<String, String>> large(Sheet sheet) {
    return rows(sheet, row -> row.get("set").startsWith(LARGE)).stream()
        .sorted(Comparator.comparingDouble(row -> number(row, "n")))
        .toList();
  }

  private void scale() {
    List<Map<String, String>> searches = large(Sheet.GPU);
    if (searches.isEmpty()) {
      return;
    }
    List<Map<String, String>> single =
        searches.stream().filter(row -> number(row, "batch") == 1).toList();
    say("\n## One segment as it grows\n");
    say("Vectors of 96 bytes, recall@10 of at least %.2f.\n", TARGET);
    say("| vectors | method | build, s | placement | recall | queries/s | one query, us |");
    say("| ---: | --- | ---: | --- | ---: | ---: | ---: |");
    for (Map<String, String> row : searches) {
      if (number(row, "batch") > 1) {
        say(
            "| %,.0f | %s | %s | %s | %s | %s | %s |",
            number(row, "n"),
            row.get("method"),
            cell(matching(large(Sheet.BUILDS), row, "method", "seconds")),
            row.get("placement"),
            row.get("recall"),
            cell(number(row, "qps")),
            cell(matching(single, row, "placement", "p50_us")));
      }
    }
  }

  /** A value of the row of the same size, method and another column; NaN if there is none. */
  private static double matching(
      List<Map<String, String>> rows, Map<String, String> like, String column, String value) {
    return rows.stream()
        .filter(
            row ->
                List.of("n", "method", column).stream()
                    .allMatch(each -> row.get(each).equals(like.get(each))))
        .mapToDouble(row -> number(row, value))
        .findFirst()
        .orElse(Double.NaN);
  }
}
