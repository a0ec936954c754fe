package dev.vamana.graph;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.Test;

/** Compares both forms of the set with Java's set. */
public class VisitedSetTests extends RandomizedTest {

  @Test
  public void addsEachNodeOnce() {
    int[] nodes = {1, 64, 1 << 20, (1 << 20) + 1, Integer.MAX_VALUE};
    for (int size : nodes) {
      VisitedSet set = new VisitedSet(size, randomIntBetween(0, 300));
      for (int round = 0; round < 4; round++) {
        Set<Integer> model = new HashSet<>();
        // grows far beyond what was expected
        int adds = randomIntBetween(0, 5_000);
        // neighbouring ordinals as well as far ones
        int range = randomBoolean() ? size : Math.min(size, 3_000);
        for (int i = 0; i < adds; i++) {
          int node = randomIntBetween(0, range - 1);
          assertEquals(model.contains(node), set.contains(node));
          assertEquals(model.add(node), set.add(node));
        }
        for (int node : model) {
          assertEquals(false, set.add(node));
        }
        set.clear();
      }
    }
  }

  @Test
  public void addsSeveralNodes() {
    for (int size : new int[] {1, 64, 200, 1 << 20, 1 << 21, Integer.MAX_VALUE}) {
      VisitedSet set = new VisitedSet(size, 16);
      Set<Integer> model = new HashSet<>();
      for (int round = 0; round < 30; round++) {
        int[] nodes = new int[randomIntBetween(0, 80)];
        Arrays.setAll(nodes, i -> randomIntBetween(0, Math.min(size, 2_000) - 1));
        int[] expected = Arrays.stream(nodes).filter(model::add).toArray();
        // may be the same array
        boolean same = randomBoolean();
        int at = same ? 0 : randomIntBetween(0, 3);
        int[] fresh = same ? nodes : new int[at + nodes.length];
        int added = set.addAll(nodes, nodes.length, fresh, at);
        assertArrayEquals(expected, Arrays.copyOfRange(fresh, at, at + added));
      }
      for (int node : model) {
        assertEquals(true, set.contains(node));
      }
    }
  }
}
