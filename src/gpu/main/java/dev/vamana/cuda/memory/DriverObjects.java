package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import java.util.ArrayList;
import java.util.List;

/** Memory, streams and events of one engine, which are freed together. */
public final class DriverObjects {

  private final CudaDriver driver;
  private final SessionHostMemory account;
  private final DeviceBudget budget;
  private final List<DeviceBuffer> device = new ArrayList<>();
  private final List<PinnedBuffer> pinned = new ArrayList<>();
  private final List<Long> streams = new ArrayList<>();
  private final List<Long> events = new ArrayList<>();

  /**
   * Makes an empty set.
   *
   * @param account counts pinned memory
   * @param budget counts device memory
   */
  public DriverObjects(CudaDriver driver, SessionHostMemory account, DeviceBudget budget) {
    this.driver = driver;
    this.account = account;
    this.budget = budget;
  }

  /** Returns the driver. */
  public CudaDriver driver() {
    return driver;
  }

  /** Returns the budget of device memory. */
  public DeviceBudget budget() {
    return budget;
  }

  /** Makes an empty buffer of device memory. */
  public DeviceBuffer device() {
    DeviceBuffer buffer = new DeviceBuffer(driver, budget);
    device.add(buffer);
    return buffer;
  }

  /** Makes an empty buffer of pinned memory. */
  public PinnedBuffer pinned() {
    PinnedBuffer buffer = new PinnedBuffer(driver, account);
    pinned.add(buffer);
    return buffer;
  }

  /** Creates a stream. */
  public long stream() {
    long stream = driver.createStream();
    streams.add(stream);
    return stream;
  }

  /** Creates an event. */
  public long event() {
    long event = driver.createEvent();
    events.add(event);
    return event;
  }

  /** Waits until an event is done. */
  public void await(long event) {
    driver.deadline().await(() -> driver.done(event));
  }

  /** Waits until all streams are idle. */
  public void synchronize() {
    streams.forEach(driver::synchronize);
  }

  /** Frees everything, which must not be in use. */
  public void free() {
    device.forEach(DeviceBuffer::free);
    pinned.forEach(PinnedBuffer::free);
    events.forEach(driver::destroyEvent);
    streams.forEach(driver::destroyStream);
    events.clear();
    streams.clear();
  }
}
