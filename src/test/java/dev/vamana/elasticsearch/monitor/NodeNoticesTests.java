package dev.vamana.elasticsearch.monitor;

import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.tests.util.LuceneTestCase;

public class NodeNoticesTests extends LuceneTestCase {

  public void testTheFirstOfAKindAndSubjectIsKeptAndOthersAreCounted() {
    AtomicLong clock = new AtomicLong(1000);
    NodeNotices notices = new NodeNotices(clock::getAndIncrement);
    assertTrue(notices.add(NoticeKind.STOCK_FIELD, "a/v", "flat"));
    assertFalse(notices.add(NoticeKind.STOCK_FIELD, "a/v", "other words"));
    assertTrue(notices.add(NoticeKind.STOCK_FIELD, "b/v", "bit"));
    assertTrue(notices.add(NoticeKind.STOCK_INDEX, "a/v", "codec"));
    assertEquals(
        List.of(
            new Notice("stock_field", "a/v", "flat", 2, 1000),
            new Notice("stock_field", "b/v", "bit", 1, 1001),
            new Notice("stock_index", "a/v", "codec", 1, 1002)),
        notices.snapshot().notices());
    assertEquals(0, notices.snapshot().dropped());
  }

  public void testTheListIsBounded() {
    NodeNotices notices = new NodeNotices(() -> 5);
    int more = 1 + random().nextInt(20);
    for (int i = 0; i < NodeNotices.MAX_NOTICES + more; i++) {
      // what finds no room is logged all the same
      assertTrue(notices.add(NoticeKind.STOCK_FIELD, "f" + i, "m"));
    }
    assertFalse(notices.add(NoticeKind.STOCK_FIELD, "f0", "m"));
    NodeNotices.Snapshot snapshot = notices.snapshot();
    assertEquals(NodeNotices.MAX_NOTICES, snapshot.notices().size());
    assertEquals(2, snapshot.notices().get(0).count());
    assertEquals(more, snapshot.dropped());
  }

  public void testNothingIsLostBetweenThreads() throws InterruptedException {
    NodeNotices notices = new NodeNotices(() -> 5);
    int rounds = 2000;
    CountDownLatch start = new CountDownLatch(1);
    AtomicLong toLog = new AtomicLong();
    Thread[] threads = new Thread[4];
    for (int t = 0; t < threads.length; t++) {
      threads[t] =
          new Thread(
              () -> {
                try {
                  start.await();
                } catch (InterruptedException e) {
                  throw new AssertionError(e);
                }
                for (int i = 0; i < rounds; i++) {
                  if (notices.add(NoticeKind.GPU_FALLBACK, "r" + i % 150, "m")) {
                    toLog.incrementAndGet();
                  }
                }
              });
      threads[t].start();
    }
    start.countDown();
    for (Thread thread : threads) {
      thread.join();
    }
    NodeNotices.Snapshot snapshot = notices.snapshot();
    assertEquals(NodeNotices.MAX_NOTICES + snapshot.dropped(), toLog.get());
    long counted = snapshot.notices().stream().mapToLong(Notice::count).sum();
    assertEquals((long) rounds * threads.length, counted + snapshot.dropped());
  }
}
