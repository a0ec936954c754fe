package dev.vamana.cuda.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A device made of native memory. It supports everything except kernels, which the host can run
 * through {@link SimulatedKernels}. Device, pinned and registered memory are at the addresses that
 * kernels get.
 *
 * <p>Mistakes that a real device may tolerate end in an {@link AssertionError}, which is thrown
 * again when the driver is closed in case it was caught: a thread that is not bound, copies outside
 * an allocation, use after free, double free, registering a page twice, and resources left when the
 * driver is closed, except after a lost context.
 */
public final class SimulatedDriver implements CudaDriver {

  /** Size of a page. */
  public static final long PAGE = 4096;

  private static final long MAX_HOST_BYTES = 1L << 30;
  private static final int SHARED_BYTES_PER_BLOCK = SimulatedKernel.SHARED_BYTES_PER_BLOCK;

  /** The context that is current on a thread. */
  private static final ThreadLocal<SimulatedDriver> CURRENT = new ThreadLocal<>();

  private final SimulatedKernels kernels;
  private final boolean threaded;
  private DeviceInfo device;
  private final SimulatedMemory memory;
  private final SimulatedMemory pinned = new SimulatedMemory("pinned", Long.MAX_VALUE);
  private final RegisteredPages registered = new RegisteredPages();
  private RegisteredPages host = new RegisteredPages();
  private final Map<Long, SimulatedStream> streams = new ConcurrentHashMap<>();
  private final Map<Long, CompletableFuture<Void>> events = new ConcurrentHashMap<>();
  private final AtomicLong handles = new AtomicLong();
  private final AtomicLong launches = new AtomicLong();
  private final List<String> mistakes = new ArrayList<>();
  private volatile boolean registers = true;
  private volatile String lost;
  private volatile boolean closed;

  /**
   * A device.
   *
   * @param kernels what it can run
   * @param deviceBytes size of its memory
   * @param threaded whether every stream has a thread of its own, or work is done at once
   */
  public SimulatedDriver(SimulatedKernels kernels, long deviceBytes, boolean threaded) {
    this.kernels = kernels;
    this.threaded = threaded;
    device = SimulatedDevice.info(0, 90, SHARED_BYTES_PER_BLOCK, deviceBytes);
    memory = new SimulatedMemory("device", deviceBytes);
  }

  /** Puts the device into a machine with others, where no page may be registered twice. */
  public SimulatedDriver in(RegisteredPages pages, int ordinal) {
    host = pages;
    device = SimulatedDevice.info(ordinal, 90, SHARED_BYTES_PER_BLOCK, device.totalBytes());
    return this;
  }

  /** Gives blocks other than 227 KiB of shared memory, for instance the 64 KiB of a T4. */
  public SimulatedDriver sharedBytesPerBlock(int bytes) {
    device = SimulatedDevice.info(0, 75, bytes, device.totalBytes());
    return this;
  }

  /** Whether {@link #register} works (it does unless told otherwise). */
  public SimulatedDriver registers(boolean value) {
    registers = value;
    return this;
  }

  /** Loses the context, as a trapped kernel does. */
  public void lose(String why) {
    lost = why;
  }

  /** Bytes of device memory in use. */
  public long deviceBytes() {
    return memory.liveBytes();
  }

  /** Bytes of pinned memory in use. */
  public long pinnedBytes() {
    return pinned.liveBytes();
  }

  /** Bytes registered now. */
  public long registeredBytes() {
    return registered.bytes();
  }

  /** Kernels started so far. */
  public long launches() {
    return launches.get();
  }

  /** Names everything that is allocated, registered or created now. */
  public List<String> leftovers() {
    List<String> left = new ArrayList<>(memory.liveBlocks());
    left.addAll(pinned.liveBlocks());
    left.addAll(registered.ranges());
    streams.keySet().forEach(stream -> left.add("stream " + stream));
    events.keySet().forEach(event -> left.add("event " + event));
    return left;
  }

  @Override
  public DeviceInfo device() {
    return device;
  }

  @Override
  public void bind() {
    if (closed) {
      throw mistake("bind to a closed driver");
    }
    CURRENT.set(this);
  }

  @Override
  public long allocate(long bytes) {
    check();
    return memory.allocate(bytes).address();
  }

  @Override
  public void free(long address) {
    check();
    drain();
    if (memory.free(address) == null) {
      throw mistake(
          memory.wasFreed(address)
              ? "device memory freed twice"
              : "freeing what is not an allocation");
    }
  }

