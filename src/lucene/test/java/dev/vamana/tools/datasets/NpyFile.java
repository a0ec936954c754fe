package dev.vamana.tools.datasets;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads two-dimensional C-order arrays in NumPy's {@code .npy} format, versions 1 to 3. A file
 * holds a magic string, the version, the length of the header, the header (a Python dictionary with
 * the keys {@code descr}, {@code fortran_order} and {@code shape}), then the rows. Components may
 * be float32, float64 (narrowed to float), uint8 or int8.
 */
public final class NpyFile {
  private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};
  private static final int MAX_HEADER_BYTES = 1 << 20;
  private static final Pattern DESCR = Pattern.compile("['\"]descr['\"]\\s*:\\s*['\"]([^'\"]*)");
  private static final Pattern ORDER =
      Pattern.compile("['\"]fortran_order['\"]\\s*:\\s*(True|False)");
  private static final Pattern SHAPE = Pattern.compile("['\"]shape['\"]\\s*:\\s*\\(([^)]*)\\)");

  private NpyFile() {}

  /**
   * Reads at most {@code limit} rows.
   *
   * @throws IllegalArgumentException if the file does not hold such an array
   */
  public static VectorTable read(Path file, int limit) throws IOException {
    try (InputStream in = new BufferedInputStream(Files.newInputStream(file), 1 << 20)) {
      Header header = readHeader(file, in);
      int count = (int) Math.min(header.rows, limit);
      float[][] rows = new float[count][header.dimension];
      ByteBuffer bytes =
          ByteBuffer.allocate(header.dimension * header.type.bytes()).order(header.byteOrder);
      for (int i = 0; i < count; i++) {
        if (in.readNBytes(bytes.array(), 0, bytes.capacity()) != bytes.capacity()) {
          throw new IllegalArgumentException(
              file + ": ends within row " + i + " of the " + header.rows + " in its shape");
        }
        decode(bytes.clear(), header.type, rows[i]);
      }
      if (count == header.rows && in.read() != -1) {
        throw new IllegalArgumentException(
            file + ": has bytes after the " + header.rows + " rows of its shape");
      }
      return new VectorTable(header.type, header.dimension, rows);
    }
  }

  private static void decode(ByteBuffer bytes, ElementType type, float[] row) {
    switch (type) {
      case FLOAT32 -> bytes.asFloatBuffer().get(row);
      case FLOAT64 -> {
        for (int i = 0; i < row.length; i++) {
          row[i] = (float) bytes.getDouble();
        }
      }
      case UINT8 -> {
        for (int i = 0; i < row.length; i++) {
          row[i] = bytes.get() & 0xFF;
        }
      }
      case INT8 -> {
        for (int i = 0; i < row.length; i++) {
          row[i] = bytes.get();
        }
      }
    }
  }

  private record Header(ElementType type, ByteOrder byteOrder, long rows, int dimension) {}

  private static Header readHeader(Path file, InputStream in) throws IOException {
    byte[] start = in.readNBytes(MAGIC.length + 2);
    if (start.length < MAGIC.length + 2
        || !ByteBuffer.wrap(start, 0, MAGIC.length).equals(ByteBuffer.wrap(MAGIC))) {
      throw new IllegalArgumentException(file + ": does not start with the magic of .npy files");
    }
    int version = start[MAGIC.length];
    if (version < 1 || version > 3) {
      throw new IllegalArgumentException(
          file
              + ": .npy version "
              + version
              + "."
              + start[MAGIC.length + 1]
              + ", allowed are 1 to 3");
    }
    int lengthBytes = version == 1 ? Short.BYTES : Integer.BYTES;
    byte[] length = in.readNBytes(lengthBytes);
    long headerBytes = 0;
    for (int i = length.length - 1; i >= 0; i--) {
      headerBytes = headerBytes << 8 | (length[i] & 0xFF);
    }
    if (length.length < lengthBytes || headerBytes > MAX_HEADER_BYTES) {
      throw new IllegalArgumentException(
          file + ": .npy header of " + headerBytes + " bytes, allowed are " + MAX_HEADER_BYTES);
    }
    byte[] text = in.readNBytes((int) headerBytes);
    if (text.length < headerBytes) {
      throw new IllegalArgumentException(file + ": ends within the .npy header");
    }
    return parse(file, new String(text, StandardCharsets.UTF_8));
  }

  private static Header parse(Path file, String header) {
    if (find(file, ORDER, "fortran_order", header).equals("True")) {
      throw new IllegalArgumentException(
          file + ": array is in Fortran order, only C order is allowed");
    }
    String descr = find(file, DESCR, "descr", header);
    ElementType type =
        switch (descr) {
          case "<f4", ">f4", "=f4" -> ElementType.FLOAT32;
          case "<f8", ">f8", "=f8" -> ElementType.FLOAT64;
          case "|u1", "u1" -> ElementType.UINT8;
          case "|i1", "i1" -> ElementType.INT8;
          default ->
              throw new IllegalArgumentException(
                  file
                      + ": element type '"
                      + descr
                      + "', allowed are float32, float64, uint8 and int8");
        };
    ByteOrder order = descr.startsWith(">") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    String shape = find(file, SHAPE, "shape", header);
    Matcher sizes = Pattern.compile("\\s*(\\d{1,10})\\s*,\\s*(\\d{1,10})\\s*,?\\s*").matcher(shape);
    if (!sizes.matches()) {
      throw new IllegalArgumentException(
          file + ": shape (" + shape + "), allowed are two-dimensional arrays (rows, dimension)");
    }
    long rows = Long.parseLong(sizes.group(1));
    long dimension = Long.parseLong(sizes.group(2));
    if (rows < 1
        || rows > Integer.MAX_VALUE
        || dimension < 1
        || dimension > TexMexFile.MAX_DIMENSION) {
      throw new IllegalArgumentException(
          file
              + ": shape ("
              + shape
              + "), allowed are 1 to "
              + Integer.MAX_VALUE
              + " rows of dimension 1 to "
              + TexMexFile.MAX_DIMENSION);
    }
    return new Header(type, order, rows, (int) dimension);
  }

  private static String find(Path file, Pattern pattern, String key, String header) {
    Matcher matcher = pattern.matcher(header);
    if (!matcher.find()) {
      throw new IllegalArgumentException(file + ": .npy header has no valid '" + key + "'");
    }
    return matcher.group(1);
  }
}
