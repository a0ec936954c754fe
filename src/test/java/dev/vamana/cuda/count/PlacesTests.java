package dev.vamana.cuda.count;

import java.util.HashSet;
import java.util.Set;
import org.apache.lucene.tests.util.LuceneTestCase;

public class PlacesTests extends LuceneTestCase {

  private static final int LINE = 64;

  /** Wherever the array begins in memory, no line of the cache has numbers of two places. */
  public void testPlacesShareNoLine() {
    int count = Places.make().length / Places.APART;
    assertTrue("more threads than a node searches with: " + count, count >= 256);
    for (int begin = 0; begin < LINE; begin += Long.BYTES) {
      Set<Long> lines = new HashSet<>();
      for (int place = 0; place < count; place++) {
        long first = begin + (long) place * Places.APART * Long.BYTES;
        long last = first + (Places.NUMBERS - 1) * Long.BYTES;
        Set<Long> own = new HashSet<>(Set.of(first / LINE));
        own.add(last / LINE);
        for (long line : own) {
          assertTrue("place " + place + ", array from " + begin, lines.add(line));
        }
      }
    }
  }

  /** Threads that are made one after the other have places of their own. */
  public void testThreadsHaveTheirOwn() throws InterruptedException {
    int[] places = new int[32];
    Thread[] threads = new Thread[places.length];
    for (int i = 0; i < threads.length; i++) {
      int number = i;
      threads[i] = new Thread(() -> places[number] = Places.own(), "places-" + i);
    }
    Set<Integer> distinct = new HashSet<>();
    for (int i = 0; i < threads.length; i++) {
      threads[i].start();
      threads[i].join();
      distinct.add(places[i]);
      assertEquals(0, places[i] % Places.APART);
    }
    assertEquals(places.length, distinct.size());
  }
}
