package dev.vamana.cuda.kernel;

import dev.vamana.work.Threads;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.util.NumericUtils;

/** Tests the conversion and probe kernels. */
public class ConvertTests extends KernelTestCase {

  private static final int FRACTIONS = 1;
  private static final int NOT_FINITE = 2;

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
    assertEquals(
        library.vamana_host_error(),
        0,
        library.vamana_host_launch(kernel, HostLibrary.pointer(parameters.memory())));
  }

  private static NativeStruct range(Arena arena, Rows... all) {
    NativeStruct result = new NativeStruct(library, "RangeResult", arena);
    for (Rows rows : all) {
      launch("convert_range", range(arena, rows, result));
    }
    return result;
  }

  private static NativeStruct range(Arena arena, Rows rows, NativeStruct result) {
    return new NativeStruct(library, "Range", arena)
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

  public void testLaunchesAtOnceJoinOneResult() {
    for (int round = 0; round < 20; round++) {
      try (Arena arena = Arena.ofShared()) {
        NativeStruct result = new NativeStruct(library, "RangeResult", arena);
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
          int value = t - 1;
          int count = 200_000;
          Rows rows = new Rows(arena.allocate(4L * count, 16), count, 1, 4).fill(() -> value);
          NativeStruct parameters = range(arena, rows, result);
          threads.add(new Thread(() -> launch("convert_range", parameters)));
        }
        threads.forEach(Thread::start);
        Threads.join(threads);
        assertEquals(2, value(result.get("highest")), 0);
        assertEquals(-1, value(~result.get("lowest")), 0);
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
    return new NativeStruct(library, "Convert", arena)
        .set("source", rows.memory())
        .set("target", target)
        .set("rows", rows.rows())
        .set("dimension", rows.dimension())
        .set("source_stride", rows.stride())
        .set("target_stride", stride);
  }

  public void testFloat16() {
    for (int round = 0; round < 50; round++) {
      try (Arena arena = Arena.ofConfined()) {
        Rows rows = Rows.some(arena).fill(() -> (float) random().nextGaussian() * 100);
        int stride = (rows.dimension() * 2 + 15) / 16 * 16;
        MemorySegment target = arena.allocate((long) stride * rows.rows(), 16);
        target.fill((byte) 7);
        launch("convert_float16", convert(arena, rows, target, stride));
        for (int row = 0; row < rows.rows(); row++) {
          for (int d = 0; d < stride / 2; d++) {
            short expected =
                d < rows.dimension() ? Float.floatToFloat16(rows.get(row, d)) : (short) 0;
            assertEquals(
                expected, target.get(ValueLayout.JAVA_SHORT, (long) row * stride + 2L * d));
          }
        }
      }
    }
  }

  public void testBytes() {
    for (int round = 0; round < 50; round++) {
      try (Arena arena = Arena.ofConfined()) {
        Rows rows = Rows.some(arena).fill(() -> (float) random().nextGaussian());
        boolean integers = random().nextBoolean();
        if (integers) {
          rows.fill(() -> random().nextInt(256));
        }
        float scale = integers ? 1 : 4f / 255;
        float offset = integers ? 0 : -2;
        int stride = (rows.dimension() + 15) / 16 * 16;
        MemorySegment target = arena.allocate((long) stride * rows.rows(), 16);
        target.fill((byte) 7);
        launch(
            "convert_byte",
            convert(arena, rows, target, stride).set("scale", scale).set("offset", offset));
        for (int row = 0; row < rows.rows(); row++) {
          for (int d = 0; d < stride; d++) {
            int actual = target.get(ValueLayout.JAVA_BYTE, (long) row * stride + d) & 0xFF;
            if (d >= rows.dimension()) {
              assertEquals(0, actual);
              continue;
            }
            float component = rows.get(row, d);
            float clamped = Math.max(offset, Math.min(component, offset + 255 * scale));
            float error = integers ? 0 : scale * 0.5001f;
            assertEquals(clamped, Math.fma(scale, actual, offset), error);
          }
        }
      }
    }
  }

  private static NativeStruct probe(
      Arena arena, MemorySegment source, MemorySegment target, int rows) {
    return new NativeStruct(library, "Probe", arena)
        .set("source", source)
        .set("target", target)
        .set("rows", rows)
        .set("row_bytes", source.byteSize() / rows)
        .set("chains", 1)
        .set("hops", 1);
  }

  public void testCopy() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = random(arena, 48 * 5);
      MemorySegment target = arena.allocate(source.byteSize(), 16);
      launch("probe_copy", probe(arena, source, target, 5));
      assertEquals(-1, source.mismatch(target));
    }
  }

  public void testReadsGoToTheirRows() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment source = random(arena, 256);
      MemorySegment target = arena.allocate(4, 4);
      int folded = 0;
      for (int word = 0; word < 64; word++) {
        folded ^= source.getAtIndex(ValueLayout.JAVA_INT, word);
      }
      launch("probe_gather", probe(arena, source, target, 1).set("chains", 5));
      assertEquals(folded, target.get(ValueLayout.JAVA_INT, 0));
      launch("probe_gather", probe(arena, source, target, 1).set("chains", 3));
      assertEquals(0, target.get(ValueLayout.JAVA_INT, 0));
      launch("probe_chase", probe(arena, source, target, 1).set("chains", 3).set("hops", 7));
      assertEquals(folded, target.get(ValueLayout.JAVA_INT, 0));
    }
  }

  private static MemorySegment random(Arena arena, int bytes) {
    byte[] content = new byte[bytes];
    random().nextBytes(content);
    MemorySegment memory = arena.allocate(bytes, 16);
    memory.copyFrom(MemorySegment.ofArray(content));
    return memory;
  }

  public void testTrap() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = arena.allocate(16, 16);
      HostKernels kernels = HostKernels.load();
      NativeStruct parameters = probe(arena, memory, memory, 1);
      IllegalStateException trapped =
          assertThrows(
              IllegalStateException.class, () -> kernels.launch("probe_trap", parameters.memory()));
      assertEquals("probe_trap: trapped", trapped.getMessage());
      kernels.launch("probe_trap", parameters.set("hops", 0).memory());
    }
  }
}
