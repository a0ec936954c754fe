package dev.vamana.tools.gpu;

import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.devices.DevicesExecutor;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.memory.SharedPages;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import java.io.Closeable;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** An executor over several devices, each of which can be taken away and given back. */
final class OpenDevices implements Closeable {

  /** Ten looks a second; segments are spread as soon as there is anything to do. */
  private static final DevicesExecutor.Spread QUICK =
      new DevicesExecutor.Spread(TimeUnit.MILLISECONDS.toNanos(100), 1e-6);

  private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private static final long HOST_BYTES = Long.MAX_VALUE / 100;
  private static final MemoryLimit PAGES = MemoryLimit.percent(60);

  private final DevicesExecutor executor;
  private final SharedPages pages;
  private volatile long gone;

  private OpenDevices(
      int count, IntFunction<Supplier<CudaDriver>> drivers, Placement placement, long limit) {
    MemoryLimit memory = limit == 0 ? MemoryLimit.percent(90) : MemoryLimit.bytes(limit);
    ResidencyOptions residency =
        ResidencyOptions.defaults(HOST_BYTES)
            .withPlacement(placement)
            .withLimits(memory, PAGES)
            .withTimes(Duration.ofSeconds(60), Duration.ofMillis(200));
    GpuOptions options =
        GpuOptions.DEFAULT
            .withTimes(times -> times.selfTest(0))
            .withPlans(Gpu.WALKS)
            .withTimes(times -> times.retry(RETRY_NANOS, 10 * RETRY_NANOS));
    pages = new SharedPages(drivers.apply(0), PAGES, HOST_BYTES);
    executor =
        DevicesExecutor.open(
            count,
            (index, changed) ->
                GpuExecutor.open(
                    () -> pages.of(new Losable(drivers.apply(index).get(), index)),
                    residency,
                    options,
                    new Changes(changed)),
            memory,
            QUICK,
            e -> System.err.println("gpu: not spread: " + e));
  }

  /**
   * Opens devices.
   *
   * @param drivers opens contexts on a device, by its number from 0
   * @param limit bytes of each device for segments; 0 for most of its memory
   */
  static OpenDevices open(
      int count, IntFunction<Supplier<CudaDriver>> drivers, Placement placement, long limit) {
    return new OpenDevices(count, drivers, placement, limit);
  }

  DevicesExecutor executor() {
    return executor;
  }

  /** Takes a device away: whatever is called next fails, and no context can be had. */
  void lose(int index) {
    gone |= 1L << index;
  }

  /** Gives it back. */
  void give(int index) {
    gone &= ~(1L << index);
  }

  /** Segments that are on a device. */
  long resident(List<SegmentView> views) {
    return resident(executor, views);
  }

  private static long resident(SearchExecutor executor, List<SegmentView> views) {
    return views.stream()
        .filter(view -> executor.presence(view).state() == DevicePresence.State.RESIDENT)
        .count();
  }

  /** Whether each device has its part of the resident segments. */
  boolean isSpread(List<SegmentView> views) {
    long resident = resident(views);
    long least = resident / executor.devices().size();
    return executor.devices().stream().allMatch(each -> resident(each, views) >= least);
  }

  /** Waits until no segment is on its way. */
  void settle(List<SegmentView> views) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
    while (views.stream()
        .anyMatch(view -> executor.presence(view).state() == DevicePresence.State.WAITING)) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException("segments are still on their way after three minutes");
      }
      Thread.sleep(2);
    }
  }

  @Override
  public void close() {
    executor.close();
    pages.close();
  }

  /** Fails once its device is taken away. */
  private final class Losable extends ForwardingDriver {
    private final int index;

    Losable(CudaDriver driver, int index) {
      super(driver);
      this.index = index;
      if (isGone()) {
        driver.close();
        throw new GpuException(GpuException.Kind.UNAVAILABLE, "device " + index + " is gone");
      }
    }

    private boolean isGone() {
      return (gone >>> index & 1) != 0;
    }

    private void check() {
      if (isGone()) {
        throw new GpuException(GpuException.Kind.CONTEXT_LOST, "device " + index + " is gone");
      }
    }

    @Override
    public boolean done(long event) {
      check();
      return super.done(event);
    }

    @Override
    public void launch(
        Kernel kernel,
        int blocks,
        int threads,
        int sharedBytes,
        MemorySegment parameters,
        long stream) {
      check();
      super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
    }
  }

  /** Tells the executor. */
  private record Changes(Runnable changed) implements GpuListener {
    @Override
    public void fallback(FallbackReason reason, String detail) {}

    @Override
    public void lost(GpuException cause, long retryMillis) {
      changed.run();
    }

    @Override
    public void stillLost(GpuException cause, long retryMillis) {}

    @Override
    public void recovered(DeviceInfo device) {
      changed.run();
    }
  }
}