  @Override
  public long freeBytes() {
    check();
    return memory.remaining();
  }

  @Override
  public PinnedMemory allocatePinned(long bytes) {
    check();
    if (bytes < 1) {
      throw new IllegalArgumentException("pinned bytes must be 1 or more, not " + bytes);
    }
    MemorySegment segment = pinned.allocate(bytes);
    return new PinnedMemory(
        segment,
        segment.address(),
        () -> {
          check();
          drain();
          if (pinned.free(segment.address()) == null) {
            throw mistake("pinned memory freed twice");
          }
        });
  }

  @Override
  public Registration register(long address, long bytes) {
    check();
    if (bytes < 1 || bytes > MAX_HOST_BYTES || bytes % PAGE != 0 || address % PAGE != 0) {
      throw mistake("registering " + bytes + " bytes at " + address + ": not whole pages");
    }
    if (registers == false) {
      throw new GpuException(GpuException.Kind.NOT_SUPPORTED, "read-only registration");
    }
    if (registered.add(address, bytes) == false) {
      throw mistake("a page is registered twice");
    }
    if (host.add(address, bytes) == false) {
      registered.remove(address);
      throw new GpuException(
          GpuException.Kind.OUT_OF_MEMORY, "another context has registered a page");
    }
    AtomicBoolean released = new AtomicBoolean();
    return new Registration(
        address,
        () -> {
          check();
          if (released.getAndSet(true) || registered.remove(address) == false) {
            throw mistake("a registration is released twice");
          }
          host.remove(address);
        });
  }

  @Override
  public long createStream(Urgency urgency) {
    check();
    long handle = handles.incrementAndGet();
    streams.put(handle, new SimulatedStream(threaded));
    return handle;
  }

  @Override
  public void destroyStream(long stream) {
    check();
    stream(stream).close();
    streams.remove(stream);
  }

  @Override
  public boolean idle(long stream) {
    check();
    boolean idle = stream(stream).last().isDone();
    check();
    return idle;
  }

  @Override
  public long createEvent() {
    check();
    long handle = handles.incrementAndGet();
    events.put(handle, CompletableFuture.completedFuture(null));
    return handle;
  }

  @Override
  public void destroyEvent(long event) {
    check();
    event(event);
    events.remove(event);
  }

  @Override
  public void record(long event, long stream) {
    check();
    event(event);
    events.put(event, stream(stream).last());
  }

  @Override
  public void await(long event, long stream) {
    check();
    CompletableFuture<Void> before = event(event);
    stream(stream).add(before::join);
  }

  @Override
  public boolean done(long event) {
    check();
    boolean done = event(event).isDone();
    check();
    return done;
  }

  @Override
  public void copyToDevice(long target, MemorySegment source, long stream) {
    check();
    MemorySegment from = source(source);
    MemorySegment to = deviceBytes("copy to the device", target, source.byteSize());
    enqueue(stream, () -> to.copyFrom(from));
  }

  @Override
  public void copyRowsToDevice(
      long target, long targetPitch, MemorySegment source, long width, long rows, long stream) {
    check();
    MemorySegment from = source(source);
    if (width < 1 || width > targetPitch || rows < 1 || source.byteSize() != width * rows) {
      throw mistake(
          rows + " rows of " + width + " bytes, pitch " + targetPitch + ", from " + source);
    }
    MemorySegment to =
        deviceBytes("copy rows to the device", target, (rows - 1) * targetPitch + width);
    enqueue(
        stream,
        () -> {
          for (long row = 0; row < rows; row++) {
            MemorySegment.copy(from, row * width, to, row * targetPitch, width);
          }
        });
  }

  @Override
  public void copyFromDevice(MemorySegment target, long source, long stream) {
    check();
    checkNative(target);
    MemorySegment to = unconfined(target);
    MemorySegment from = deviceBytes("copy from the device", source, target.byteSize());
    enqueue(stream, () -> to.copyFrom(from));
    if (staysInPlace(target) == false) {
      stream(stream).last().join();
    }
  }

  @Override
  public void fill(long target, byte value, long bytes, long stream) {
    check();
    MemorySegment to = deviceBytes("fill", target, bytes);
    enqueue(stream, () -> to.fill(value));
  }

