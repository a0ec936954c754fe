package dev.vamana.graph;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import org.apache.lucene.util.FixedBitSet;
import org.junit.Test;

public class InsertionOrderTests extends RandomizedTest {

  @Test
  public void isAPermutation() {
    for (int size = 1; size < 200; size++) {
      assertPermutation(size, randomLong());
    }
    for (int round = 0; round < 20; round++) {
      assertPermutation(randomIntBetween(1, 100_000), randomLong());
    }
  }

  private static void assertPermutation(int size, long seed) {
    InsertionOrder order = new InsertionOrder(size, seed);
    FixedBitSet seen = new FixedBitSet(size);
    for (int position = 0; position < size; position++) {
      int ordinal = order.ordinal(position);
      assertFalse(size + " twice " + ordinal, seen.getAndSet(ordinal));
    }
    assertEquals(size, seen.cardinality());
  }

  @Test
  public void largestSizeDoesNotOverflow() {
    int size = Integer.MAX_VALUE;
    InsertionOrder order = new InsertionOrder(size, randomLong());
    for (int position : new int[] {0, 1, size / 2, size - 2, size - 1}) {
      int ordinal = order.ordinal(position);
      assertTrue(ordinal >= 0 && ordinal < size);
    }
  }

  @Test
  public void everyPrefixIsSpread() {
    int size = 10_000;
    InsertionOrder order = new InsertionOrder(size, randomLong());
    int[] counts = new int[10];
    for (int position = 0; position < 100; position++) {
      counts[order.ordinal(position) * 10 / size]++;
    }
    for (int count : counts) {
      assertTrue("a tenth holds " + count + " of 100", count >= 7 && count <= 13);
    }
  }
}
