package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.devices.DevicesExecutor;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.RegisteredPages;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.search.SegmentView;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/** Simulated devices of one machine, each of which can be taken away and given back. */
final class SeveralDevices {

  /** A look every few milliseconds; no segments stay together, no call is divided. */
  static final DevicesExecutor.Spread QUICK =
      new DevicesExecutor.Spread(3_000_000L, 0, Integer.MAX_VALUE);

  /** A look every few milliseconds; segments stay together, calls of 100 items are divided. */
  static final DevicesExecutor.Spread DIVIDED =
      new DevicesExecutor.Spread(3_000_000L, Long.MAX_VALUE / 4, 100);

  /** No look but for losses; segments of a family stay together. */
  static final DevicesExecutor.Spread STEADY =
      new DevicesExecutor.Spread(Long.MAX_VALUE / 4, Long.MAX_VALUE / 4, Integer.MAX_VALUE);

  private static final long HOST_BYTES = 1L << 30;
  private static final long RETRY_NANOS = 1_000_000;

  final List<List<SimulatedDriver>> drivers = new CopyOnWriteArrayList<>();
  final List<String> failures = new CopyOnWriteArrayList<>();
  final AtomicInteger losses = new AtomicInteger();
  private final SimulatedKernels kernels;
  private final int count;
  private final long bytes;
  private final long share;
  private volatile long gone;
  final RegisteredPages host = new RegisteredPages();

  /**
   * Devices that are all there.
   *
   * @param share bytes of each for segments
   */
  SeveralDevices(SimulatedKernels kernels, int count, long bytes, long share) {
    this.kernels = kernels;
    this.count = count;
    this.bytes = bytes;
    this.share = share;
    for (int i = 0; i < count; i++) {
      drivers.add(new CopyOnWriteArrayList<>());
    }
  }

  DevicesExecutor open(Placement placement, GpuOptions options, DevicesExecutor.Spread balance) {
    MemoryLimit limit = MemoryLimit.bytes(share);
    MemoryLimit pageCache = MemoryLimit.bytes(HOST_BYTES / 2);
    ResidencyOptions residency =
        ResidencyOptions.defaults(HOST_BYTES)
            .withPlacement(placement)
            .withLimits(limit, pageCache)
            .withTimes(Duration.ZERO, Duration.ZERO);
    return DevicesExecutor.open(
        count,
        (index, changed) ->
            GpuExecutor.open(
                () -> context(index),
                residency,
                options.withTimes(times -> times.retry(RETRY_NANOS, 8 * RETRY_NANOS)),
                new GpuTestCase.QuietListener() {
                  @Override
                  public void lost(GpuException cause, long retryMillis) {
                    losses.incrementAndGet();
                    changed.run();
                  }

                  @Override
                  public void recovered(DeviceInfo device) {
                    changed.run();
                  }
                }),
        limit,
        balance,
        e -> failures.add(e.toString()));
  }

  private SimulatedDriver context(int index) {
    if ((gone >>> index & 1) != 0) {
      throw new GpuException(GpuException.Kind.UNAVAILABLE, "device " + index + " is gone");
    }
    SimulatedDriver driver = new SimulatedDriver(kernels, bytes, true).in(host, index);
    drivers.get(index).add(driver);
    return driver;
  }

  /** Takes a device away. */
  void lose(int index) {
    gone |= 1L << index;
    List<SimulatedDriver> contexts = drivers.get(index);
    if (contexts.isEmpty() == false) {
      contexts.get(contexts.size() - 1).lose("device " + index + " fell off the bus");
    }
  }

  /** Gives it back. */
  void give(int index) {
    gone &= ~(1L << index);
  }

  /** Whether a device of an executor has a segment. */
  static boolean has(DevicesExecutor executor, int index, SegmentView view) {
    return executor.devices().get(index).presence(view).placement() != null;
  }

  /** Items that the devices have answered, by device. */
  static long[] answered(DevicesExecutor executor) {
    return executor.statistics().stream()
        .mapToLong(
            each ->
                each
                    .counters()
                    .getOrDefault("items_by_placement", java.util.Collections.emptySortedMap())
                    .values()
                    .stream()
                    .mapToLong(Long::longValue)
                    .sum())
        .toArray();
  }
}
