package dev.vamana.tools.figures;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The CSV files of a folder, to which measurements of one commit on one device add their rows.
 *
 * @param folder has a file for each {@link Sheet} with rows
 * @param commit what is measured
 * @param device what it runs on
 */
public record Figures(Path folder, String commit, String device) {

  /** Begins the commit of rows that are older than the others of their file. */
  public static final String EARLIER = "earlier:";

  private static final MathContext DIGITS = new MathContext(5);

  /**
   * The vectors of a row.
   *
   * @param set name
   * @param n their number
   * @param dims their components
   */
  public record Subject(String set, int n, int dims) {
    /** For figures that no set of vectors belongs to. */
    public static final Subject NONE = new Subject("-", 0, 0);
  }

  /**
   * Adds a row, in place of an earlier one with the same keys. Rows of other commits go, unless
   * they are marked as {@link #EARLIER}. Processes may add rows side by side.
   *
   * @param values of the columns after the first ones; numbers are rounded to five digits, and NaN
   *     is left out
   */
  public void add(Sheet sheet, Subject of, Object... values) throws IOException {
    List<Object> all = new ArrayList<>(List.of(commit, device, of.set, of.n, of.dims));
    all.addAll(List.of(values));
    String line = String.join(",", all.stream().map(Figures::text).toList());
    Map<String, String> row = row(sheet, line);
    // the lock of a file is of a process, in which threads wait for one another here
    synchronized (Figures.class) {
      Files.createDirectories(folder);
      try (FileChannel channel =
              FileChannel.open(
                  folder.resolve(".lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = channel.lock()) {
        assert lock.isValid();
        replace(sheet, row);
      }
    }
  }

  private void replace(Sheet sheet, Map<String, String> row) throws IOException {
    List<String> lines = new ArrayList<>(List.of(sheet.header()));
    for (Map<String, String> old : read(folder, sheet)) {
      boolean replaced = sheet.keys().stream().allMatch(key -> old.get(key).equals(row.get(key)));
      String from = old.get("commit");
      if (replaced == false && (from.equals(commit) || from.startsWith(EARLIER))) {
        lines.add(String.join(",", old.values()));
      }
    }
    lines.add(String.join(",", row.values()));
    Files.write(folder.resolve(sheet.file()), lines);
  }

  /** Returns the commit of a checkout, or "unknown". */
  public static String commitOf(Path checkout) throws IOException {
    Process git =
        new ProcessBuilder("git", "describe", "--always", "--dirty", "--abbrev=10")
            .directory(checkout.toAbsolutePath().toFile())
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    String found = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    return found.isEmpty() ? "unknown" : found;
  }

  private static String text(Object value) {
    if (value instanceof Double || value instanceof Float) {
      double number = ((Number) value).doubleValue();
      return Double.isFinite(number)
          ? new BigDecimal(number, DIGITS).stripTrailingZeros().toPlainString()
          : "";
    }
    return value.toString().replace(',', ';').replace('\n', ' ');
  }

  /**
   * Reads a file.
   *
   * @return rows by column; none if there is no such file
   * @throws IllegalArgumentException if the file has other columns, or a row too few or too many
   */
  public static List<Map<String, String>> read(Path folder, Sheet sheet) throws IOException {
    Path file = folder.resolve(sheet.file());
    if (Files.notExists(file)) {
      return List.of();
    }
    List<String> lines = Files.readAllLines(file);
    if (lines.get(0).equals(sheet.header()) == false) {
      throw new IllegalArgumentException(
          file + " begins with '" + lines.get(0) + "', allowed is '" + sheet.header() + "'");
    }
    return lines.stream().skip(1).map(line -> row(sheet, line)).toList();
  }

  private static Map<String, String> row(Sheet sheet, String line) {
    String[] columns = sheet.header().split(",");
    String[] values = line.split(",", -1);
    if (values.length != columns.length) {
      throw new IllegalArgumentException(
          sheet.file() + ": '" + line + "' has " + values.length + " values of " + columns.length);
    }
    Map<String, String> row = new LinkedHashMap<>();
    for (int i = 0; i < columns.length; i++) {
      row.put(columns[i], values[i]);
    }
    return row;
  }
}
