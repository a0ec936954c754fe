package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.devices.DevicesExecutor;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.IOUtils;

/** {@link DevicesExecutor} over simulated devices. */
public class SeveralDevicesTests extends GpuTestCase {

  private static final GpuOptions OPTIONS = WALKS.withBatches(BATCHES);

  // so many vectors that a walk with a narrow beam is cheaper than a scan
  private static final int SEGMENT = 300;
  private static final int K = 5;

  /** Items over the segments in turn. */
  private static List<WorkItem> walks(TestIndex index, int count, WalkParameters.Distances how)
      throws IOException {
    List<SegmentView> views = index.views();
    List<WorkItem> items = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      SegmentView view = views.get(i % views.size());
      WalkParameters walk = new WalkParameters(K + i % 4, how, 1 + i % 3, -1);
      items.add(Walks.item(view, index.vector(), K, walk));
    }
    return items;
  }

  private static SeveralDevices devices(int count, long share) {
    assumeTrue("needs kernels of the host", kernels != null);
    return new SeveralDevices(kernels, count, DEVICE_BYTES, share);
  }

  private static SeveralDevices devices(int count) {
    return devices(count, DEVICE_BYTES / 2);
  }

  private static void openAll(DevicesExecutor executor, List<SegmentView> views)
      throws InterruptedException {
    views.forEach(executor::opened);
    for (SegmentView view : views) {
      await(() -> executor.presence(view).state() == DevicePresence.State.RESIDENT);
    }
  }

  private static void closeAll(SeveralDevices devices, DevicesExecutor executor, TestIndex index)
      throws IOException {
    closeAll(devices, executor, index.views());
  }

  private static void closeAll(
      SeveralDevices devices, DevicesExecutor executor, List<SegmentView> views) {
    views.forEach(executor::closing);
    executor.close();
    assertEquals(List.of(), devices.failures);
    for (List<SimulatedDriver> contexts : devices.drivers) {
      for (SimulatedDriver driver : contexts) {
        assertEquals(0, driver.deviceBytes());
      }
    }
  }

  public void testAnswersDoNotDependOnTheNumberOfDevices() throws Exception {
    Placement placement = random().nextBoolean() ? Placement.EXACT : Placement.IN_MEMORY;
    WalkParameters.Distances distances =
        placement == Placement.EXACT
            ? WalkParameters.Distances.EXACT
            : WalkParameters.Distances.QUANTIZED;
    List<TestIndex> shards = new ArrayList<>();
    try (Closeable closing = () -> IOUtils.close(shards)) {
      List<SegmentView> views = new ArrayList<>();
      List<WorkItem> items = new ArrayList<>();
      for (int shard = 0; shard < 6; shard++) {
        shards.add(TestIndex.any(SEGMENT, 1, new MMapDirectory(createTempDir())));
        views.addAll(shards.get(shard).views());
        items.addAll(walks(shards.get(shard), 33, distances));
      }
      Collections.shuffle(items, random());
      List<WorkResult> expected = null;
      for (int count : new int[] {1, 2, 4}) {
        SeveralDevices devices = devices(count);
        try (DevicesExecutor executor = devices.open(placement, OPTIONS, SeveralDevices.STEADY)) {
          openAll(executor, views);
          List<WorkResult> found = executor.search(items);
          List<WorkResult> alone = new ArrayList<>();
          for (WorkItem item : items) {
            alone.addAll(executor.search(List.of(item)));
          }
          assertSame(found, alone, 1);
          if (expected == null) {
            expected = found;
            assertSame(onCpu(items), found, 0.97);
          }
          assertSame(expected, found, 1);
          for (long answered : SeveralDevices.answered(executor)) {
            assertTrue("each device answers", answered > 0);
          }
          assertEquals(2 * items.size(), Arrays.stream(SeveralDevices.answered(executor)).sum());
          closeAll(devices, executor, views);
        }
      }
    }
  }

  /** So that a query needs one launch, and not one on each device. */
  public void testSegmentsOfAShardAreOnOneDevice() throws Exception {
    try (TestIndex one = TestIndex.any(4 * SEGMENT, 4, new MMapDirectory(createTempDir()));
        TestIndex other = TestIndex.any(2 * SEGMENT, 2, new MMapDirectory(createTempDir()))) {
      SeveralDevices devices = devices(2);
      try (DevicesExecutor executor =
          devices.open(Placement.EXACT, OPTIONS, SeveralDevices.STEADY)) {
        List<SegmentView> views = new ArrayList<>(one.views());
        views.addAll(other.views());
        openAll(executor, views);
        assertEquals(1, devicesOf(executor, one));
        assertEquals(1, devicesOf(executor, other));
        for (SegmentView view : other.views()) {
          assertNotEquals(executor.devices(one.views().get(0)), executor.devices(view));
        }
        closeAll(devices, executor, views);
      }
    }
  }

  private static long devicesOf(DevicesExecutor executor, TestIndex index) throws IOException {
    return index.views().stream()
        .flatMap(view -> executor.devices(view).stream())
        .distinct()
        .count();
  }

  public void testASetLargerThanADeviceIsResidentOnTwo() throws Exception {
    try (TestIndex index = TestIndex.any(8 * SEGMENT, 8, new MMapDirectory(createTempDir()))) {
      List<SegmentView> views = index.views();
      long all = 0;
      try (DevicesExecutor one = openOne(DEVICE_BYTES / 2)) {
        for (SegmentView view : views) {
          one.opened(view);
          await(() -> one.presence(view).state() == DevicePresence.State.RESIDENT);
          all += one.presence(view).deviceBytes();
        }
        views.forEach(one::closing);
      }
      long share = all * 6 / 10;
      try (DevicesExecutor one = openOne(share)) {
        views.forEach(one::opened);
        await(
            () ->
                views.stream()
                    .noneMatch(view -> one.presence(view).state() == DevicePresence.State.WAITING));
        assertTrue(
            "more than a device takes",
            views.stream()
                .anyMatch(view -> one.presence(view).state() == DevicePresence.State.REFUSED));
        views.forEach(one::closing);
      }
      SeveralDevices devices = devices(2, share);
      try (DevicesExecutor executor =
          devices.open(Placement.EXACT, OPTIONS, SeveralDevices.QUICK)) {
        openAll(executor, views);
        List<WorkItem> items = walks(index, 100, WalkParameters.Distances.EXACT);
        assertSame(onCpu(items), executor.search(items), 0.97);
        assertEquals(items.size(), Arrays.stream(SeveralDevices.answered(executor)).sum());
        closeAll(devices, executor, index);
      }
    }
  }

  private static DevicesExecutor openOne(long share) {
    return devices(1, share).open(Placement.EXACT, OPTIONS, SeveralDevices.STEADY);
  }

  public void testADeviceIsLostUnderLoad() throws Exception {
    try (TestIndex index = TestIndex.any(6 * SEGMENT, 6, new MMapDirectory(createTempDir()))) {
      SeveralDevices devices = devices(2);
      try (DevicesExecutor executor =
          devices.open(Placement.EXACT, OPTIONS, SeveralDevices.QUICK)) {
        List<SegmentView> views = index.views();
        openAll(executor, views);
        List<WorkItem> items = walks(index, 60, WalkParameters.Distances.EXACT);
        List<WorkResult> expected = onCpu(items);
        AtomicBoolean done = new AtomicBoolean();
        AtomicInteger searches = new AtomicInteger();
        int lost = random().nextInt(2);
        Threads.run(
            5,
            thread -> {
              try {
                if (thread > 0) {
                  while (done.get() == false) {
                    assertSame(expected, executor.search(items), 0.97);
                    WorkItem one = items.get(thread);
                    assertSame(
                        expected.subList(thread, thread + 1), executor.search(List.of(one)), 0);
                    searches.incrementAndGet();
                  }
                  return;
                }
                awaitMore(searches);
                devices.lose(lost);
                await(() -> executor.devices().get(lost).usable() == false);
                for (SegmentView view : views) {
                  await(() -> SeveralDevices.has(executor, 1 - lost, view));
                }
                awaitMore(searches);
                devices.give(lost);
                await(() -> executor.devices().get(lost).usable());
                await(
                    () ->
                        views.stream().anyMatch(view -> SeveralDevices.has(executor, lost, view)));
                awaitMore(searches);
              } finally {
                done.set(true);
              }
            });
        assertEquals(1, devices.losses.get());
        closeAll(devices, executor, index);
      }
    }
  }

  private static void awaitMore(AtomicInteger searches) throws InterruptedException {
    int before = searches.get();
    await(() -> searches.get() > before + 5);
  }

  public void testAllDevicesAreLost() throws Exception {
    try (TestIndex index = TestIndex.any(4 * SEGMENT, 4, new MMapDirectory(createTempDir()))) {
      SeveralDevices devices = devices(2);
      try (DevicesExecutor executor =
          devices.open(Placement.EXACT, OPTIONS, SeveralDevices.QUICK)) {
        openAll(executor, index.views());
        List<WorkItem> items = walks(index, 40, WalkParameters.Distances.EXACT);
        List<WorkResult> expected = onCpu(items);
        devices.lose(0);
        devices.lose(1);
        assertSame(expected, executor.search(items), 0.97);
        await(() -> executor.devices().stream().noneMatch(GpuExecutor::usable));
        long[] before = SeveralDevices.answered(executor);
        assertSame(expected, executor.search(items), 1);
        assertArrayEquals(before, SeveralDevices.answered(executor));
        devices.give(1);
        for (SegmentView view : index.views()) {
          await(() -> SeveralDevices.has(executor, 1, view));
        }
        assertSame(expected, executor.search(items), 0.97);
        closeAll(devices, executor, index);
      }
    }
  }

  /** A batch over segments of two devices is divided between them. */
  public void testALargeFamilyIsDivided() throws Exception {
    try (TestIndex index = TestIndex.any(4 * SEGMENT, 4, new MMapDirectory(createTempDir()))) {
      SeveralDevices devices = devices(2);
      try (DevicesExecutor executor =
          devices.open(Placement.EXACT, OPTIONS, SeveralDevices.QUICK)) {
        openAll(executor, index.views());
        List<WorkItem> items = walks(index, 300, WalkParameters.Distances.EXACT);
        assertSame(onCpu(items), executor.search(items), 0.97);
        assertArrayEquals(new long[] {150, 150}, SeveralDevices.answered(executor));
        assertEquals(0L, executor.balance().get("moves").longValue());
        closeAll(devices, executor, index);
      }
    }
  }

  /** The segments of one device are copied to the other, and each answers half of a large call. */
  public void testALargeCallIsDividedBetweenASegmentAndItsCopy() throws Exception {
    int segments = 1 + random().nextInt(3);
    try (TestIndex index =
        TestIndex.any(segments * SEGMENT, segments, new MMapDirectory(createTempDir()))) {
      SeveralDevices devices = devices(2);
      try (DevicesExecutor executor =
          devices.open(Placement.EXACT, OPTIONS, SeveralDevices.DIVIDED)) {
        openAll(executor, index.views());
        assertEquals(1, devicesOf(executor, index));
        List<WorkItem> items = walks(index, 120, WalkParameters.Distances.EXACT);
        List<WorkResult> expected = executor.search(items);
        assertSame(onCpu(items), expected, 0.97);
        for (SegmentView view : index.views()) {
          await(() -> executor.devices(view).size() == 2);
        }
        List<WorkResult> one = executor.search(items.subList(0, 1));
        await(() -> divided(executor, items, expected));
        assertSame(expected.subList(0, 1), one, 1);
        assertEquals(segments, executor.balance().get("copies").longValue());
        assertEquals(0L, executor.balance().get("moves").longValue());
        int lost = executor.devices(index.views().get(0)).get(random().nextInt(2));
        devices.lose(lost);
        assertSame(expected, executor.search(items), 0.97);
        await(() -> executor.devices().get(lost).usable() == false);
        for (SegmentView view : index.views()) {
          await(() -> SeveralDevices.has(executor, 1 - lost, view));
        }
        assertSame(expected, executor.search(items), 0.97);
        devices.give(lost);
        await(() -> executor.devices().get(lost).usable());
        await(() -> divided(executor, items, expected));
        closeAll(devices, executor, index);
      }
    }
  }

  /** Whether both devices answered the same number of items of a call. */
  private static boolean divided(
      DevicesExecutor executor, List<WorkItem> items, List<WorkResult> expected) {
    long[] before = SeveralDevices.answered(executor);
    try {
      assertSame(expected, executor.search(items), 0.97);
    } catch (IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
    long[] after = SeveralDevices.answered(executor);
    return after[0] - before[0] == items.size() / 2 && after[1] - before[1] == items.size() / 2;
  }

  private static TestIndex ofFloats(int dimension, int size, int segments) throws IOException {
    return new TestIndex(
        VectorEncoding.FLOAT32,
        VectorSimilarityFunction.EUCLIDEAN,
        dimension,
        size,
        segments,
        new MMapDirectory(createTempDir()));
  }

  /** A copy leaves when a segment needs the memory that it takes. */
  public void testACopyGivesWay() throws Exception {
    int dimension = 8 + random().nextInt(40);
    try (TestIndex index = ofFloats(dimension, SEGMENT, 1);
        TestIndex other = ofFloats(dimension, 3 * SEGMENT, 3)) {
      long bytes;
      try (DevicesExecutor one = openOne(DEVICE_BYTES / 2)) {
        SegmentView view = index.views().get(0);
        openAll(one, List.of(view));
        bytes = one.presence(view).deviceBytes();
        one.closing(view);
      }
      SeveralDevices devices = devices(2, 4 * bytes);
      try (DevicesExecutor executor =
          devices.open(Placement.EXACT, OPTIONS, SeveralDevices.DIVIDED)) {
        SegmentView view = index.views().get(0);
        openAll(executor, List.of(view));
        List<WorkItem> items = walks(index, 120, WalkParameters.Distances.EXACT);
        List<WorkResult> expected = executor.search(items);
        await(() -> executor.devices(view).size() == 2);
        openAll(executor, other.views());
        await(() -> executor.devices(view).size() == 1);
        assertSame(expected, executor.search(items), 0.97);
        List<SegmentView> views = new ArrayList<>(other.views());
        views.add(view);
        closeAll(devices, executor, views);
      }
    }
  }

  /** A search that comes late to the former device must not upload the segment there again. */
  public void testASegmentThatLeftIsNotUploadedAgain() throws Exception {
    try (TestIndex index = TestIndex.any(2 * SEGMENT, 2, new MMapDirectory(createTempDir()))) {
      SeveralDevices devices = devices(1);
      try (DevicesExecutor executor =
          devices.open(Placement.EXACT, OPTIONS, SeveralDevices.STEADY)) {
        SegmentView view = index.views().get(0);
        openAll(executor, index.views());
        GpuExecutor device = executor.devices().get(0);
        device.release(view);
        List<WorkItem> items = walks(index, 20, WalkParameters.Distances.EXACT);
        List<WorkResult> expected = onCpu(items);
        for (int i = 0; i < 3; i++) {
          assertSame(expected, device.search(items), 0.97);
          assertEquals(DevicePresence.State.REFUSED, device.presence(view).state());
        }
        // the items over the other segment find the loss
        devices.lose(0);
        assertSame(expected, device.search(items), 0.97);
        devices.give(0);
        await(() -> devices.losses.get() == 1 && device.usable());
        assertSame(expected, device.search(items), 0.97);
        assertEquals(DevicePresence.State.REFUSED, device.presence(view).state());
        device.warm(view);
        await(() -> device.presence(view).state() == DevicePresence.State.RESIDENT);
        closeAll(devices, executor, index);
      }
    }
  }

  public void testSegmentsCloseUnderLoad() throws Exception {
    SeveralDevices devices = devices(2);
    try (DevicesExecutor executor = devices.open(Placement.EXACT, OPTIONS, SeveralDevices.QUICK)) {
      closeUnderLoad(devices, executor);
    }
    assertEquals(List.of(), devices.failures);
  }

  private static void closeUnderLoad(SeveralDevices devices, DevicesExecutor executor)
      throws Exception {
    for (int round = 0; round < 3; round++) {
      try (TestIndex index = TestIndex.any(3 * SEGMENT, 3, new MMapDirectory(createTempDir()))) {
        List<SegmentView> views = index.views();
        views.forEach(executor::opened);
        List<WorkItem> items = walks(index, 40, WalkParameters.Distances.EXACT);
        List<WorkResult> expected = onCpu(items);
        AtomicBoolean closed = new AtomicBoolean();
        AtomicInteger searches = new AtomicInteger();
        Threads.run(
            4,
            thread -> {
              if (thread == 0) {
                awaitMore(searches);
                closed.set(true);
                views.forEach(executor::closing);
                return;
              }
              while (closed.get() == false) {
                try {
                  assertSame(expected, executor.search(items), 0.97);
                } catch (AlreadyClosedException e) {
                  assertTrue(closed.get());
                }
                searches.incrementAndGet();
              }
            });
      }
      for (List<SimulatedDriver> contexts : devices.drivers) {
        await(() -> contexts.get(0).deviceBytes() < 32 << 20);
      }
    }
  }

  /** As after a request to clear the cache: no look at the devices brings a segment back. */
  public void testAnEvictedSegmentStaysAway() throws Exception {
    try (TestIndex index = TestIndex.any(2 * SEGMENT, 2, new MMapDirectory(createTempDir()))) {
      SeveralDevices devices = devices(2);
      try (DevicesExecutor executor =
          devices.open(Placement.EXACT, OPTIONS, SeveralDevices.QUICK)) {
        List<SegmentView> views = index.views();
        openAll(executor, views);
        executor.keep(views.get(0), true);
        assertTrue(executor.evict(views.get(0)) > 0);
        AtomicInteger rounds = new AtomicInteger();
        await(
            () -> {
              assertEquals(DevicePresence.State.REFUSED, executor.presence(views.get(0)).state());
              return rounds.incrementAndGet() > 50;
            });
        executor.warm(views.get(0));
        await(() -> executor.presence(views.get(0)).state() == DevicePresence.State.RESIDENT);
        closeAll(devices, executor, index);
      }
    }
  }

  /** A page is registered for one device at a time. */
  public void testPagesOfAnotherDevice() throws Exception {
    try (TestIndex index = TestIndex.any(2 * SEGMENT, 1, new MMapDirectory(createTempDir()))) {
      SegmentView view = index.views().get(0);
      List<WorkItem> items = walks(index, 300, WalkParameters.Distances.QUANTIZED);
      List<WorkResult> expected = onCpu(items);
      SeveralDevices devices = devices(2);
      try (DevicesExecutor executor =
          devices.open(Placement.MAPPED_GRAPH, OPTIONS, SeveralDevices.STEADY)) {
        openAll(executor, List.of(view));
        long once = devices.host.bytes();
        assertTrue(once > 0);
        executor.devices().get(1).warm(view);
        await(
            () -> executor.devices().get(1).presence(view).state() == DevicePresence.State.REFUSED);
        assertEquals(once, devices.host.bytes());
        assertSame(expected, executor.search(items), 0.9);
        executor.closing(view);
        await(() -> devices.host.bytes() == 0);
        closeAll(devices, executor, index);
      }
    }
  }
}
