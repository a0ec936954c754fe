package dev.vamana.tools.datasets;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds and reads the files of a {@link VectorSet} in a folder. */
final class VectorFolder {
  /** Number of queries whose ground truth an exhaustive scan checks, to detect stale files. */
  private static final int CHECKED_QUERIES = 3;

  private final Path folder;

  private VectorFolder(Path folder) {
    this.folder = folder;
  }

  static VectorSet load(Path path, Metric wanted, int limit) throws IOException {
    if (!Files.isDirectory(path)) {
      throw new IllegalArgumentException(path + ": no such folder of vectors");
    }
    VectorFolder folder = new VectorFolder(path.toRealPath());
    Map<String, Object> meta = folder.meta();
    Object stated = meta.get("metric");
    Metric own = stated == null ? null : Metric.of(stated.toString());
    Metric metric = wanted != null ? wanted : own != null ? own : Metric.L2;

    VectorTable base = VectorTable.read(folder.require("base"), limit);
    VectorTable queries = VectorTable.read(folder.require("query"), Integer.MAX_VALUE);
    String name = meta.getOrDefault("name", folder.folder.getFileName()).toString();
    if (base.dimension() != queries.dimension()) {
      throw new IllegalArgumentException(
          path
              + ": base vectors have dimension "
              + base.dimension()
              + ", queries have "
              + queries.dimension());
    }
    Path truthFile = folder.groundTruth(metric, own);
    GroundTruth truth = truthFile == null ? null : read(truthFile, metric, base, queries, limit);
    if (truth == null) {
      return VectorSet.of(name, metric, base, queries);
    }
    return new VectorSet(name, metric, metric.similarity(), base, queries, truth);
  }

  /** Reads ground truth; returns null if it belongs to a larger base than was read. */
  private static GroundTruth read(
      Path file, Metric metric, VectorTable base, VectorTable queries, int limit)
      throws IOException {
    int[][] ordinals = TexMexFile.readIvecs(file, Integer.MAX_VALUE);
    int highest =
        Arrays.stream(ordinals).flatMapToInt(Arrays::stream).max().orElse(Integer.MAX_VALUE);
    if (base.size() == limit && highest >= limit) {
      return null;
    }
    GroundTruth truth = GroundTruth.of(file.toString(), ordinals, metric, base, queries);
    check(file, truth, metric, base, queries);
    return truth;
  }

  private static void check(
      Path file, GroundTruth truth, Metric metric, VectorTable base, VectorTable queries) {
    int count = Math.min(CHECKED_QUERIES, queries.size());
    GroundTruth exact =
        ExactSearch.groundTruth(
            metric, base.rows(), Arrays.copyOf(queries.rows(), count), truth.depth());
    for (int q = 0; q < count; q++) {
      if (!agree(exact.distances()[q], truth.distances()[q])) {
        throw new IllegalArgumentException(
            file
                + ": row "
                + q
                + " does not hold the exact neighbours by metric "
                + metric.label()
                + " in this base; use the metric it was made with, or remove the file");
      }
    }
  }

  /** Whether distances agree, up to the rounding of a file that was made in single precision. */
  private static boolean agree(float[] exact, float[] found) {
    for (int i = 0; i < exact.length; i++) {
      float largest = Math.max(Math.abs(exact[i]), Math.abs(found[i]));
      if (Math.abs(exact[i] - found[i]) > 1e-4f * largest + 1e-6f) {
        return false;
      }
    }
    return exact.length == found.length;
  }

  private Path groundTruth(Metric metric, Metric own) throws IOException {
    Path named = find("groundtruth_" + metric.label(), "ivecs");
    if (named != null) {
      return named;
    }
    // without meta.json, assume that the only ground truth belongs to the caller's metric
    return own == null || own == metric ? find("groundtruth", "ivecs") : null;
  }

  private Path require(String stem) throws IOException {
    Path file = find(stem, VectorTable.EXTENSIONS);
    if (file == null) {
      throw new IllegalArgumentException(
          folder
              + ": has no "
              + stem
              + " file, allowed names are "
              + Arrays.stream(VectorTable.EXTENSIONS)
                  .map(extension -> stem + "." + extension)
                  .collect(Collectors.joining(", ")));
    }
    return file;
  }

  /**
   * Finds the file with this name, or else the only one with this name after a prefix; null if
   * none.
   */
  private Path find(String stem, String... extensions) throws IOException {
    for (String extension : extensions) {
      Path exact = folder.resolve(stem + "." + extension);
      if (Files.isRegularFile(exact)) {
        return exact;
      }
    }
    List<Path> prefixed = new ArrayList<>();
    for (String extension : extensions) {
      try (Stream<Path> files = Files.list(folder)) {
        files
            .filter(file -> file.getFileName().toString().endsWith("_" + stem + "." + extension))
            .forEach(prefixed::add);
      }
    }
    if (prefixed.size() > 1) {
      throw new IllegalArgumentException(
          folder + ": has several files for " + stem + ": " + prefixed + ", allowed is one");
    }
    return prefixed.isEmpty() ? null : prefixed.get(0);
  }

  private Map<String, Object> meta() throws IOException {
    Path file = folder.resolve("meta.json");
    if (!Files.exists(file)) {
      return Map.of();
    }
    try (InputStream in = Files.newInputStream(file)) {
      return JSON.std.mapFrom(in);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(file + ": not a JSON object: " + e.getMessage(), e);
    }
  }
}
