package dev.vamana.cuda.lists;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.ListBatchSizes;
import dev.vamana.cuda.kernel.ListLayouts.ListBatchLayout;
import dev.vamana.cuda.kernel.ListLayouts.ListSearchLayout;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.ListShape;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests when items are searched together, in which memory and steps. */
public class ListBatchesTests extends LuceneTestCase {

  private static final int SIZE = 1_000_000;

  private static final long ADDRESSES = 1L << 40;

  /**
   * A launched kernel.
   *
   * @param items index of its first item
   */
  private record Launched(String kernel, long items, int count, int first, int wave) {}

  private final List<Launched> launched = Collections.synchronizedList(new ArrayList<>());
  // what kernels wait for, by name
  private final Map<String, CountDownLatch> held = new ConcurrentHashMap<>();
  private SimulatedDriver driver;

  private SimulatedDriver driver(long bytes) {
    return driver(bytes, false);
  }

  private SimulatedDriver driver(long bytes, boolean threaded) {
    driver =
        new SimulatedDriver(
            name ->
                (blocks, threads, shared, p) -> {
                  awaitHeld(name);
                  long search = ListBatchLayout.SEARCH;
                  long items = p.get(ValueLayout.JAVA_LONG, search + ListSearchLayout.ITEMS);
                  launched.add(
                      new Launched(
                          name,
                          (items - ADDRESSES) / Long.BYTES,
                          p.get(ValueLayout.JAVA_INT, search + ListSearchLayout.COUNT),
                          p.get(ValueLayout.JAVA_INT, ListBatchLayout.FIRST),
                          p.get(ValueLayout.JAVA_INT, ListBatchLayout.WAVE)));
                },
            bytes,
            threaded);
    driver.bind();
    return driver;
  }

