package dev.vamana.tools.datasets;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Reads and writes files of the TexMex collection. Each row is its dimension as a little-endian
 * int32, followed by its components: float32 in {@code .fvecs}, unsigned bytes in {@code .bvecs},
 * int32 in {@code .ivecs}. All rows of a file have the same dimension.
 */
public final class TexMexFile {
  /** Above any real dimension; a larger number means that the file has another format. */
  static final int MAX_DIMENSION = 1 << 20;

  private static final int BUFFER_BYTES = 1 << 20;

  private TexMexFile() {}

  /** Reads at most {@code limit} rows of an {@code .fvecs} file. */
  public static VectorTable readFvecs(Path file, int limit) throws IOException {
    try (Rows rows = Rows.open(file, Float.BYTES, limit)) {
      float[][] vectors = new float[rows.count][rows.dimension];
      for (float[] vector : vectors) {
        rows.next().asFloatBuffer().get(vector);
      }
      return new VectorTable(ElementType.FLOAT32, rows.dimension, vectors);
    }
  }

  /** Reads at most {@code limit} rows of a {@code .bvecs} file; components are 0 to 255. */
  public static VectorTable readBvecs(Path file, int limit) throws IOException {
    try (Rows rows = Rows.open(file, 1, limit)) {
      float[][] vectors = new float[rows.count][rows.dimension];
      for (float[] vector : vectors) {
        ByteBuffer row = rows.next();
        for (int i = 0; i < vector.length; i++) {
          vector[i] = row.get() & 0xFF;
        }
      }
      return new VectorTable(ElementType.UINT8, rows.dimension, vectors);
    }
  }

  /** Reads at most {@code limit} rows of an {@code .ivecs} file. */
  public static int[][] readIvecs(Path file, int limit) throws IOException {
    try (Rows rows = Rows.open(file, Integer.BYTES, limit)) {
      int[][] values = new int[rows.count][rows.dimension];
      for (int[] row : values) {
        rows.next().asIntBuffer().get(row);
      }
      return values;
    }
  }

  /** Writes rows of equal length as {@code .fvecs}. */
  public static void writeFvecs(Path file, float[][] rows) throws IOException {
    try (OutputStream out = open(file)) {
      for (float[] row : rows) {
        ByteBuffer bytes = row(row.length, Float.BYTES);
        bytes.asFloatBuffer().put(row);
        out.write(bytes.array());
      }
    }
  }

  /** Writes rows of equal length as {@code .ivecs}. */
  public static void writeIvecs(Path file, int[][] rows) throws IOException {
    try (OutputStream out = open(file)) {
      for (int[] row : rows) {
        ByteBuffer bytes = row(row.length, Integer.BYTES);
        bytes.asIntBuffer().put(row);
        out.write(bytes.array());
      }
    }
  }

  private static OutputStream open(Path file) throws IOException {
    return new BufferedOutputStream(Files.newOutputStream(file), BUFFER_BYTES);
  }

  /** Makes a buffer for one row and writes its dimension. */
  private static ByteBuffer row(int dimension, int componentBytes) {
    return ByteBuffer.allocate(Integer.BYTES + dimension * componentBytes)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(dimension);
  }

  /** Reads the rows of one file in order. */
  private static final class Rows implements AutoCloseable {
    private final Path file;
    private final InputStream in;
    private final ByteBuffer row;
    private final int dimension;
    private final int count;
    private long nextRow;

    private Rows(Path file, InputStream in, int dimension, int count, int rowBytes) {
      this.file = file;
      this.in = in;
      this.dimension = dimension;
      this.count = count;
      this.row = ByteBuffer.allocate(rowBytes).order(ByteOrder.LITTLE_ENDIAN);
    }

    static Rows open(Path file, int componentBytes, int limit) throws IOException {
      long size = Files.size(file);
      if (size < Integer.BYTES) {
        throw new IllegalArgumentException(
            file + ": " + size + " bytes, at least the 4 bytes of a dimension are needed");
      }
      int dimension;
      try (InputStream in = Files.newInputStream(file)) {
        dimension =
            ByteBuffer.wrap(in.readNBytes(Integer.BYTES)).order(ByteOrder.LITTLE_ENDIAN).getInt();
      }
      if (dimension < 1 || dimension > MAX_DIMENSION) {
        throw new IllegalArgumentException(
            file
                + ": dimension of row 0 is "
                + dimension
                + ", allowed is [1, "
                + MAX_DIMENSION
                + "]");
      }
      int rowBytes = Integer.BYTES + dimension * componentBytes;
      long count = size / rowBytes;
      if (size % rowBytes != 0 || count > Integer.MAX_VALUE) {
        throw new IllegalArgumentException(
            file
                + ": "
                + size
                + " bytes are not a whole number of rows of dimension "
                + dimension
                + " ("
                + rowBytes
                + " bytes each)");
      }
      InputStream in = new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES);
      return new Rows(file, in, dimension, (int) Math.min(count, limit), rowBytes);
    }

    /** Reads the next row; the buffer's position is the row's first component. */
    ByteBuffer next() throws IOException {
      row.clear();
      if (in.readNBytes(row.array(), 0, row.capacity()) != row.capacity()) {
        throw new IllegalArgumentException(file + ": ends within row " + nextRow);
      }
      int found = row.getInt();
      if (found != dimension) {
        throw new IllegalArgumentException(
            file
                + ": dimension of row "
                + nextRow
                + " is "
                + found
                + ", but the dimension of row 0 is "
                + dimension
                + "; all rows must have the same dimension");
      }
      nextRow++;
      return row.slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }
}
