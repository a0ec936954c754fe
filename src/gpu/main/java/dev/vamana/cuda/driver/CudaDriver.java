package dev.vamana.cuda.driver;

import java.io.Closeable;
import java.lang.foreign.MemorySegment;

/**
 * One device with one context: the part of the CUDA driver that the project uses. Tests implement
 * it with a simulated driver that can fail.
 *
 * <p>A thread has to call {@link #bind()} before any other method. All methods throw {@link
 * GpuException}. After an exception with {@link GpuException#contextLost()} only {@link #close()}
 * works, and the caller has to open a new driver.
 */
public interface CudaDriver extends Closeable {

  /** Returns the device's properties. */
  DeviceInfo device();

  /** Makes the context current on the calling thread. */
  void bind();

  /** Allocates device memory aligned to 256 bytes, and returns its address. */
  long allocate(long bytes);

  /** Frees memory that {@link #allocate} returned. */
  void free(long address);

  /** Returns the free bytes of the device's memory, which other processes use too. */
  long freeBytes();

  /**
   * Allocates pinned host memory that the device can read and write in place.
   *
   * @param bytes 1 or more
   */
  PinnedMemory allocatePinned(long bytes);

  /**
   * Lets the device read mapped host memory in place.
   *
   * @param address address of the first page
   * @param bytes whole pages, at most 1 GiB
   * @throws GpuException with {@link GpuException.Kind#NOT_SUPPORTED} if the driver cannot register
   *     this memory for reading, with {@link GpuException.Kind#OUT_OF_MEMORY} as long as another
   *     context of the process has registered a page of it
   */
  Registration register(long address, long bytes);

  /** Who waits for the work of a stream. */
  enum Urgency {
    /** A search: its blocks start before waiting blocks of background work. */
    SEARCH,
    /** Nobody in particular, as for a graph or a codebook. */
    BACKGROUND
  }

  /** Creates a stream for searches that does not synchronize with the default stream. */
  default long createStream() {
    return createStream(Urgency.SEARCH);
  }

  /** Creates a stream that does not synchronize with the default stream. */
  long createStream(Urgency urgency);

  void destroyStream(long stream);

  /** Whether all work in a stream is done. */
  boolean idle(long stream);

  /** Waits for all work in a stream, until {@link #deadline}. */
  default void synchronize(long stream) {
    deadline().await(() -> idle(stream));
  }

  /** Returns how long work in this context may take. */
  default Deadline deadline() {
    return new Deadline(Long.MAX_VALUE);
  }

  /** Creates an event without timing. */
  long createEvent();

  void destroyEvent(long event);

  /** Records an event: it is done when all work now in the stream is done. */
  void record(long event, long stream);

  /** Makes later work in the stream wait for the event. */
  void await(long event, long stream);

  /** Whether the event is done. */
  boolean done(long event);

  /** Copies pinned or ordinary host memory to the device, in stream order. */
  void copyToDevice(long target, MemorySegment source, long stream);

  /**
   * Copies densely packed rows of {@code width} bytes to rows that start {@code targetPitch} bytes
   * apart.
   */
  void copyRowsToDevice(
      long target, long targetPitch, MemorySegment source, long width, long rows, long stream);

  /** Copies device memory to pinned host memory, in stream order. */
  void copyFromDevice(MemorySegment target, long source, long stream);

  /** Fills device memory with a byte value, in stream order. */
  void fill(long target, byte value, long bytes, long stream);

  /**
   * Finds a kernel in the project's modules.
   *
   * @throws GpuException if no kernel has this name
   */
  Kernel kernel(String name);

  /**
   * Launches a kernel.
   *
   * @param blocks number of thread blocks
   * @param threads threads of a block
   * @param sharedBytes dynamic shared memory of a block
   * @param parameters the kernel's only parameter, a struct passed by value, in native memory; it
   *     may be reused when this method returns
   */
  void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream);

  /** Destroys the context and everything created in it. */
  @Override
  void close();

  /**
   * Pinned host memory.
   *
   * @param deviceAddress device address of the first byte
   * @param freeing unpins and frees the memory
   */
  record PinnedMemory(MemorySegment segment, long deviceAddress, Runnable freeing) {
    /** Unpins and frees the memory. */
    public void free() {
      freeing.run();
    }
  }

  /**
   * Mapped host memory that the device reads in place.
   *
   * @param deviceAddress device address of the first byte
   * @param releasing ends the registration
   */
  record Registration(long deviceAddress, Runnable releasing) {
    /** Ends the registration. No kernel may be reading the memory. */
    public void release() {
      releasing.run();
    }
  }

  /** A loaded kernel. */
  interface Kernel {
    String name();

    /** Returns how many blocks fit a multiprocessor at once; 0 if none fits. */
    int blocksPerMultiprocessor(int threads, int sharedBytes);
  }
}
