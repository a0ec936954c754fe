package dev.vamana.tools.datasets;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;

/**
 * The rows of one vector file.
 *
 * @param storedAs type of the components in the file
 * @param dimension components in each row, at least 1
 * @param rows {@code [count][dimension]}; not copied, so callers must not write to them
 */
public record VectorTable(ElementType storedAs, int dimension, float[][] rows) {

  /** File name extensions that {@link #read} accepts, in the order of preference. */
  static final String[] EXTENSIONS = {"fvecs", "bvecs", "npy"};

  public VectorTable {
    Objects.requireNonNull(storedAs);
    for (float[] row : rows) {
      if (row.length != dimension) {
        throw new IllegalArgumentException(
            "rows must have dimension " + dimension + ", found one of " + row.length);
      }
    }
  }

  /** Number of rows. */
  public int size() {
    return rows.length;
  }

  /**
   * Reads a file by its extension: {@code .fvecs}, {@code .bvecs} or {@code .npy}.
   *
   * @param limit most rows to read, at least 1; {@link Integer#MAX_VALUE} for all
   * @throws IllegalArgumentException if the extension is another one or the content is malformed
   */
  public static VectorTable read(Path file, int limit) throws IOException {
    if (limit < 1) {
      throw new IllegalArgumentException("limit must be at least 1, found " + limit);
    }
    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
    if (name.endsWith(".fvecs")) {
      return TexMexFile.readFvecs(file, limit);
    } else if (name.endsWith(".bvecs")) {
      return TexMexFile.readBvecs(file, limit);
    } else if (name.endsWith(".npy")) {
      return NpyFile.read(file, limit);
    }
    throw new IllegalArgumentException(
        file + ": unknown vector file extension, allowed are .fvecs, .bvecs and .npy");
  }
}
