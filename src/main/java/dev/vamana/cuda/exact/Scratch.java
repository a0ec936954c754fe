package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.util.ArrayList;
import java.util.List;

/** Memory, streams and events of one engine. They are freed together. */
final class Scratch {

  private final CudaDriver driver;
  private final SessionHostMemory account;
  private final DriverObjects objects;
  private final List<DeviceBuffer> device = new ArrayList<>();
  private final List<PinnedBuffer> pinned = new ArrayList<>();

  Scratch(CudaDriver driver, SessionHostMemory account) {
    this.driver = driver;
    this.account = account;
    this.objects = new DriverObjects(driver);
  }

  CudaDriver driver() {
    return driver;
  }

  DeviceBuffer device() {
    DeviceBuffer buffer = new DeviceBuffer(driver);
    device.add(buffer);
    return buffer;
  }

  PinnedBuffer pinned() {
    PinnedBuffer buffer = new PinnedBuffer(driver, account);
    pinned.add(buffer);
    return buffer;
  }

  long stream() {
    return objects.stream();
  }

  long event() {
    return objects.event();
  }

  /** Waits until the event is done. */
  void await(long event) {
    while (driver.done(event) == false) {
      Thread.onSpinWait();
    }
  }

  /** Waits until all streams are idle. */
  void synchronize() {
    objects.synchronize();
  }

  /** Frees everything, which must not be in use. */
  void free() {
    device.forEach(DeviceBuffer::free);
    pinned.forEach(PinnedBuffer::free);
    objects.free();
  }
}
