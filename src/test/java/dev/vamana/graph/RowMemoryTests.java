package dev.vamana.graph;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import org.apache.lucene.tests.util.LuceneTestCase;

public class RowMemoryTests extends LuceneTestCase {

  private static final RowMemory.Allocator FULL =
      (arena, bytes) -> {
        throw new OutOfMemoryError("Cannot reserve " + bytes + " bytes");
      };

  private static void check(RowMemory memory, long bytes) {
    MemorySegment segment = memory.segment();
    assertEquals(bytes, segment.byteSize());
    long ints = bytes / Integer.BYTES;
    for (long i = 0; i < ints; i++) {
      assertEquals(0, segment.getAtIndex(ValueLayout.JAVA_INT, i));
      segment.setAtIndex(ValueLayout.JAVA_INT, i, (int) i);
    }
    for (long i = 0; i < ints; i++) {
      assertEquals((int) i, segment.getAtIndex(ValueLayout.JAVA_INT, i));
    }
  }

  public void testNative() throws IOException {
    long bytes = 4L * random().nextInt(100_000);
    try (RowMemory memory = new RowMemory(bytes)) {
      check(memory, bytes);
    }
  }

  /** Rows that native memory has no room for lie in a file. */
  public void testMapped() throws IOException {
    long bytes = 4L * (1 + random().nextInt(1_000_000));
    try (RowMemory memory = new RowMemory(bytes, FULL, null)) {
      check(memory, bytes);
      assertTrue(memory.segment().isMapped());
    }
  }

  public void testNoRoomAnywhere() {
    Path nowhere = createTempDir().resolve("missing");
    IOException e = expectThrows(IOException.class, () -> new RowMemory(4242, FULL, nowhere));
    assertTrue(e.getMessage(), e.getMessage().contains("4242 bytes"));
    assertTrue(e.getMessage(), e.getMessage().contains("MaxDirectMemorySize"));
  }
}
