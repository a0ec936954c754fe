package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import java.util.ArrayList;
import java.util.List;

/** Creates streams and events that are destroyed together. */
public final class DriverObjects {

  private final CudaDriver driver;
  private final List<Long> streams = new ArrayList<>();
  private final List<Long> events = new ArrayList<>();

  /** Makes an empty set. */
  public DriverObjects(CudaDriver driver) {
    this.driver = driver;
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

  /** Waits until all streams are idle. */
  public void synchronize() {
    streams.forEach(driver::synchronize);
  }

  /** Destroys all streams and events, which must be idle. */
  public void free() {
    events.forEach(driver::destroyEvent);
    streams.forEach(driver::destroyStream);
    events.clear();
    streams.clear();
  }
}
