package dev.vamana.cuda;

import dev.vamana.cuda.FaultCell.Phase;
import dev.vamana.cuda.driver.InterceptedDriver.Call;
import dev.vamana.cuda.driver.SeamDriver.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The table of docs/internals/faults.md: what follows from a fault, by phase and call. */
final class FaultTable {

  private static final String HEAD = "| phase | call | ";
  private static final String NOTHING = "-";

  /** Faults that share a column. */
  enum Column {
    ONCE("error once"),
    FOR_GOOD("errors from then on"),
    MEMORY("out of memory"),
    LOST("context lost"),
    KERNEL("kernel traps or never ends");

    private final String title;

    Column(String title) {
      this.title = title;
    }

    static Column of(Fault fault) {
      return switch (fault) {
        case FAILED, NOT_SUPPORTED, UNAVAILABLE -> ONCE;
        case ALWAYS_FAILS -> FOR_GOOD;
        case OUT_OF_MEMORY, ALWAYS_OUT_OF_MEMORY -> MEMORY;
        case CONTEXT_LOST -> LOST;
        case TRAPPED, ENDLESS -> KERNEL;
      };
    }
  }

  private record Row(Phase phase, Call call) implements Comparable<Row> {
    @Override
    public int compareTo(Row other) {
      int byPhase = phase.compareTo(other.phase);
      return byPhase != 0 ? byPhase : call.compareTo(other.call);
    }
  }

  private final Map<Row, Map<Column, Set<String>>> rows = new TreeMap<>();

  /** Adds what followed from a fault. */
  void add(FaultCell cell, Set<String> what) {
    rows.computeIfAbsent(new Row(cell.phase(), cell.call()), row -> new EnumMap<>(Column.class))
        .computeIfAbsent(Column.of(cell.fault()), column -> new TreeSet<>())
        .addAll(what);
  }

  /** The possible effects of a fault; null if the table does not have it. */
  Set<String> of(FaultCell cell) {
    Map<Column, Set<String>> row = rows.get(new Row(cell.phase(), cell.call()));
    return row == null ? null : row.get(Column.of(cell.fault()));
  }

  /** The possible effects of all faults in the cell's phase. */
  Set<String> ofPhase(FaultCell cell) {
    Set<String> all = new TreeSet<>();
    rows.forEach(
        (row, columns) -> {
          if (row.phase == cell.phase()) {
            columns.values().forEach(all::addAll);
          }
        });
    return all;
  }

  /** Reads the page's table. */
  static FaultTable read(Path page) throws IOException {
    FaultTable table = new FaultTable();
    boolean inside = false;
    for (String line : Files.readAllLines(page)) {
      if (line.startsWith(HEAD)) {
        inside = true;
      } else if (inside && line.startsWith("| ---") == false) {
        if (line.startsWith("|") == false) {
          break;
        }
        table.read(line.split("\\|", -1));
      }
    }
    return table;
  }

  private void read(String[] cells) {
    Row row = new Row(phase(cells[1].strip()), call(cells[2].strip()));
    Map<Column, Set<String>> columns = new EnumMap<>(Column.class);
    for (Column column : Column.values()) {
      String text = cells[3 + column.ordinal()].strip();
      if (text.isEmpty() == false) {
        Set<String> what = new TreeSet<>();
        if (text.equals(NOTHING) == false) {
          for (String each : text.split(",")) {
            what.add(each.replace("`", "").strip());
          }
        }
        columns.put(column, what);
      }
    }
    rows.put(row, columns);
  }

  private static Phase phase(String title) {
    for (Phase phase : Phase.values()) {
      if (phase.title().equals(title)) {
        return phase;
      }
    }
    throw new IllegalArgumentException("no phase is called " + title);
  }

  private static Call call(String text) {
    for (Call call : Call.values()) {
      if (text.equals("`" + call.method() + "`")) {
        return call;
      }
    }
    throw new IllegalArgumentException("no call is named " + text);
  }

  /** Replaces the page's table. */
  void write(Path page) throws IOException {
    List<String> lines = new ArrayList<>();
    boolean inside = false;
    for (String line : Files.readAllLines(page)) {
      if (line.startsWith(HEAD)) {
        inside = true;
        lines.addAll(lines());
      } else if (inside == false || line.startsWith("|") == false) {
        inside = false;
        lines.add(line);
      }
    }
    Files.write(page, lines);
  }

  private List<String> lines() {
    List<String> lines = new ArrayList<>();
    StringBuilder head = new StringBuilder(HEAD);
    StringBuilder rule = new StringBuilder("| --- | --- |");
    for (Column column : Column.values()) {
      head.append(column.title).append(" |").append(column == Column.KERNEL ? "" : " ");
      rule.append(" --- |");
    }
    lines.add(head.toString());
    lines.add(rule.toString());
    rows.forEach(
        (row, columns) -> {
          StringBuilder line = new StringBuilder("| " + row.phase.title());
          line.append(" | `").append(row.call.method()).append("` |");
          for (Column column : Column.values()) {
            Set<String> what = columns.get(column);
            String text = what == null ? "" : what.isEmpty() ? NOTHING : String.join(", ", what);
            line.append(text.isEmpty() ? " |" : " " + text + " |");
          }
          lines.add(line.toString());
        });
    return lines;
  }
}
