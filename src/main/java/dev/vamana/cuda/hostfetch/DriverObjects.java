package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.driver.CudaDriver;
import java.util.ArrayList;
import java.util.List;

/** Streams and events that are destroyed together. */
final class DriverObjects {

  private final CudaDriver driver;
  private final List<Long> streams = new ArrayList<>();
  private final List<Long> events = new ArrayList<>();

  DriverObjects(CudaDriver driver) {
    this.driver = driver;
  }

  long stream() {
    long stream = driver.createStream();
    streams.add(stream);
    return stream;
  }

  long event() {
    long event = driver.createEvent();
    events.add(event);
    return event;
  }

  /** Waits until nothing runs. */
  void synchronize() {
    streams.forEach(driver::synchronize);
  }

  /** Destroys all; nothing runs. */
  void free() {
    events.forEach(driver::destroyEvent);
    streams.forEach(driver::destroyStream);
    events.clear();
    streams.clear();
  }
}
