package dev.vamana.cuda.driver;

import java.lang.foreign.MemorySegment;

/**
 * Forwards every call to another driver. Subclasses sit between an executor and its device and
 * change some calls, or look at all of them in {@link #target}.
 */
public class ForwardingDriver implements CudaDriver {

  /** The driver that receives the calls. */
  protected final CudaDriver driver;

  /** Makes a driver that forwards all calls; closing it closes {@code driver}. */
  public ForwardingDriver(CudaDriver driver) {
    this.driver = driver;
  }

  /**
   * Returns the driver, for each call but {@link #device}, {@link #deadline} and {@link #close}.
   */
  protected CudaDriver target() {
    return driver;
  }

  @Override
  public DeviceInfo device() {
    return driver.device();
  }

  @Override
  public void bind() {
    target().bind();
  }

  @Override
  public long allocate(long bytes) {
    return target().allocate(bytes);
  }

  @Override
  public void free(long address) {
    target().free(address);
  }

  @Override
  public long freeBytes() {
    return target().freeBytes();
  }

  @Override
  public PinnedMemory allocatePinned(long bytes) {
    return target().allocatePinned(bytes);
  }

  @Override
  public Registration register(long address, long bytes) {
    return target().register(address, bytes);
  }

  @Override
  public long createStream(Urgency urgency) {
    return target().createStream(urgency);
  }

  @Override
  public void destroyStream(long stream) {
    target().destroyStream(stream);
  }

  @Override
  public boolean idle(long stream) {
    return target().idle(stream);
  }

  @Override
  public Deadline deadline() {
    return driver.deadline();
  }

  @Override
  public long createEvent() {
    return target().createEvent();
  }

  @Override
  public void destroyEvent(long event) {
    target().destroyEvent(event);
  }

  @Override
  public void record(long event, long stream) {
    target().record(event, stream);
  }

  @Override
  public void await(long event, long stream) {
    target().await(event, stream);
  }

  @Override
  public boolean done(long event) {
    return target().done(event);
  }

  @Override
  public void copyToDevice(long target, MemorySegment source, long stream) {
    target().copyToDevice(target, source, stream);
  }

  @Override
  public void copyRowsToDevice(
      long target, long targetPitch, MemorySegment source, long width, long rows, long stream) {
    target().copyRowsToDevice(target, targetPitch, source, width, rows, stream);
  }

  @Override
  public void copyFromDevice(MemorySegment target, long source, long stream) {
    target().copyFromDevice(target, source, stream);
  }

  @Override
  public void fill(long target, byte value, long bytes, long stream) {
    target().fill(target, value, bytes, stream);
  }

  @Override
  public Kernel kernel(String name) {
    return target().kernel(name);
  }

  @Override
  public void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream) {
    target().launch(kernel, blocks, threads, sharedBytes, parameters, stream);
  }

  @Override
  public void close() {
    driver.close();
  }
}
