package dev.vamana.cuda.build;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.tests.util.LuceneTestCase;

public class RecentSearchesTests extends LuceneTestCase {

  public void testSearchesCountForATenthOfASecond() {
    AtomicLong searched = new AtomicLong(random().nextInt(10));
    AtomicLong clock = new AtomicLong(random().nextLong());
    RecentSearches searches = new RecentSearches(searched::get, clock::get);
    assertFalse(searches.any());
    searched.incrementAndGet();
    assertTrue(searches.any());
    clock.addAndGet(TimeUnit.MILLISECONDS.toNanos(100));
    assertTrue(searches.any());
    clock.incrementAndGet();
    assertFalse(searches.any());
    clock.addAndGet(TimeUnit.DAYS.toNanos(1));
    assertFalse(searches.any());
    searched.addAndGet(1 + random().nextInt(10));
    assertTrue(searches.any());
  }
}
