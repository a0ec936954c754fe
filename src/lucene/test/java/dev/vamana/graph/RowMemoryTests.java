package dev.vamana.graph;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.tests.util.LuceneTestCase;

public class RowMemoryTests extends LuceneTestCase {

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
    MemoryBudget budget = new MemoryBudget(bytes);
    try (RowMemory memory = new RowMemory(bytes, budget, AbortCheck.NEVER)) {
      check(memory, bytes);
      assertFalse(memory.segment().isMapped());
      assertEquals(bytes, budget.used());
    }
    assertEquals(0, budget.used());
    assertEquals(0, budget.files());
  }

  /** Rows that the budget has no room for lie in a file, until others have freed theirs. */
  public void testMapped() throws IOException {
    long bytes = 4L * (1 + random().nextInt(1_000_000));
    MemoryBudget budget = new MemoryBudget(2 * bytes - 1);
    try (RowMemory first = new RowMemory(bytes, budget, AbortCheck.NEVER)) {
      try (RowMemory second = new RowMemory(bytes, budget, AbortCheck.NEVER)) {
        check(second, bytes);
        assertTrue(second.segment().isMapped());
        assertEquals(bytes, budget.used());
        assertEquals(1, budget.files());
      }
      check(first, bytes);
      assertEquals(bytes, budget.used());
    }
    assertEquals(0, budget.used());
    try (RowMemory third = new RowMemory(bytes, budget, AbortCheck.NEVER)) {
      assertFalse(third.segment().isMapped());
    }
  }

  public void testNoRoomAnywhere() {
    Path nowhere = createTempDir().resolve("missing");
    MemoryBudget budget = new MemoryBudget(4241);
    IOException e =
        expectThrows(
            IOException.class, () -> new RowMemory(4242, budget, AbortCheck.NEVER, nowhere));
    assertTrue(e.getMessage(), e.getMessage().contains("0 of 4241 bytes"));
    assertTrue(e.getMessage(), e.getMessage().contains("4242 more"));
    assertTrue(e.getMessage(), e.getMessage().contains("java.io.tmpdir"));
    assertEquals(0, budget.files());
  }

  /** An aborted merge does not write the rest of a large file, and leaves nothing. */
  public void testAbort() throws IOException {
    Path folder = createTempDir();
    MemoryBudget budget = new MemoryBudget(0);
    AtomicInteger checks = new AtomicInteger();
    IOException aborted = new IOException("aborted");
    AbortCheck abort =
        () -> {
          if (checks.incrementAndGet() == 3) {
            throw aborted;
          }
        };
    IOException e =
        expectThrows(IOException.class, () -> new RowMemory(1L << 40, budget, abort, folder));
    assertSame(aborted, e);
    try (DirectoryStream<Path> left = Files.newDirectoryStream(folder, "vamana-rows*")) {
      assertFalse(left.iterator().hasNext());
    }
    AbortCheck atOnce =
        () -> {
          throw aborted;
        };
    MemoryBudget ample = new MemoryBudget(Long.MAX_VALUE);
    assertSame(
        aborted, expectThrows(IOException.class, () -> new RowMemory(8, ample, atOnce, folder)));
    assertEquals(0, ample.used());
  }
}
