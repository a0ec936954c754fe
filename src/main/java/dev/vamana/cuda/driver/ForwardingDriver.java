package dev.vamana.cuda.driver;

import java.lang.foreign.MemorySegment;

/**
 * Forwards every call to another driver. Subclasses sit between an executor and its device and
 * change some calls.
 */
public class ForwardingDriver implements CudaDriver {

  /** The driver that receives the calls. */
  protected final CudaDriver driver;

  /** Makes a driver that forwards all calls; closing it closes {@code driver}. */
  public ForwardingDriver(CudaDriver driver) {
    this.driver = driver;
  }

  @Override
  public Registration registerForAll(long address, long bytes) {
    return driver.registerForAll(address, bytes);
  }

  @Override
  public long addressOfRegistered(long address) {
    return driver.addressOfRegistered(address);
  }

  @Override
  public DeviceInfo device() {
    return driver.device();
  }

  @Override
  public void bind() {
    driver.bind();
  }

  @Override
  public long allocate(long bytes) {
    return driver.allocate(bytes);
  }

  @Override
  public void free(long address) {
    driver.free(address);
  }

  @Override
  public long freeBytes() {
    return driver.freeBytes();
  }

  @Override
  public PinnedMemory allocatePinned(long bytes) {
    return driver.allocatePinned(bytes);
  }

  @Override
  public Registration register(long address, long bytes) {
    return driver.register(address, bytes);
  }

  @Override
  public long createStream(Urgency urgency) {
    return driver.createStream(urgency);
  }

  @Override
  public void destroyStream(long stream) {
    driver.destroyStream(stream);
  }

  @Override
  public void synchronize(long stream) {
    driver.synchronize(stream);
  }

  @Override
  public long createEvent() {
    return driver.createEvent();
  }

  @Override
  public void destroyEvent(long event) {
    driver.destroyEvent(event);
  }

  @Override
  public void record(long event, long stream) {
    driver.record(event, stream);
  }

  @Override
  public void await(long event, long stream) {
    driver.await(event, stream);
  }

  @Override
  public boolean done(long event) {
    return driver.done(event);
  }

  @Override
  public void copyToDevice(long target, MemorySegment source, long stream) {
    driver.copyToDevice(target, source, stream);
  }

  @Override
  public void copyRowsToDevice(
      long target, long targetPitch, MemorySegment source, long width, long rows, long stream) {
    driver.copyRowsToDevice(target, targetPitch, source, width, rows, stream);
  }

  @Override
  public void copyFromDevice(MemorySegment target, long source, long stream) {
    driver.copyFromDevice(target, source, stream);
  }

  @Override
  public void fill(long target, byte value, long bytes, long stream) {
    driver.fill(target, value, bytes, stream);
  }

  @Override
  public Kernel kernel(String name) {
    return driver.kernel(name);
  }

  @Override
  public void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream) {
    driver.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
  }

  @Override
  public void close() {
    driver.close();
  }
}
