package dev.vamana.tools.gpu;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The findings of one stage. They are written to a file after each addition, so that an interrupted
 * stage keeps its results. When a stage runs again, rows of the same identity are replaced and
 * others kept, provided they were measured with the same sources.
 */
final class Fragment {

  /** Columns that identify a row within a section. A row need not have all of them. */
  private static final List<String> IDENTITY =
      List.of(
          "id",
          "set",
          "segments",
          "method",
          "placement",
          "batch",
          "callers",
          "beam",
          "slices",
          "round",
          "parents",
          "rerank",
          "target",
          "linger_us",
          "search_threads",
          "devices",
          ReportStage.DEVICE,
          "what",
          "variant",
          "share");

  /** The hash of the sources that a fragment or a report belongs to. */
  static final String OF_SOURCES = "sources_sha256";

  private final Path file;
  private final Map<String, Object> content;

  private Fragment(Path file, Map<String, Object> content) {
    this.file = file;
    this.content = content;
  }

  /**
   * Opens the fragment of a stage.
   *
   * @param sourcesSha256 hash of the sources of the running code
   */
  static Fragment open(Path folder, String stage, String sourcesSha256) throws IOException {
    Path file = folder.resolve(stage + ".json");
    Map<String, Object> content = new LinkedHashMap<>();
    if (Files.exists(file)) {
      Map<String, Object> old = read(file);
      if (sourcesSha256.equals(old.get(OF_SOURCES))) {
        content.putAll(old);
      }
    }
    content.put("stage", stage);
    content.put(OF_SOURCES, sourcesSha256);
    return new Fragment(file, content);
  }

  /** Returns all values of the fragment. */
  Map<String, Object> content() {
    return content;
  }

  /** Returns the hash of the sources of the running code. */
  String sources() {
    return content.get(OF_SOURCES).toString();
  }

  static Map<String, Object> read(Path file) throws IOException {
    return JSON.std.mapFrom(Files.readString(file));
  }

  /** Sets a top-level value of the fragment. */
  synchronized void set(String key, Object value) throws IOException {
    content.put(key, value);
    write();
  }

  /** Adds a row to a section, replacing a row of the same identity. */
  synchronized void add(String section, Map<String, Object> row) throws IOException {
    List<Map<String, Object>> rows = rows(content, section);
    rows.removeIf(old -> sameIdentity(old, row));
    rows.add(row);
    content.put(section, rows);
    write();
  }

  synchronized void add(Measurement measurement) throws IOException {
    add("benchmarks", measurement.toMap());
  }

  /** Returns the rows of a section; an empty list if there is none. */
  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> rows(Map<String, Object> content, String section) {
    Object rows = content.get(section);
    return rows == null ? new ArrayList<>() : new ArrayList<>((List<Map<String, Object>>) rows);
  }

  static boolean sameIdentity(Map<String, Object> a, Map<String, Object> b) {
    return IDENTITY.stream().allMatch(key -> Objects.equals(text(a.get(key)), text(b.get(key))));
  }

  private static String text(Object value) {
    return value == null ? null : value.toString();
  }

  private void write() throws IOException {
    Path next = file.resolveSibling(file.getFileName() + ".next");
    Files.writeString(next, Json.write(content));
    Files.move(next, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }
}
