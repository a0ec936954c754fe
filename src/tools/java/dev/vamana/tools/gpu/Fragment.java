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
 * What one stage found, written to a file after each addition so that a stage that is cut off keeps
 * what it has. A stage that runs again replaces rows of the same identity and keeps the others, but
 * only those measured with the same sources.
 */
final class Fragment {

  /** Columns that tell rows of one section apart; a row need not have all. */
  private static final List<String> IDENTITY =
      List.of(
          "id",
          "set",
          "method",
          "placement",
          "batch",
          "callers",
          "beam",
          "parents",
          "rerank",
          "target",
          "linger_us",
          "search_threads",
          "what",
          "variant");

  private final Path file;
  private final Map<String, Object> content;

  private Fragment(Path file, Map<String, Object> content) {
    this.file = file;
    this.content = content;
  }

  /**
   * Opens the fragment of a stage.
   *
   * @param sourcesSha256 what the running code was made of
   */
  static Fragment open(Path folder, String stage, String sourcesSha256) throws IOException {
    Path file = folder.resolve(stage + ".json");
    Map<String, Object> content = new LinkedHashMap<>();
    if (Files.exists(file)) {
      Map<String, Object> old = read(file);
      if (sourcesSha256.equals(old.get("sources_sha256"))) {
        content.putAll(old);
      }
    }
    content.put("stage", stage);
    content.put("sources_sha256", sourcesSha256);
    return new Fragment(file, content);
  }

  /** Hash of the sources that the running code was made of. */
  String sources() {
    return content.get("sources_sha256").toString();
  }

  static Map<String, Object> read(Path file) throws IOException {
    return JSON.std.mapFrom(Files.readString(file));
  }

  /** Sets a value of the fragment itself. */
  synchronized void set(String key, Object value) throws IOException {
    content.put(key, value);
    write();
  }

  /** Adds a row to a section, in place of the one of the same identity if there is one. */
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

  /** The rows of a section, empty if there is none. */
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
