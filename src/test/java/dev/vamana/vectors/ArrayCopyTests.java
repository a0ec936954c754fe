package dev.vamana.vectors;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

/** Tests copies between arrays and memory outside the heap. */
public class ArrayCopyTests extends LuceneTestCase {

  private static final int LENGTH = 40;
  private static final int SPARE = 24;

  private int from;
  private int count;
  private long at;

  @Override
  public void setUp() throws Exception {
    super.setUp();
    from = TestUtil.nextInt(random(), 0, LENGTH);
    count = TestUtil.nextInt(random(), 0, LENGTH - from);
    at = TestUtil.nextInt(random(), 0, SPARE / Long.BYTES) * (long) Long.BYTES;
  }

  private static MemorySegment memory(Arena arena) {
    return arena.allocate((long) LENGTH * Long.BYTES + SPARE, Long.BYTES).fill((byte) 0x55);
  }

  private void assertUntouched(MemorySegment memory, int bytes) {
    for (long i = 0; i < memory.byteSize(); i++) {
      if (i < at || i >= at + (long) count * bytes) {
        assertEquals(0x55, memory.get(ValueLayout.JAVA_BYTE, i));
      }
    }
  }

  public void testFloats() {
    float[] source = new float[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      source[i] = random().nextFloat();
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = memory(arena);
      ArrayCopy.toMemory(source, from, memory, at, count);
      for (int i = 0; i < count; i++) {
        assertEquals(source[from + i], memory.get(ValueLayout.JAVA_FLOAT, at + 4L * i), 0);
      }
      assertUntouched(memory, Float.BYTES);
      float[] back = new float[LENGTH];
      ArrayCopy.toArray(memory, at, back, from, count);
      for (int i = 0; i < LENGTH; i++) {
        assertEquals(i < from || i >= from + count ? 0 : source[i], back[i], 0);
      }
    }
  }

  public void testInts() {
    int[] source = random().ints(LENGTH).toArray();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = memory(arena);
      ArrayCopy.toMemory(source, from, memory, at, count);
      for (int i = 0; i < count; i++) {
        assertEquals(source[from + i], memory.get(ValueLayout.JAVA_INT, at + 4L * i));
      }
      assertUntouched(memory, Integer.BYTES);
      int[] back = new int[LENGTH];
      ArrayCopy.toArray(memory, at, back, from, count);
      for (int i = 0; i < LENGTH; i++) {
        assertEquals(i < from || i >= from + count ? 0 : source[i], back[i]);
      }
    }
  }

  public void testLongs() {
    long[] source = random().longs(LENGTH).toArray();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = memory(arena);
      ArrayCopy.toMemory(source, from, memory, at, count);
      for (int i = 0; i < count; i++) {
        assertEquals(source[from + i], memory.get(ValueLayout.JAVA_LONG, at + 8L * i));
      }
      assertUntouched(memory, Long.BYTES);
    }
  }

  public void testBytes() {
    byte[] source = new byte[LENGTH];
    random().nextBytes(source);
    at += random().nextInt(Long.BYTES);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = memory(arena);
      ArrayCopy.toMemory(source, from, memory, at, count);
      assertUntouched(memory, Byte.BYTES);
      byte[] back = new byte[LENGTH];
      ArrayCopy.toArray(memory, at, back, from, count);
      for (int i = 0; i < LENGTH; i++) {
        assertEquals(i < from || i >= from + count ? 0 : source[i], back[i]);
      }
    }
  }

  public void testNothingBeyondTheEnds() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment memory = memory(arena);
      float[] floats = new float[LENGTH];
      long end = memory.byteSize();
      for (Runnable copy :
          new Runnable[] {
            () -> ArrayCopy.toMemory(floats, 1, memory, 0, LENGTH),
            () -> ArrayCopy.toMemory(floats, -1, memory, 0, 1),
            () -> ArrayCopy.toMemory(floats, 0, memory, end - 4, 2),
            () -> ArrayCopy.toArray(memory, -4, floats, 0, 1),
            () -> ArrayCopy.toArray(memory, 0, floats, LENGTH, 1),
            () -> ArrayCopy.toArray(memory, 0, floats, 0, -1)
          }) {
        expectThrows(RuntimeException.class, copy::run);
      }
    }
  }
}
