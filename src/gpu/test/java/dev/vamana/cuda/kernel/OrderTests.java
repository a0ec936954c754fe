package dev.vamana.cuda.kernel;

import dev.vamana.graph.Worklist;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.NumericUtils;

/** Compares keys, sorting and merging of the kernels with {@link Worklist}. */
public class OrderTests extends KernelTestCase {

  private static final long EXPANDED = 1;

  private static float randomDistance() {
    float[] special = {
      0f,
      -0f,
      1f,
      -1f,
      Float.MIN_VALUE,
      -Float.MIN_VALUE,
      Float.MAX_VALUE,
      -Float.MAX_VALUE,
      Float.POSITIVE_INFINITY,
      Float.NEGATIVE_INFINITY,
      Float.NaN
    };
    return switch (random().nextInt(3)) {
      case 0 -> special[random().nextInt(special.length)];
      case 1 -> random().nextInt(5) - 2;
      default -> Float.intBitsToFloat(random().nextInt());
    };
  }

  public void testKeysOrderAsWorklistEntries() {
    for (int i = 0; i < 20_000; i++) {
      float a = randomDistance();
      float b = random().nextBoolean() ? a : randomDistance();
      int ordinalA = random().nextInt(Integer.MAX_VALUE);
      int ordinalB = random().nextBoolean() ? ordinalA : random().nextInt(Integer.MAX_VALUE);
      long keyA = library.vamana_make_key(a, ordinalA);
      long keyB = library.vamana_make_key(b, ordinalB);
      int expected = Integer.compare(sortable(a), sortable(b));
      if (expected == 0) {
        expected = Integer.compare(ordinalA, ordinalB);
      }
      assertEquals(a + " " + b, expected, Long.signum(Long.compareUnsigned(keyA, keyB)));
      assertEquals(ordinalA, library.vamana_key_ordinal(keyA));
      assertEquals(ordinalA, library.vamana_key_ordinal(keyA | EXPANDED));
      assertEquals(0, Float.compare(a, library.vamana_key_distance(keyA)));
      assertEquals(0, keyA & EXPANDED);
    }
  }

  private static int sortable(float value) {
    return NumericUtils.floatToSortableInt(value);
  }

  public void testSort() {
    SimtSteps steps = SimtSteps.load();
    for (int round = 0; round < 60; round++) {
      int count = round < 30 ? random().nextInt(140) : random().nextInt(3000);
      long[] keys = randomKeys(count);
      long[] expected = sorted(keys);
      steps.sort(keys);
      assertArrayEquals(expected, keys);
    }
  }

  private static long[] randomKeys(int count) {
    int ordinals = 1 + random().nextInt(1 + 2 * count);
    long[] keys = new long[count];
    for (int i = 0; i < count; i++) {
      keys[i] = library.vamana_make_key(randomDistance(), random().nextInt(ordinals));
    }
    return keys;
  }

  private static long[] sorted(long[] keys) {
    return Arrays.stream(keys)
        .boxed()
        .sorted(Long::compareUnsigned)
        .mapToLong(key -> key)
        .toArray();
  }

  /** Lists of many lengths, many equal distances, nodes that come again, expanded entries. */
  public void testMergeOfABlockKeepsWhatTheWorklistKeeps() {
    SimtSteps steps = SimtSteps.load();
    int warps = random().nextBoolean() ? 8 : 16;
    assertMergesAsTheWorklist(
        (list, size, capacity, keys) -> steps.merge(list, size, capacity, keys, warps));
  }

  /** Rows of parents that are expanded at once have many nodes in common. */
  public void testWarpsThatAddANodeAtOnceFindItNewOnce() {
    SimtSteps steps = SimtSteps.load();
    for (int round = 0; round < 20; round++) {
      int slots = 4096;
      int warps = TestUtil.nextInt(random(), 2, 16);
      int from = random().nextInt(1 << 20);
      int[] ordinals = new int[warps * SimtSteps.ROW];
      for (int row = 0; row < ordinals.length; row += SimtSteps.ROW) {
        // a row has each node once
        int[] nodes =
            random().ints(from, from + 2 * SimtSteps.ROW).distinct().limit(SimtSteps.ROW).toArray();
        System.arraycopy(nodes, 0, ordinals, row, SimtSteps.ROW);
      }
      Map<Integer, Set<Integer>> buckets = new HashMap<>();
      Map<Integer, Integer> times = new HashMap<>();
      boolean[] fresh = steps.visit(new int[slots], ordinals);
      for (int i = 0; i < ordinals.length; i++) {
        buckets
            .computeIfAbsent(
                library.vamana_visited_bucket(ordinals[i], slots), unused -> new HashSet<>())
            .add(ordinals[i]);
        times.merge(ordinals[i], fresh[i] ? 1 : 0, Integer::sum);
      }
      times.forEach(
          (ordinal, found) -> {
            boolean alone = buckets.get(library.vamana_visited_bucket(ordinal, slots)).size() == 1;
            assertTrue(ordinal + " was new " + found + " times", alone ? found == 1 : found > 0);
          });
    }
  }

