package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import java.util.ArrayList;
import java.util.List;

/** Streams and events that are destroyed together. */
public final class DriverObjects {

  private final CudaDriver driver;
  private final List<Long> streams = new ArrayList<>();
  private final List<Long> events = new ArrayList<>();

  /** None yet. */
  public DriverObjects(CudaDriver driver) {
    this.driver = driver;
  }

  /** A new stream. */
  public long stream() {
    long stream = driver.createStream();
    streams.add(stream);
    return stream;
  }

  /** A new event. */
  public long event() {
    long event = driver.createEvent();
    events.add(event);
    return event;
  }

  /** Waits until nothing runs. */
  public void synchronize() {
    streams.forEach(driver::synchronize);
  }

  /** Destroys all; nothing runs. */
  public void free() {
    events.forEach(driver::destroyEvent);
    streams.forEach(driver::destroyStream);
    events.clear();
    streams.clear();
  }
}
