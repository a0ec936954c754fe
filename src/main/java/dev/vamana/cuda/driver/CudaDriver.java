package dev.vamana.cuda.driver;

import java.io.Closeable;
import java.lang.foreign.MemorySegment;

/**
 * One device and one context on it: everything the project asks of the CUDA driver, and the seam
 * where tests let it fail.
 *
 * <p>A thread calls {@link #bind()} before anything else. All methods throw {@link GpuException};
 * after one that says {@link GpuException#contextLost()} nothing but {@link #close()} works, and a
 * new driver has to be opened.
 */
public interface CudaDriver extends Closeable {

  /** What the device is. */
  DeviceInfo device();

  /** Makes the context current on the calling thread. */
  void bind();

  /** Allocates device memory, aligned to 256 bytes; its address. */
  long allocate(long bytes);

  /** Frees what {@link #allocate} gave. */
  void free(long address);

  /** Free bytes of the device's memory, which others may use too. */
  long freeBytes();

  /**
   * Allocates pinned host memory that the device can read and write in place.
   *
   * @param bytes 1 to 1 GiB
   */
  PinnedMemory allocatePinned(long bytes);

  /**
   * Lets the device read mapped host memory in place.
   *
   * @param address of the first page
   * @param bytes whole pages, at most 1 GiB
   * @throws GpuException with {@link GpuException.Kind#NOT_SUPPORTED} if read-only registration is
   *     not to be had
   */
  Registration register(long address, long bytes);

  /** A stream that does not wait for the default stream. */
  long createStream();

  void destroyStream(long stream);

  /** Waits for all work of a stream. */
  void synchronize(long stream);

  /** An event without timing. */
  long createEvent();

  void destroyEvent(long event);

  /** The event is done when the work now in the stream is. */
  void record(long event, long stream);

  /** Work that follows in the stream waits for the event. */
  void await(long event, long stream);

  /** Whether the event is done. */
  boolean done(long event);

  /** Copies pinned (or ordinary) host memory to the device, in stream order. */
  void copyToDevice(long target, MemorySegment source, long stream);

  /** Copies rows of {@code width} bytes from densely packed to {@code targetPitch} bytes apart. */
  void copyRowsToDevice(
      long target, long targetPitch, MemorySegment source, long width, long rows, long stream);

  /** Copies device memory to pinned host memory, in stream order. */
  void copyFromDevice(MemorySegment target, long source, long stream);

  /** Sets bytes of device memory, in stream order. */
  void fill(long target, byte value, long bytes, long stream);

  /**
   * Finds a kernel of the project's module.
   *
   * @throws GpuException if there is none of this name
   */
  Kernel kernel(String name);

  /**
   * Starts a kernel.
   *
   * @param blocks thread blocks
   * @param threads threads of a block
   * @param sharedBytes dynamic shared memory of a block
   * @param parameters the kernel's only parameter, a struct passed by value, in native memory; may
   *     be reused once this returns
   */
  void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream);

  /** Destroys the context and all that was made in it. */
  @Override
  void close();

  /** Pinned host memory. */
  interface PinnedMemory {
    /** The bytes. */
    MemorySegment segment();

    /** Where the device sees them. */
    long deviceAddress();

    /** Unpins and frees. */
    void free();
  }

  /** Host memory that the device reads in place. */
  interface Registration {
    /** Where the device sees the first byte. */
    long deviceAddress();

    /** Ends it; no kernel may be reading. */
    void release();
  }

  /** A loaded kernel. */
  interface Kernel {
    String name();

    /**
     * Which part of the memory that a multiprocessor shares between L1 cache and shared memory goes
     * to the latter.
     *
     * @param percent 0 to 100, or -1 for the choice of the driver, which is where a kernel starts
     */
    void preferSharedMemory(int percent);

    /** Blocks that fit a multiprocessor at once; 0 if not even one does. */
    int blocksPerMultiprocessor(int threads, int sharedBytes);
  }
}
