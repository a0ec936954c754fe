package dev.vamana.cuda.batch;

import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests that blocks never overlap and that freed blocks can be allocated again. */
public class BuddyAllocatorTests extends LuceneTestCase {

  public void testRandomUse() {
    int unit = 1 << random().nextInt(10);
    int units = 1 + random().nextInt(300);
    BuddyAllocator allocator = new BuddyAllocator((long) units * unit + unit - 1, unit);
    for (int round = 0; round < 3; round++) {
      TreeMap<Long, Long> blocks = new TreeMap<>();
      for (int step = 0; step < 2000; step++) {
        if (random().nextInt(5) < 3) {
          long bytes = 1 + random().nextInt(unit * (1 + random().nextInt(units)));
          long offset = allocator.allocate(bytes);
          if (offset >= 0) {
            assertEquals(0, offset % unit);
            assertTrue(offset + bytes <= (long) units * unit);
            Map.Entry<Long, Long> before = blocks.floorEntry(offset);
            assertTrue(before == null || before.getKey() + before.getValue() <= offset);
            Map.Entry<Long, Long> after = blocks.ceilingEntry(offset);
            assertTrue(after == null || offset + bytes <= after.getKey());
            blocks.put(offset, bytes);
          }
        } else if (blocks.isEmpty() == false) {
          Long at = blocks.ceilingKey((long) random().nextInt(units) * unit);
          long offset = at == null ? blocks.firstKey() : at;
          blocks.remove(offset);
          allocator.free(offset);
        }
        assertTrue(allocator.used() <= (long) units * unit);
      }
      blocks.keySet().forEach(allocator::free);
      assertEquals(0, allocator.used());
      long largest = (long) Integer.highestOneBit(units) * unit;
      long all = allocator.allocate(largest);
      assertEquals("the largest block is whole again", 0, all % largest);
      allocator.free(all);
    }
  }

  public void testEdges() {
    BuddyAllocator allocator = new BuddyAllocator(4096, 1024);
    assertEquals(-1, allocator.allocate(4097));
    assertEquals(0, allocator.allocate(4096));
    assertEquals(-1, allocator.allocate(1));
    allocator.free(0);
    expectThrows(IllegalStateException.class, () -> allocator.free(0));
    assertEquals(0, allocator.allocate(0));
    assertEquals(1024, allocator.used());
    expectThrows(IllegalStateException.class, () -> allocator.free(1024));
  }
}
