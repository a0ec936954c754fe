package dev.vamana.cuda.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * Makes host memory readable by the device in place: pinned memory and registered mapped files.
 * {@link JcudaDriver} has one for its context.
 *
 * <p>Pinned memory is allocated by the JVM and registered with the driver. Memory allocated by the
 * driver would be unmapped with a lost context, while threads may still be writing queries into it;
 * the JVM's memory lives as long as it is reachable.
 */
final class HostMemory {

  /** Page size. Two registrations may not share a page. */
  static final long PAGE = 4096;

  /** Most bytes of one registration of a mapped file. */
  static final long MAX_BYTES = 1L << 30;

  private static final int PINNED = JCudaDriver.CU_MEMHOSTREGISTER_DEVICEMAP;
  private static final int READ_ONLY =
      JCudaDriver.CU_MEMHOSTREGISTER_DEVICEMAP | JCudaDriver.CU_MEMHOSTREGISTER_READ_ONLY;

  private static final int READ_ONLY_FOR_ALL = READ_ONLY | JCudaDriver.CU_MEMHOSTREGISTER_PORTABLE;

  private final Context context;
  private final Set<Range> registered = ConcurrentHashMap.newKeySet();

  HostMemory(Context context) {
    this.context = context;
  }

  CudaDriver.PinnedMemory pinned(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("pinned memory must have 1 byte or more, not " + bytes);
    }
    MemorySegment pages;
    try {
      pages = Arena.ofAuto().allocate((bytes + PAGE - 1) / PAGE * PAGE, PAGE);
    } catch (OutOfMemoryError e) {
      throw new GpuException(
          GpuException.Kind.OUT_OF_MEMORY,
          "no " + bytes + " bytes of memory outside of the heap to pin",
          e);
    }
    return new Range(pages.address(), pages.byteSize(), PINNED, pages.asSlice(0, bytes));
  }

  /**
   * Registers pages for reading.
   *
   * @param forAll whether the devices of other contexts may read them, too
   */
  CudaDriver.Registration readOnly(long address, long bytes, boolean forAll) {
    if (bytes < 1 || bytes > MAX_BYTES || bytes % PAGE != 0 || address % PAGE != 0) {
      throw new IllegalArgumentException(
          "registered memory must be whole pages of "
              + PAGE
              + " bytes, at most "
              + MAX_BYTES
              + " bytes, not "
              + bytes
              + " bytes at offset "
              + address % PAGE
              + " of a page");
    }
    return new Range(address, bytes, forAll ? READ_ONLY_FOR_ALL : READ_ONLY, null);
  }

  /** Returns the device address of a page that any context has registered for all. */
  long addressOf(long address) {
    DeviceAddress device = new DeviceAddress();
    context.call(
        "cuMemHostGetDevicePointer",
        () -> JCudaDriver.cuMemHostGetDevicePointer(device, new HostAddress(address), 0));
    return device.address();
  }

  /** Ends all registrations and ignores driver errors. */
  void releaseAll() {
    for (Range range : registered) {
      JCudaDriver.cuMemHostUnregister(range.host);
    }
    registered.clear();
  }

  /** A range of registered pages. */
  private final class Range implements CudaDriver.PinnedMemory, CudaDriver.Registration {
    private final HostAddress host;
    private final MemorySegment segment;
    private final long deviceAddress;
    private final AtomicBoolean released = new AtomicBoolean();

    Range(long address, long bytes, int flags, MemorySegment segment) {
      host = new HostAddress(address);
      this.segment = segment;
      int result =
          context.result(
              "cuMemHostRegister", () -> JCudaDriver.cuMemHostRegister(host, bytes, flags));
      if (result != CUresult.CUDA_SUCCESS) {
        // the driver's answer for mappings that cannot be registered, for instance of a file open
        // for writing
        boolean unfit = flags != PINNED && result == CUresult.CUDA_ERROR_INVALID_VALUE;
        throw CudaErrors.failure(
            unfit ? GpuException.Kind.NOT_SUPPORTED : CudaErrors.kind(result),
            result,
            "cuMemHostRegister of " + bytes + " bytes");
      }
      registered.add(this);
      DeviceAddress device = new DeviceAddress();
      try {
        context.call(
            "cuMemHostGetDevicePointer",
            () -> JCudaDriver.cuMemHostGetDevicePointer(device, host, 0));
      } catch (Throwable e) {
        registered.remove(this);
        JCudaDriver.cuMemHostUnregister(host);
        throw e;
      }
      deviceAddress = device.address();
    }

    @Override
    public MemorySegment segment() {
      return segment;
    }

    @Override
    public long deviceAddress() {
      return deviceAddress;
    }

    @Override
    public void free() {
      release();
    }

    @Override
    public void release() {
      if (released.getAndSet(true)) {
        throw new IllegalStateException("host memory is released twice");
      }
      context.call("cuMemHostUnregister", () -> JCudaDriver.cuMemHostUnregister(host));
      registered.remove(this);
    }
  }
}
