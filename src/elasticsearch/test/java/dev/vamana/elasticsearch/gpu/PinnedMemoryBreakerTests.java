package dev.vamana.elasticsearch.gpu;

import dev.vamana.elasticsearch.ServerClasses;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.indices.breaker.CircuitBreakerMetrics;
import org.elasticsearch.indices.breaker.HierarchyCircuitBreakerService;
import org.junit.BeforeClass;

/** Counts in the server's own breaker. */
public class PinnedMemoryBreakerTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private final PinnedMemoryBreaker account = new PinnedMemoryBreaker();
  private CircuitBreaker breaker;
  private ClusterSettings cluster;

  private void start(Settings settings) {
    Set<Setting<?>> known = new java.util.HashSet<>(ClusterSettings.BUILT_IN_CLUSTER_SETTINGS);
    known.addAll(PinnedMemoryBreaker.SETTINGS);
    cluster = new ClusterSettings(settings, known);
    breaker =
        new HierarchyCircuitBreakerService(
                CircuitBreakerMetrics.NOOP,
                settings,
                List.of(PinnedMemoryBreaker.settings(settings)),
                cluster)
            .getBreaker(PinnedMemoryBreaker.NAME);
    account.set(breaker);
    account.follow(cluster);
  }

  public void testCountsAndRefuses() {
    start(Settings.builder().put("vamana.breaker.limit", "100b").build());
    assertTrue(account.reserve(60));
    assertFalse(account.reserve(41));
    assertEquals(60, breaker.getUsed());
    assertEquals(1, breaker.getTrippedCount());
    assertTrue(account.reserve(40));
    account.release(100);
    assertEquals(0, breaker.getUsed());
    change("vamana.breaker.overhead", "2");
    assertTrue(account.reserve(50));
    assertFalse(account.reserve(1));
    change("vamana.breaker.limit", "0b");
    account.release(50);
    assertFalse(account.reserve(1));
    assertTrue("nothing is wanted", account.reserve(0));
    change("vamana.breaker.limit", "-1");
    assertTrue(account.reserve(1L << 40));
    account.release(1L << 40);
    assertEquals(0, breaker.getUsed());
    assertEquals(3, breaker.getTrippedCount());
    assertTrue(account.toString(), account.toString().contains("[vamana.breaker.limit]"));
  }

  private final Settings.Builder changes = Settings.builder();

  private void change(String key, String value) {
    cluster.applySettings(changes.put(key, value).build());
  }

  /** Threads that take and give back never see more than the limit, and leave nothing. */
  public void testManyThreads() throws InterruptedException {
    start(Settings.builder().put("vamana.breaker.limit", "1000b").build());
    List<Thread> threads = new ArrayList<>();
    List<Throwable> failures = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      Random random = new Random(random().nextLong());
      Thread thread =
          new Thread(
              () -> {
                try {
                  for (int i = 0; i < 5000; i++) {
                    int bytes = random.nextInt(500);
                    if (account.reserve(bytes)) {
                      long used = breaker.getUsed();
                      assertTrue("used " + used, used >= bytes && used <= 1000);
                      account.release(bytes);
                    }
                  }
                } catch (Throwable e) {
                  synchronized (failures) {
                    failures.add(e);
                  }
                }
              });
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertEquals(List.of(), failures);
    assertEquals(0, breaker.getUsed());
  }
}
