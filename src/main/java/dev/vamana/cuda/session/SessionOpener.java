package dev.vamana.cuda.session;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.Deadline;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GatedDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.ResidencyFactory;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
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
  private GatedDriver last;

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
    Deadline deadline = new Deadline(options.get().times().deadline());
    GatedDriver driver = new GatedDriver(drivers.get(), deadline);
    last = driver;
    CompletableFuture<GpuSession> made = new CompletableFuture<>();
    GpuSession opened =
        new GpuSession(driver, residencies, options, counters, failure -> lost(made, failure));
    device = driver.device();
    counters.opened.increment();
    made.complete(opened);
    return opened;
  }

  /** Tells of a loss, at once or when the session has been made. */
  @SuppressWarnings("FutureReturnValueIgnored") // what is told does not fail
  private void lost(CompletableFuture<GpuSession> made, GpuException failure) {
    made.thenAccept(session -> onLost.accept(session, failure));
  }

  /** Returns the device of the last session. */
  DeviceInfo device() {
    return device;
  }

  /** Whether the last session's driver has closed: no kernel of it runs any more. */
  boolean lastClosed() {
    return last.closed();
  }

  /** Returns the residency counters of all sessions, for use while there is none. */
  SortedMap<String, Long> residencyCounters() {
    return residencies.counters();
  }
}
