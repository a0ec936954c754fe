package dev.vamana.cuda.kernel;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.apache.lucene.util.NumericUtils;

/** Tests the conversion and probe kernels. */
public class ConvertTests extends KernelTestCase {

  private static final int FRACTIONS = 1;
  private static final int NOT_FINITE = 2;
  private static final int ROUNDED = 4;

  /** Rows of floats with something between them. */
  private record Rows(MemorySegment memory, int rows, int dimension, int stride) {

    static Rows some(Arena arena) {
      int rows = 1 + random().nextInt(50);
      int dimension = 1 + random().nextInt(70);
      int stride = 4 * (dimension + random().nextInt(5));
      MemorySegment memory = arena.allocate((long) rows * stride, 16);
      memory.fill((byte) 0xFF);
      return new Rows(memory, rows, dimension, stride);
    }

    float get(int row, int d) {
      return memory.get(ValueLayout.JAVA_FLOAT, (long) row * stride + 4L * d);
    }

    void set(int row, int d, float value) {
      memory.set(ValueLayout.JAVA_FLOAT, (long) row * stride + 4L * d, value);
    }

    interface Source {
      float next();
    }

    Rows fill(Source source) {
      for (int row = 0; row < rows; row++) {
        for (int d = 0; d < dimension; d++) {
          set(row, d, source.next());
        }
      }
      return this;
    }
  }

  private static void launch(String kernel, NativeStruct parameters) {
    SimtKernels.load().find(kernel).run(2, 256, 0, parameters.memory());
  }

  private static NativeStruct range(Arena arena, Rows... all) {
    NativeStruct result = new NativeStruct("RangeResult", arena);
    for (Rows rows : all) {
      launch("convert_range", range(arena, rows, result));
    }
    return result;
  }

  private static NativeStruct range(Arena arena, Rows rows, NativeStruct result) {
    return new NativeStruct("Range", arena)
        .set("source", rows.memory())
        .set("result", result.memory())
        .set("rows", rows.rows())
        .set("dimension", rows.dimension())
        .set("source_stride", rows.stride());
  }

  /** The value of a key, as uploads read it from a RangeResult. */
  private static float value(int key) {
    return NumericUtils.sortableIntToFloat(key ^ 0x80000000);
  }

  public void testRange() {
    for (int round = 0; round < 50; round++) {
      try (Arena arena = Arena.ofConfined()) {
        Rows first = Rows.some(arena).fill(() -> (float) random().nextGaussian());
        Rows second = Rows.some(arena).fill(() -> (float) random().nextGaussian() * 2);
        float highest = Float.NEGATIVE_INFINITY;
        float lowest = Float.POSITIVE_INFINITY;
        for (Rows rows : new Rows[] {first, second}) {
          for (int row = 0; row < rows.rows(); row++) {
            for (int d = 0; d < rows.dimension(); d++) {
              highest = Math.max(highest, rows.get(row, d));
              lowest = Math.min(lowest, rows.get(row, d));
            }
          }
        }
        NativeStruct result = range(arena, first, second);
        assertEquals(highest, value(result.get("highest")), 0);
        assertEquals(lowest, value(~result.get("lowest")), 0);
        assertEquals(FRACTIONS, result.get("flags"));
      }
    }
  }

  public void testRangeTellsBytesFromOtherNumbers() {
    try (Arena arena = Arena.ofConfined()) {
      Rows rows = Rows.some(arena).fill(() -> random().nextInt(256));
      assertEquals(0, range(arena, rows).get("flags"));
      float[] others = {-1, 256, 0.5f, 254.99998f, -1e-30f, 1e30f};
      for (float other : others) {
        float before = rows.get(0, 0);
        rows.set(0, 0, other);
        assertEquals(Float.toString(other), FRACTIONS, range(arena, rows).get("flags"));
        rows.set(0, 0, before);
      }
      rows.set(0, 0, -0f);
      assertEquals(0, range(arena, rows).get("flags"));
    }
  }

