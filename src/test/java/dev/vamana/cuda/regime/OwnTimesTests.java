package dev.vamana.cuda.regime;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.NamedThreadFactory;

public class OwnTimesTests extends LuceneTestCase {

  private static final long WINDOW = 80_000_000;

  public void testAnAnswerCountsInEveryWindowInWhichItIsUnderWay() {
    OwnTimes times = new OwnTimes();
    long start = random().nextLong();
    Window before = times.until(start);
    int place = times.begin(start + WINDOW / 4);
    Window first = times.until(start + WINDOW);
    assertEquals(0.75, first.minus(before).inFlight(), 1e-9);
    assertEquals(0, first.count());
    Window second = times.until(start + 2 * WINDOW);
    assertEquals(1, second.minus(first).inFlight(), 1e-9);
    times.end(place, 500, 200, start + WINDOW / 4, start + 2 * WINDOW + WINDOW / 2);
    Window third = times.until(start + 3 * WINDOW).minus(second);
    assertEquals(0.5, third.inFlight(), 1e-9);
    assertEquals(new Window(WINDOW, 1, 500, 200, WINDOW / 2), third);
    assertEquals(
        0, times.until(start + 4 * WINDOW).minus(times.until(start + 3 * WINDOW)).latency());
  }

  /** Threads with ids far apart may share a place: an answer hides another that is under way. */
  public void testThreadsOfOnePlace() {
    OwnTimes times = new OwnTimes();
    Window start = times.until(0);
    int place = times.begin(0);
    Window first = times.until(WINDOW);
    assertEquals(place, times.begin(WINDOW - 5));
    Window second = times.until(WINDOW + 10);
    assertEquals(WINDOW, first.minus(start).latency());
    assertEquals("hidden", 0, second.minus(first).latency());
    times.end(place, 1, 0, 0, 2 * WINDOW);
    times.end(place, 1, 0, WINDOW - 5, 2 * WINDOW);
    assertEquals(3 * WINDOW + 5, times.until(2 * WINDOW).latency());
  }

  /** One thread after the other gets a processor, for a few answers; the others are stopped. */
  public void testThreadsThatTakeTurns() throws Exception {
    int callers = TestUtil.nextInt(random(), 2, 40);
    long slice = TestUtil.nextLong(random(), 1_000_000, 5_000_000);
    long answer = slice / TestUtil.nextInt(random(), 3, 300);
    Meter meter = new Meter();
    List<ExecutorService> threads = new ArrayList<>();
    try {
      int[] places = new int[callers];
      long[] since = new long[callers];
      for (int i = 0; i < callers; i++) {
        threads.add(Executors.newSingleThreadExecutor(new NamedThreadFactory("caller")));
        places[i] = threads.get(i).submit(() -> meter.own().begin(0)).get();
      }
      long now = 0;
      Window before = meter.until(now);
      for (int window = 0; window < 20; window++) {
        long end = now + WINDOW;
        while (now < end) {
          int caller = (int) (now / slice % callers);
          long stop = Math.min(end, now - now % slice + slice);
          while (now < stop) {
            now = Math.min(stop, now + answer);
            meter.own().end(places[caller], answer, 0, since[caller], now);
            since[caller] = now;
            long begun = now;
            threads.get(caller).submit(() -> meter.own().begin(begun)).get();
          }
        }
        Window sums = meter.until(now);
        assertEquals(callers, sums.minus(before).inFlight(), 1e-6);
        before = sums;
      }
    } finally {
      threads.forEach(ExecutorService::shutdown);
    }
  }
}
