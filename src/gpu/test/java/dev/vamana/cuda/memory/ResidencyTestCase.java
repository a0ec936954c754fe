package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.junit.After;
import org.junit.Before;

/** Base class with four segments and a residency that runs step by step. */
public abstract class ResidencyTestCase extends MemoryTestCase {

  static final long DEVICE = 64 * MEGABYTE;
  static final Duration MINUTE = Duration.ofMinutes(1);

  final ManualExecutor executor = new ManualExecutor();
  final List<String> events = new ArrayList<>();
  TestSegments segments;
  List<SegmentView> views;
  SimulatedDriver device;
  FaultyDriver driver;
  Residency residency;
  private long now = random().nextLong();

  /** Components of the segments' vectors. */
  int dimension() {
    return 24;
  }

  @Before
  public void openSegments() throws IOException {
    segments =
        new TestSegments(
            true,
            random().nextBoolean(),
            parameters(8, 4),
            VectorSimilarityFunction.EUCLIDEAN,
            dimension(),
            100,
            100,
            100,
            100);
    views = segments.views(FLOATS);
    device = new SimulatedDriver(kernels, DEVICE, false);
    driver = new FaultyDriver(device);
  }

  @After
  public void closeAll() throws IOException {
    if (residency != null) {
      residency.close();
    }
    assertEquals(0, device.deviceBytes());
    assertEquals(0, device.pinnedBytes());
    assertEquals(0, device.registeredBytes());
    driver.close();
    segments.close();
  }

  void open(Placement placement, long deviceLimit) {
    open(placement, deviceLimit, 16 * MEGABYTE, executor);
  }

  void open(Placement placement, long deviceLimit, long pageCacheLimit, Executor runs) {
    ResidencyOptions options =
        ResidencyOptions.defaults(1 << 30)
            .withPlacement(placement)
            .withLimits(MemoryLimit.bytes(deviceLimit), MemoryLimit.bytes(pageCacheLimit))
            .withTimes(MINUTE, MINUTE);
    ResidencyListener listener =
        new ResidencyListener() {
          @Override
          public void uploaded(SegmentView view, Placement chosen, long deviceBytes) {
            events.add("uploaded " + views.indexOf(view) + " " + chosen.settingName());
          }

          @Override
          public void evicted(SegmentView view) {
            events.add("evicted " + views.indexOf(view));
          }

          @Override
          public void failed(SegmentView view, Throwable reason) {
            events.add("failed " + views.indexOf(view));
            if (reason instanceof GpuException gpu && gpu.contextLost()) {
              residency.abandon();
            } else if (reason instanceof GpuException == false) {
              throw new AssertionError(reason);
            }
          }
        };
    residency = residency(options, runs, listener);
  }

  Residency residency(ResidencyOptions options, Executor runs, ResidencyListener listener) {
    return new Residency(
        driver, options, runs, () -> {}, listener, new ResidencyCounters(), () -> now);
  }

  void pass(Duration time) {
    now += time.toNanos();
  }

  List<String> events() {
    List<String> taken = List.copyOf(events);
    events.clear();
    return taken;
  }

  long bytes(Placement placement) throws IOException {
    RawVectors raw = placement == Placement.EXACT ? RawVectors.DEVICE : RawVectors.MAPPED;
    return PlacementPlan.of(
            SegmentShape.of(views.get(0)),
            placement,
            placement == Placement.HOST_FETCH ? RawVectors.CALLER : raw)
        .deviceBytes();
  }

  void use(int segment) {
    residency.opened(views.get(segment));
    ResidentSegment use = residency.acquire(views.get(segment));
    assertNotNull(residency.absence(views.get(segment)).text(), use);
    use.release();
  }

  void assertAbsent(int segment, Absence why) {
    if (why != Absence.CLOSED) {
      residency.opened(views.get(segment));
    }
    assertNull(residency.acquire(views.get(segment)));
    assertEquals(why, residency.absence(views.get(segment)));
  }
}