  public void testNumbersThatAreNoneDoNotCount() {
    try (Arena arena = Arena.ofConfined()) {
      float[] bad = {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY};
      Rows rows = new Rows(arena.allocate(16, 16), 1, 4, 16);
      for (float value : bad) {
        rows.set(0, 0, 3);
        rows.set(0, 1, value);
        rows.set(0, 2, -5);
        rows.set(0, 3, 0);
        NativeStruct result = range(arena, rows);
        assertEquals(3f, value(result.get("highest")), 0);
        assertEquals(-5f, value(~result.get("lowest")), 0);
        assertEquals(FRACTIONS | NOT_FINITE, result.get("flags"));
      }
    }
  }

  private static NativeStruct convert(Arena arena, Rows rows, MemorySegment target, int stride) {
    return new NativeStruct("Convert", arena)
        .set("source", rows.memory())
        .set("target", target)
        .set("rows", rows.rows())
        .set("dimension", rows.dimension())
        .set("source_stride", rows.stride())
        .set("target_stride", stride);
  }

  /** Copies in bytes of some rows: their bytes, steps and squared lengths, and what flags tell. */
  private record Copies(byte[][] bytes, float[] steps, float[] norms, int flags) {

    static Copies of(Arena arena, Rows rows, float[] center, boolean unit) {
      int stride = (rows.dimension() + 15) / 16 * 16;
      MemorySegment target = arena.allocate((long) stride * rows.rows(), 16);
      target.fill((byte) 7);
      MemorySegment facts = arena.allocate(8L * rows.rows(), 16);
      MemorySegment ownCenter = arena.allocate(4L * center.length, 16);
      MemorySegment.copy(center, 0, ownCenter, ValueLayout.JAVA_FLOAT, 0, center.length);
      NativeStruct result = new NativeStruct("RangeResult", arena);
      launch(
          "convert_byte",
          convert(arena, rows, target, stride)
              .set("unit", unit ? 1 : 0)
              .set("center", ownCenter)
              .set("facts", facts)
              .set("result", result.memory()));
      byte[][] bytes = new byte[rows.rows()][stride];
      float[] steps = new float[rows.rows()];
      float[] norms = new float[rows.rows()];
      for (int row = 0; row < rows.rows(); row++) {
        MemorySegment.copy(
            target, ValueLayout.JAVA_BYTE, (long) row * stride, bytes[row], 0, stride);
        steps[row] = facts.getAtIndex(ValueLayout.JAVA_FLOAT, 2L * row);
        norms[row] = facts.getAtIndex(ValueLayout.JAVA_FLOAT, 2L * row + 1);
      }
      return new Copies(bytes, steps, norms, result.get("flags"));
    }
  }

  public void testBytesOfRowsWithoutLengthAndOfNoNumbers() {
    try (Arena arena = Arena.ofConfined()) {
      Rows rows = new Rows(arena.allocate(48, 16), 3, 4, 16).fill(() -> 0);
      float[] center = new float[4];
      for (boolean unit : new boolean[] {false, true}) {
        Copies copies = Copies.of(arena, rows, center, unit);
        assertEquals(0, copies.flags());
        assertArrayEquals(new byte[16], copies.bytes()[1]);
        assertEquals(0, copies.norms()[1], 0);
        for (float bad : new float[] {Float.NaN, Float.POSITIVE_INFINITY}) {
          rows.set(2, 1, bad);
          assertEquals(NOT_FINITE | ROUNDED, Copies.of(arena, rows, center, unit).flags());
          rows.set(2, 1, 0);
        }
      }
      rows.set(0, 3, Float.MAX_VALUE);
      center[3] = -Float.MAX_VALUE;
      assertEquals(NOT_FINITE | ROUNDED, Copies.of(arena, rows, center, false).flags());
    }
  }

  private static MemorySegment random(Arena arena, int bytes) {
    byte[] content = new byte[bytes];
    random().nextBytes(content);
    MemorySegment memory = arena.allocate(bytes, 16);
    memory.copyFrom(MemorySegment.ofArray(content));
    return memory;
  }
}
