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
    Range range = new Range(pages.address(), pages.byteSize(), PINNED);
    return new CudaDriver.PinnedMemory(
        pages.asSlice(0, bytes), range.deviceAddress, range::release);
  }

  /** Registers pages for reading. */
  CudaDriver.Registration readOnly(long address, long bytes) {
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
    Range range = new Range(address, bytes, READ_ONLY);
    return new CudaDriver.Registration(range.deviceAddress, range::release);
  }

  /** Ends all registrations and ignores driver errors. */
  void releaseAll() {
    for (Range range : registered) {
      JCudaDriver.cuMemHostUnregister(range.host);
    }
    registered.clear();
  }

  /** A range of registered pages. */
  private final class Range {
    private final HostAddress host;
    private final long deviceAddress;
    private final AtomicBoolean released = new AtomicBoolean();

    Range(long address, long bytes, int flags) {
      host = new HostAddress(address);
      int result =
          context.result(
              "cuMemHostRegister", () -> JCudaDriver.cuMemHostRegister(host, bytes, flags));
      if (result != CUresult.CUDA_SUCCESS) {
        throw CudaErrors.failure(
            kind(result, flags), result, "cuMemHostRegister of " + bytes + " bytes");
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

    private static GpuException.Kind kind(int result, int flags) {
      if (flags != PINNED && result == CUresult.CUDA_ERROR_INVALID_VALUE) {
        // mappings that cannot be registered, for instance of a file open for writing
        return GpuException.Kind.NOT_SUPPORTED;
      }
      return result == CUresult.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
          ? GpuException.Kind.OUT_OF_MEMORY
          : CudaErrors.kind(result);
    }

    void release() {
      if (released.getAndSet(true)) {
        throw new IllegalStateException("host memory is released twice");
      }
      context.call("cuMemHostUnregister", () -> JCudaDriver.cuMemHostUnregister(host));
      registered.remove(this);
    }
  }
}
