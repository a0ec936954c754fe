package dev.vamana.cuda.session;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.build.RecentSearches;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.WatchedDriver;
import dev.vamana.cuda.memory.ResidencyFactory;
import java.util.SortedMap;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** Opens sessions, one after the other. One thread at a time calls it. */
final class SessionOpener {

  private final Supplier<GpuOptions> options;
  private final Supplier<CudaDriver> drivers;
  private final ResidencyFactory residencies;
  private final ExecutorCounters counters;
  private final BiConsumer<GpuSession, GpuException> onLost;
  private volatile DeviceInfo device;
  // the driver of the last session
  private WatchedDriver watched;

  /**
   * Makes an opener.
   *
   * @param onLost called by any thread when a session is found lost, possibly more than once
   */
  SessionOpener(
      Supplier<GpuOptions> options,
      Supplier<CudaDriver> drivers,
      ResidencyFactory residencies,
      ExecutorCounters counters,
      BiConsumer<GpuSession, GpuException> onLost) {
    this.options = options;
    this.drivers = drivers;
    this.residencies = residencies;
    this.counters = counters;
    this.onLost = onLost;
  }

  /**
   * Opens a session.
   *
   * @throws GpuException if there is no usable device
   */
  GpuSession open() {
    Handle handle = new Handle();
    WatchedDriver driver = new WatchedDriver(drivers.get(), options.get().deadlineNanos());
    watched = driver;
    GpuSession opened =
        GpuSession.open(
            driver,
            residencies,
            options,
            counters.batches,
            counters.plans,
            new RecentSearches(counters.requested::sum),
            handle::lost);
    device = opened.driver.device();
    counters.opened.increment();
    handle.set(opened);
    return opened;
  }

  /** Forwards a session's loss, also a loss during the session's construction. */
  private final class Handle {
    private GpuSession opened;
    private GpuException early;

    synchronized void set(GpuSession made) {
      opened = made;
      if (early != null) {
        onLost.accept(made, early);
      }
    }

    synchronized void lost(GpuException e) {
      if (opened == null) {
        early = e;
      } else {
        onLost.accept(opened, e);
      }
    }
  }

  /** Returns the device of the last session. */
  DeviceInfo device() {
    return device;
  }

  /** Whether the last session's driver has closed: no kernel of it runs any more. */
  boolean lastClosed() {
    return watched.closed();
  }

  /** Returns the residency counters of all sessions, for use while there is none. */
  SortedMap<String, Long> residencyCounters() {
    return residencies.counters();
  }
}