  @Override
  public Kernel kernel(String name) {
    check();
    SimulatedKernels.Body body = kernels.find(name);
    if (body == null) {
      throw new GpuException(GpuException.Kind.FAILED, "no kernel is named " + name);
    }
    return new SimulatedKernel(name, body);
  }

  @Override
  public void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream) {
    check();
    checkNative(parameters);
    SimulatedKernel simulated = (SimulatedKernel) kernel;
    if (blocks < 1 || threads < 1 || threads > 1024) {
      throw mistake(blocks + " blocks of " + threads + " threads");
    }
    if (sharedBytes < 0 || sharedBytes > device.sharedBytesPerBlock()) {
      throw mistake(sharedBytes + " bytes of shared memory");
    }
    launches.incrementAndGet();
    byte[] copy = parameters.toArray(ValueLayout.JAVA_BYTE);
    enqueue(
        stream,
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            MemorySegment block = arena.allocate(copy.length, 16);
            block.copyFrom(MemorySegment.ofArray(copy));
            simulated.body().run(blocks, threads, sharedBytes, block);
          }
        });
  }

  @Override
  public void close() {
    if (closed) {
      return;
    }
    if (CURRENT.get() == this) {
      CURRENT.remove();
    }
    closed = true;
    List<String> left = leftovers();
    registered.addresses().forEach(host::remove);
    streams.values().forEach(SimulatedStream::close);
    memory.close();
    pinned.close();
    synchronized (mistakes) {
      if (mistakes.isEmpty() == false) {
        throw new AssertionError("mistakes before the driver was closed: " + mistakes);
      }
    }
    if (lost == null && left.isEmpty() == false) {
      throw new AssertionError("left over when the driver was closed: " + left);
    }
  }

  private void check() {
    if (closed) {
      throw mistake("use of a closed driver");
    }
    if (CURRENT.get() != this) {
      throw mistake("thread " + Thread.currentThread().getName() + " did not bind");
    }
    if (lost != null) {
      throw new GpuException(GpuException.Kind.CONTEXT_LOST, lost);
    }
  }

  private AssertionError mistake(String what) {
    synchronized (mistakes) {
      mistakes.add(what);
    }
    return new AssertionError(what);
  }

  /** Source of a copy to the device. Ordinary memory may be reused as soon as the call returns. */
  private MemorySegment source(MemorySegment host) {
    checkNative(host);
    return staysInPlace(host)
        ? unconfined(host)
        : MemorySegment.ofArray(host.toArray(ValueLayout.JAVA_BYTE));
  }

  /** Streams run in threads that an arena may not know. */
  private static MemorySegment unconfined(MemorySegment host) {
    return MemorySegment.ofAddress(host.address()).reinterpret(host.byteSize());
  }

  /** Whether the device reads and writes this memory itself: it is pinned or registered. */
  private boolean staysInPlace(MemorySegment host) {
    return pinned.find(host.address(), host.byteSize()) != null
        || this.host.hold(host.address(), host.byteSize());
  }

  private void checkNative(MemorySegment host) {
    if (host.isNative() == false) {
      throw mistake("host memory on the heap");
    }
  }

  private SimulatedStream stream(long handle) {
    SimulatedStream stream = streams.get(handle);
    if (stream == null) {
      throw mistake("no stream " + handle);
    }
    return stream;
  }

  private CompletableFuture<Void> event(long handle) {
    CompletableFuture<Void> event = events.get(handle);
    if (event == null) {
      throw mistake("no event " + handle);
    }
    return event;
  }

  /** The bytes of device or pinned memory at an address. */
  private MemorySegment deviceBytes(String what, long address, long bytes) {
    MemorySegment found = memory.find(address, bytes);
    if (found == null) {
      found = pinned.find(address, bytes);
    }
    if (found == null) {
      throw mistake(
          what
              + (memory.wasFreed(address) ? " of freed memory" : " outside of an allocation")
              + ": "
              + bytes
              + " bytes");
    }
    return found;
  }

  /** Work after the context was lost is not done; work that throws loses it. */
  private void enqueue(long stream, Runnable work) {
    stream(stream)
        .add(
            () -> {
              if (lost == null) {
                try {
                  work.run();
                } catch (Throwable e) {
                  lost = "work of a stream failed: " + e;
                }
              }
            });
  }

  /** The driver frees memory when nothing runs any more. */
  private void drain() {
    streams.values().forEach(stream -> stream.last().join());
  }
}