  private void awaitHeld(String kernel) {
    CountDownLatch latch = held.get(kernel);
    try {
      if (latch != null && latch.await(2, TimeUnit.MINUTES) == false) {
        throw new IllegalStateException(kernel + " is held for ever");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void tearDown() throws Exception {
    if (driver != null) {
      driver.close();
    }
    super.tearDown();
  }

  private static ListBatches.Items items(int count, int width, int lists) {
    return new ListBatches.Items(count, false, width, SIZE, lists, 128, 128, 256);
  }

  public void testSharing() {
    try (ListBatches batches = new ListBatches(driver(1L << 30), DeviceBudget.UNLIMITED)) {
      // 100 items search 4,800 lists
      assertTrue(batches.takes(items(100, 10, 1_200), 4));
      assertFalse(batches.takes(items(100, 10, 1_201), 4));
      assertFalse(batches.takes(items(100, 10, 1_200), 0));
      assertFalse(batches.takes(items(1, 10, 1), 1));
      assertTrue(batches.takes(items(100, 76, 100), 1));
      assertFalse(batches.takes(items(100, 1_000, 100), 1));
      // 48 lists of 10,000 each: 417 items search 200 million entries
      int lists = SIZE / 10_000;
      assertTrue(batches.takes(items(417, 10, lists), Tuning.CHOOSE_SHARING));
      assertFalse(batches.takes(items(416, 10, lists), Tuning.CHOOSE_SHARING));
      // few items for a list, though the lists are long
      assertFalse(batches.takes(items(80, 10, 1_000), Tuning.CHOOSE_SHARING));
    }
  }

  /** Larger launches are for lists that the device's cache does not hold. */
  public void testWhereLargerLaunchesGain() {
    try (ListBatches batches = new ListBatches(driver(1L << 30), DeviceBudget.UNLIMITED)) {
      // entries of 32 bytes
      int held = driver.device().cacheBytes() / 32;
      assertFalse(batches.gainsBySize(new ListShape(held, 128, 10, CodeKind.RABITQ1)));
      assertTrue(batches.gainsBySize(new ListShape(held + 1, 128, 10, CodeKind.RABITQ1)));
    }
  }

  /** Without memory, items are searched one by one, and memory is asked for again later. */
  public void testNoMemory() {
    ListBatches.Items items = items(1_000, 10, 100);
    try (ListBatches batches = new ListBatches(driver(1L << 30), DeviceBudget.UNLIMITED)) {
      long others = driver.allocate(driver.freeBytes() - (1L << 20));
      assertFalse(batches.takes(items, 1));
      driver.free(others);
      for (int i = 0; i < ListBatches.WITHOUT; i++) {
        assertFalse(batches.takes(items, 1));
      }
      assertTrue(batches.takes(items, 1));
      assertTrue(batches.takes(items, 1));
    }
  }

  public void testWaves() {
    for (int lists : new int[] {0, 1, 4, 5, 100, 511}) {
      List<Integer> waves = ListBatches.waves(lists);
      assertEquals(lists, waves.stream().mapToInt(Integer::intValue).sum());
      for (int wave : waves) {
        assertTrue(wave >= 1 && wave <= ListBatchSizes.WAVE);
      }
    }
  }

  public void testSizes() {
    for (int i = 0; i < 200; i++) {
      int lists = 1 + random().nextInt(65_536);
      ListBatches.Items items =
          items(2 + random().nextInt(65_535), 1 + random().nextInt(76), lists);
      long most = ListBatches.mostBytes((8L + random().nextInt(130)) << 30);
      ListBatchSizes sizes = ListBatches.sizes(items, most);
      assertTrue(sizes.bytes() <= most);
      assertTrue(sizes.count() >= 1 && sizes.count() <= items.count());
      assertTrue(sizes.kept() <= Math.min(lists, ListBatchSizes.MAX_KEPT));
      assertTrue(sizes.room() <= ListBatchSizes.MAX_ROOM);
    }
    // a launch of 10,000 is one part, whatever the segment
    assertEquals(
        10_000, ListBatches.sizes(items(10_000, 10, 15_000), ListBatches.MAX_BYTES).count());
    // the largest launch is one part if the device is large, and one of 10,000 if it is small
    ListBatches.Items largest = items(BatchOptions.MAX_BATCH, 10, 15_000);
    assertEquals(largest.count(), ListBatches.sizes(largest, ListBatches.MAX_BYTES).count());
    assertEquals(ListBatches.MAX_BYTES, ListBatches.mostBytes(80L << 30));
    long few = ListBatches.mostBytes(8L << 30);
    assertEquals(10_000, ListBatches.sizes(items(10_000, 10, 5_000), few).count());
  }

  /** The next launch would wait as long as steps of the last one run, but not for what is left. */
  public void testRunning() throws Exception {
    try (ListBatches batches = new ListBatches(driver(1L << 30, true), DeviceBudget.UNLIMITED)) {
      ListBatches.Items items = items(1_000, 10, 100);
      assertTrue(batches.takes(items, 4));
      assertFalse(batches.running());
      int blocks = batches.blocksOfRest(items);
      long rest = driver.allocate(ListBatches.restBytes(items, blocks));
      long stream = driver.createStream();
      CountDownLatch steps = new CountDownLatch(1);
      CountDownLatch left = new CountDownLatch(1);
      held.put("list_batch_measure", steps);
      held.put("list_batch_rest_float", left);
      batches.launch(
          items,
          new ListBatches.Places(ADDRESSES, false),
          new ListBatches.Rest(rest, blocks),
          stream);
      assertTrue(batches.running());
      steps.countDown();
      long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
      while (batches.running() && System.nanoTime() - end < 0) {
        Thread.sleep(1);
      }
      assertFalse(batches.running());
      assertFalse(driver.idle(stream));
      left.countDown();
      driver.synchronize(stream);
      assertFalse(batches.running());
      driver.destroyStream(stream);
      driver.free(rest);
    }
  }

  /** Each part has all steps, for its items; what is left of all parts is searched at the end. */
  public void testParts() {
    try (ListBatches batches = new ListBatches(driver(2L << 30), DeviceBudget.UNLIMITED)) {
      ListBatches.Items items = items(50_000, 10, 15_000);
      assertTrue(batches.takes(items, 4));
      int blocks = batches.blocksOfRest(items);
      long rest = driver.allocate(ListBatches.restBytes(items, blocks));
      long stream = driver.createStream();
      batches.launch(
          items,
          new ListBatches.Places(ADDRESSES, false),
          new ListBatches.Rest(rest, blocks),
          stream);
      driver.synchronize(stream);
      long at = 0;
      int parts = 0;
      int known = 0;
      for (Launched launch : launched) {
        if (launch.kernel.equals("list_batch_prepare_float")) {
          assertEquals(at, launch.items);
          at += launch.count;
          parts++;
          known = 1;
        } else if (launch.kernel.equals("list_batch_score_float")) {
          assertEquals(known, launch.first);
          known += launch.wave;
        }
      }
      assertEquals(50_000, at);
      assertTrue(parts > 1);
      assertEquals(ListBatches.sizes(items, ListBatches.mostBytes(2L << 30)).kept(), known);
      assertEquals("list_batch_rest_float", launched.get(launched.size() - 1).kernel);
      assertEquals(1, launched.stream().filter(launch -> launch.kernel.contains("_rest_")).count());
      driver.destroyStream(stream);
      driver.free(rest);
    }
  }
}
