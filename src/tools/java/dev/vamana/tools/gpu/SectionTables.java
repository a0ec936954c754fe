package dev.vamana.tools.gpu;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** Formats a section of the report as tables, one for each set of columns. */
final class SectionTables {

  private static final Set<String> LEFT_OUT = Set.of("samples", "set_sha256");

  /** Columns of some rows of a table, which come last. */
  private static final List<String> MARKS = List.of(ReportStage.DEVICE, ReportStage.SOURCES);

  private SectionTables() {}

  /** Returns a heading and tables; an empty string without rows. */
  static String of(String section, List<Map<String, Object>> rows) {
    if (rows.isEmpty()) {
      return "";
    }
    Map<Set<String>, List<Map<String, Object>>> tables = new LinkedHashMap<>();
    for (Map<String, Object> row : rows) {
      Set<String> columns = new TreeSet<>(row.keySet());
      columns.removeAll(MARKS);
      tables.computeIfAbsent(columns, unseen -> new ArrayList<>()).add(row);
    }
    StringBuilder text = new StringBuilder("\n## " + title(section) + "\n");
    tables.values().forEach(table -> append(text, table));
    return text.toString();
  }

  private static void append(StringBuilder text, List<Map<String, Object>> rows) {
    Map<String, Boolean> columns = new LinkedHashMap<>();
    for (Map<String, Object> row : rows) {
      row.forEach((name, value) -> columns.merge(name, value instanceof Number, (a, b) -> a && b));
    }
    LEFT_OUT.forEach(columns::remove);
    for (String mark : MARKS) {
      if (columns.remove(mark) != null) {
        columns.put(mark, false);
      }
    }
    text.append("\n| ").append(String.join(" | ", columns.keySet())).append(" |\n|");
    columns.values().forEach(number -> text.append(number ? " ---: |" : " --- |"));
    text.append('\n');
    for (Map<String, Object> row : rows) {
      text.append(
          columns.keySet().stream()
              .map(name -> shown(name, row))
              .collect(Collectors.joining(" | ", "| ", " |\n")));
    }
  }

  private static String title(String section) {
    String words = section.replace('_', ' ');
    return words.substring(0, 1).toUpperCase(Locale.ROOT) + words.substring(1);
  }

  private static String shown(String column, Map<String, Object> row) {
    return column.equals(ReportStage.SOURCES) ? ReportTables.mark(row) : shown(row.get(column));
  }

  private static String shown(Object value) {
    if (value == null) {
      return "";
    }
    if (value instanceof Map<?, ?> parts) {
      return parts.entrySet().stream()
          .filter(part -> part.getValue() instanceof Map<?, ?> none ? none.size() > 0 : true)
          .map(part -> part.getKey() + " " + shown(part.getValue()))
          .collect(Collectors.joining(", "));
    }
    if (value instanceof Double number) {
      return String.format(Locale.ROOT, Math.abs(number) >= 1_000 ? "%,.0f" : "%.4g", number);
    }
    return value instanceof Number number
        ? String.format(Locale.ROOT, "%,d", number.longValue())
        : value.toString();
  }
}
