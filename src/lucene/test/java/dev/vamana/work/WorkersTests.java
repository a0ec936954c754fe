package dev.vamana.work;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.NamedThreadFactory;

public class WorkersTests extends LuceneTestCase {
  public void testRangesCoverEveryIndexOnce() throws IOException {
    int threads = random().nextInt(1, 5);
    ExecutorService executor =
        Executors.newFixedThreadPool(threads, new NamedThreadFactory("workers"));
    try {
      Workers workers = new Workers(executor, threads);
      for (int round = 0; round < 20; round++) {
        int from = random().nextInt(1000);
        int to = from + random().nextInt(500);
        AtomicIntegerArray seen = new AtomicIntegerArray(to + 1);
        workers.forEachRange(
            from,
            to,
            () ->
                (start, end) -> {
                  assertTrue(start + " to " + end, from <= start && start < end && end <= to);
                  for (int i = start; i < end; i++) {
                    seen.incrementAndGet(i);
                  }
                },
            AbortCheck.NEVER);
        for (int i = 0; i <= to; i++) {
          assertEquals(i >= from && i < to ? 1 : 0, seen.get(i));
        }
      }
    } finally {
      executor.shutdown();
    }
  }
}
