package dev.vamana.graph;

import static org.junit.Assert.assertEquals;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import java.util.TreeSet;
import org.junit.Test;

/** Compares the worklist with a sorted set. */
public class WorklistTests extends RandomizedTest {

  private record Entry(int ordinal, float distance) {}

  private static final Comparator<Entry> ORDER =
      Comparator.comparingDouble((Entry entry) -> entry.distance())
          .thenComparingInt(Entry::ordinal);

  @Test
  public void keepsTheNearest() {
    for (int round = 0; round < 200; round++) {
      int capacity = randomIntBetween(1, 40);
      Worklist list = new Worklist(capacity);
      if (randomBoolean()) {
        list.insert(3, 1);
        list.expandNext();
        list.clear();
      }
      TreeSet<Entry> model = new TreeSet<>(ORDER);
      Set<Integer> expanded = new HashSet<>();
      Set<Integer> seen = new HashSet<>();
      for (int step = 0; step < 200; step++) {
        if (randomIntBetween(0, 3) > 0) {
          // few distances, so many ties; negative ones too, and ordinals to the largest
          float distance = randomIntBetween(-4, 4) / 2f;
          int ordinal = randomIntBetween(0, 100) + (randomBoolean() ? Integer.MAX_VALUE - 100 : 0);
          if (seen.add(ordinal)) {
            insert(list, model, new Entry(ordinal, distance), capacity);
          }
        } else {
          int nearest = randomBoolean() ? capacity : randomIntBetween(1, capacity);
          int next =
              model.stream()
                  .limit(nearest)
                  .map(Entry::ordinal)
                  .filter(ordinal -> expanded.contains(ordinal) == false)
                  .findFirst()
                  .orElse(-1);
          expanded.add(next);
          assertEquals(next, nearest == capacity ? list.expandNext() : list.expandNext(nearest));
        }
        assertSame(model, list);
      }
    }
  }

  private static void insert(Worklist list, TreeSet<Entry> model, Entry entry, int capacity) {
    model.add(entry);
    if (model.size() > capacity) {
      model.pollLast();
    }
    boolean kept = model.contains(entry);
    assertEquals(kept, list.insert(entry.ordinal(), entry.distance()));
  }

  private static void assertSame(TreeSet<Entry> model, Worklist list) {
    assertEquals(model.size(), list.size());
    int rank = 0;
    for (Entry entry : model) {
      assertEquals(entry.ordinal(), list.ordinal(rank));
      assertEquals(entry.distance(), list.distance(rank), 0);
      rank++;
    }
  }
}
