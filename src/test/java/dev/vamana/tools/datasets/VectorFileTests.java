package dev.vamana.tools.datasets;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.apache.lucene.tests.util.LuceneTestCase;

public class VectorFileTests extends LuceneTestCase {

  public void testFvecsRoundTrip() throws IOException {
    float[][] rows = randomRows();
    Path file = createTempDir().resolve("a.fvecs");
    TexMexFile.writeFvecs(file, rows);
    VectorTable read = VectorTable.read(file, Integer.MAX_VALUE);
    assertEquals(ElementType.FLOAT32, read.storedAs());
    assertEquals(rows[0].length, read.dimension());
    assertArrayEquals(rows, read.rows());
    int limit = 1 + random().nextInt(rows.length);
    assertArrayEquals(Arrays.copyOf(rows, limit), VectorTable.read(file, limit).rows());
  }

  public void testBvecs() throws IOException {
    Path file = createTempDir().resolve("a.bvecs");
    Files.write(file, new byte[] {2, 0, 0, 0, 1, (byte) 255, 2, 0, 0, 0, 0, (byte) 128});
    VectorTable read = VectorTable.read(file, Integer.MAX_VALUE);
    assertEquals(ElementType.UINT8, read.storedAs());
    assertArrayEquals(new float[][] {{1, 255}, {0, 128}}, read.rows());
  }

  public void testIvecsRoundTrip() throws IOException {
    int[][] rows = new int[1 + random().nextInt(20)][1 + random().nextInt(50)];
    for (int[] row : rows) {
      Arrays.setAll(row, i -> random().nextInt());
    }
    Path file = createTempDir().resolve("a.ivecs");
    TexMexFile.writeIvecs(file, rows);
    assertArrayEquals(rows, TexMexFile.readIvecs(file, Integer.MAX_VALUE));
  }

  public void testMalformedTexMex() throws IOException {
    Path file = createTempDir().resolve("a.fvecs");
    Files.write(file, new byte[3]);
    assertRejected(file, "3 bytes");
    Files.write(file, ints(-1, 0));
    assertRejected(file, "dimension of row 0 is -1", "[1, 1048576]");
    Files.write(file, ints(2, 0, 0, 2, 0));
    assertRejected(file, "20 bytes", "dimension 2");
    Files.write(file, ints(2, 0, 0, 3, 0, 0));
    assertRejected(file, "dimension of row 1 is 3", "row 0 is 2");
    Path unknown = file.resolveSibling("a.hdf5");
    assertRejected(unknown, ".fvecs, .bvecs and .npy");
    assertTrue(
        expectThrows(IllegalArgumentException.class, () -> VectorTable.read(file, 0))
            .getMessage()
            .contains("at least 1, found 0"));
  }

  public void testNpyOfEveryTypeOrderAndVersion() throws IOException {
    Path file = createTempDir().resolve("a.npy");
    float[][] rows = {{1, 2, 3}, {4, 5, 100}};
    for (String descr : new String[] {"<f4", ">f4", "<f8", ">f8", "|u1", "|i1"}) {
      for (int version = 1; version <= 3; version++) {
        Files.write(file, npy(version, descr, "(2, 3)", false, rows));
        VectorTable read = VectorTable.read(file, Integer.MAX_VALUE);
        assertEquals(3, read.dimension());
        assertArrayEquals(descr, rows, read.rows());
        assertArrayEquals(Arrays.copyOf(rows, 1), VectorTable.read(file, 1).rows());
      }
    }
    assertEquals(ElementType.INT8, VectorTable.read(file, 1).storedAs());
  }

  public void testMalformedNpy() throws IOException {
    Path file = createTempDir().resolve("a.npy");
    float[][] rows = {{1, 2, 3}, {4, 5, 6}};
    byte[] good = npy(1, "<f4", "(2, 3)", false, rows);
    Files.write(file, Arrays.copyOf(good, 5));
    assertRejected(file, "magic");
    byte[] wrongVersion = good.clone();
    wrongVersion[6] = 4;
    Files.write(file, wrongVersion);
    assertRejected(file, "version 4.0", "1 to 3");
    Files.write(file, Arrays.copyOf(good, 40));
    assertRejected(file, "ends within the .npy header");
    Files.write(file, Arrays.copyOf(good, good.length - 1));
    assertRejected(file, "ends within row 1");
    Files.write(file, Arrays.copyOf(good, good.length + 1));
    assertRejected(file, "bytes after the 2 rows");
    Files.write(file, npy(1, "<i8", "(2, 3)", false, rows));
    assertRejected(file, "'<i8'", "float32, float64, uint8 and int8");
    Files.write(file, npy(1, "<f4", "(2, 3)", true, rows));
    assertRejected(file, "Fortran");
    for (String shape : new String[] {"(6,)", "(1, 2, 3)", "()", "(0, 3)", "(2, 0)", "(2, -3)"}) {
      Files.write(file, npy(1, "<f4", shape, false, rows));
      assertRejected(file, "shape " + shape);
    }
  }

  private static void assertRejected(Path file, String... parts) {
    String message =
        expectThrows(
                IllegalArgumentException.class, () -> VectorTable.read(file, Integer.MAX_VALUE))
            .getMessage();
    assertTrue(message, message.startsWith(file.toString()));
    for (String part : parts) {
      assertTrue(message, message.contains(part));
    }
  }

  private static float[][] randomRows() {
    float[][] rows = new float[1 + random().nextInt(30)][1 + random().nextInt(200)];
    for (float[] row : rows) {
      for (int i = 0; i < row.length; i++) {
        row[i] = (float) random().nextGaussian();
      }
    }
    return rows;
  }

  private static byte[] ints(int... values) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asIntBuffer().put(values);
    return bytes.array();
  }

  private static byte[] npy(
      int version, String descr, String shape, boolean fortran, float[][] rows) {
    String header =
        "{'descr': '"
            + descr
            + "', 'fortran_order': "
            + (fortran ? "True" : "False")
            + ", 'shape': "
            + shape
            + ", }\n";
    byte[] text = header.getBytes(StandardCharsets.UTF_8);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', (byte) version, 0});
    ByteBuffer length = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(text.length);
    out.write(length.array(), 0, version == 1 ? 2 : 4);
    out.writeBytes(text);
    ByteOrder order = descr.startsWith(">") ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    for (float[] row : rows) {
      for (float component : row) {
        ByteBuffer bytes = ByteBuffer.allocate(descr.charAt(2) - '0').order(order);
        switch (descr.substring(1)) {
          case "f4" -> bytes.putFloat(component);
          case "f8", "i8" -> bytes.putDouble(component);
          default -> bytes.put((byte) component);
        }
        out.writeBytes(bytes.array());
      }
    }
    return out.toByteArray();
  }
}
