package dev.vamana.tools.gpu;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Formats the report's rows about k-selection as tables, with methods as rows and k as columns. */
final class SelectionTables {

  private SelectionTables() {}

  /** Returns tables of all rows; an empty string without rows. */
  static String of(List<Map<String, Object>> rows) {
    StringBuilder text = new StringBuilder();
    Map<String, List<Map<String, Object>>> inputs =
        rows.stream()
            .collect(
                Collectors.groupingBy(
                    SelectionTables::input, LinkedHashMap::new, Collectors.toList()));
    inputs.forEach((input, found) -> append(text, input, found));
    return text.length() == 0
        ? ""
        : "\n## Selection\n\n[What is selected and how](../internals/selection.md). Microseconds of one call; in"
            + " brackets the keys read a second as a\nshare of the bandwidth of copies, of which"
            + " reads are half.\n"
            + text;
  }

  private static String input(Map<String, Object> row) {
    return String.format(
        Locale.ROOT,
        "%s, %,d rows of %,d keys, results %s",
        row.get("order"),
        ReportTables.number(row, "rows"),
        ReportTables.number(row, "n"),
        row.get("results").equals("sorted") ? "sorted" : "in any order");
  }

  private static void append(StringBuilder text, String input, List<Map<String, Object>> rows) {
    Set<Integer> columns = new TreeSet<>();
    Map<String, Map<Integer, String>> lines = new LinkedHashMap<>();
    for (Map<String, Object> row : rows) {
      int k = ReportTables.number(row, "k");
      columns.add(k);
      lines
          .computeIfAbsent(row.get("method").toString(), unused -> new LinkedHashMap<>())
          .put(
              k,
              String.format(
                  Locale.ROOT,
                  "%,.0f (%.0f %%)",
                  ReportTables.real(row, "us"),
                  100 * ReportTables.real(row, "share_of_copy")));
    }
    text.append("\n").append(capital(input)).append(":\n\n| k |");
    columns.forEach(k -> text.append(String.format(Locale.ROOT, " %,d |", k)));
    text.append("\n| --- |").append(" ---: |".repeat(columns.size())).append('\n');
    lines.forEach(
        (method, cells) -> {
          text.append("| `").append(method).append("` |");
          columns.forEach(
              k -> text.append(cells.containsKey(k) ? " " + cells.get(k) + " |" : " |"));
          text.append('\n');
        });
  }

  private static String capital(String words) {
    return words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1);
  }
}