  private interface Merge {
    int into(long[] list, int size, int capacity, long[] keys);
  }

  private static void assertMergesAsTheWorklist(Merge merge) {
    for (int round = 0; round < 30; round++) {
      int capacity = 1 + random().nextInt(random().nextBoolean() ? 64 : 300);
      int nodes = 1 + random().nextInt(600);
      float[] distances = new float[nodes];
      int values = 1 + random().nextInt(nodes);
      for (int i = 0; i < nodes; i++) {
        distances[i] = random().nextInt(values) - values / 2f;
      }
      Worklist expected = new Worklist(capacity);
      boolean[] seen = new boolean[nodes];
      long[] list = new long[capacity];
      int size = 0;
      for (int step = 0; step < 10; step++) {
        long[] keys = new long[1 + random().nextInt(300)];
        List<Integer> fresh = new ArrayList<>();
        for (int i = 0; i < keys.length; i++) {
          int node = random().nextInt(nodes);
          keys[i] = library.vamana_make_key(distances[node], node);
          if (seen[node] == false) {
            seen[node] = true;
            fresh.add(node);
          }
        }
        fresh.forEach(node -> expected.insert(node, distances[node]));
        size = merge.into(list, size, capacity, keys);
        assertSame(expected, list, size);
        int parent = expected.expandNext();
        expandNext(list, size, parent);
      }
    }
  }

  private static void expandNext(long[] list, int size, int expected) {
    for (int i = 0; i < size; i++) {
      if ((list[i] & EXPANDED) == 0) {
        assertEquals(expected, library.vamana_key_ordinal(list[i]));
        list[i] |= EXPANDED;
        return;
      }
    }
    assertEquals(-1, expected);
  }

  private static void assertSame(Worklist expected, long[] list, int size) {
    assertEquals(expected.size(), size);
    for (int rank = 0; rank < size; rank++) {
      assertEquals(expected.ordinal(rank), library.vamana_key_ordinal(list[rank]));
      assertEquals(expected.distance(rank), library.vamana_key_distance(list[rank]), 0);
    }
  }

  public void testBucketsAreWithinTheTableAndUsedEqually() {
    int slots = 1 << TestUtil.nextInt(random(), 6, 14);
    int[] used = new int[slots];
    int first = random().nextInt(1 << 28);
    for (int i = 0; i < slots; i++) {
      used[library.vamana_visited_bucket(first + i, slots)]++;
    }
    for (int i = 0; i < slots; i++) {
      assertTrue("bucket at " + i + " gets " + used[i], used[i] <= (i % 4 == 0 ? 16 : 0));
    }
  }

  /** A set may forget what was in it, but never says of a node that is new that it was there. */
  public void testVisitedSetForgetsButInventsNothing() {
    SimtSteps steps = SimtSteps.load();
    for (int round = 0; round < 20; round++) {
      int[] set = new int[4 << random().nextInt(12)];
      int nodes = SimtSteps.ROW + random().nextInt(5000);
      Set<Integer> seen = new HashSet<>();
      Map<Integer, Set<Integer>> buckets = new HashMap<>();
      for (int row = 0; row < 30; row++) {
        // a row has each node once
        int[] ordinals = random().ints(0, nodes).distinct().limit(SimtSteps.ROW).toArray();
        boolean[] fresh = steps.visit(set, ordinals);
        for (int ordinal : ordinals) {
          int bucket = library.vamana_visited_bucket(ordinal, set.length);
          buckets.computeIfAbsent(bucket, unused -> new HashSet<>()).add(ordinal);
        }
        for (int i = 0; i < ordinals.length; i++) {
          int bucket = library.vamana_visited_bucket(ordinals[i], set.length);
          if (seen.add(ordinals[i])) {
            assertTrue("a new node is added", fresh[i]);
          } else if (buckets.get(bucket).size() <= 4) {
            assertFalse("forgotten though the bucket has room", fresh[i]);
          }
        }
      }
    }
  }
}
