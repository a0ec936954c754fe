package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.kernel.ItemLayout;
import dev.vamana.cuda.kernel.ResultLayout;
import dev.vamana.cuda.kernel.WalkLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A device that needs no time: walks end when they are launched, with the first ordinals as hits.
 * So a call takes what the host needs for it. Device memory is only counted.
 */
final class InstantDriver implements CudaDriver {

  private static final MemorySegment MEMORY = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);
  private static final int PAGE = 4096;

  private final AtomicLong handles = new AtomicLong(1);
  private final AtomicLong addresses = new AtomicLong(PAGE);

  private record Named(String name) implements Kernel {
    @Override
    public int blocksPerMultiprocessor(int threads, int sharedBytes) {
      return Math.max(1, 512 / threads);
    }
  }

  private record Pinned(Arena arena, MemorySegment segment) implements PinnedMemory {
    @Override
    public long deviceAddress() {
      return segment.address();
    }

    @Override
    public void free() {
      arena.close();
    }
  }

  @Override
  public DeviceInfo device() {
    return new DeviceInfo(0, "instant", 90, 132, 232_448, 50 << 20, 64L << 30, 13_000, null);
  }

  @Override
  public long allocate(long bytes) {
    return addresses.getAndAdd(Math.ceilDiv(bytes, PAGE) * PAGE);
  }

  @Override
  public long freeBytes() {
    return device().totalBytes();
  }

  @Override
  public PinnedMemory allocatePinned(long bytes) {
    Arena arena = Arena.ofShared();
    MemorySegment segment = arena.allocate(bytes, PAGE);
    // as the driver's memory, which no arena may close while it is read
    return new Pinned(arena, MemorySegment.ofAddress(segment.address()).reinterpret(bytes));
  }

  @Override
  public Registration register(long address, long bytes) {
    return new Registration() {
      @Override
      public long deviceAddress() {
        return address;
      }

      @Override
      public void release() {}
    };
  }

  @Override
  public long createStream(Urgency urgency) {
    return handles.incrementAndGet();
  }

  @Override
  public long createEvent() {
    return handles.incrementAndGet();
  }

  @Override
  public boolean done(long event) {
    return true;
  }

  @Override
  public Kernel kernel(String name) {
    return new Named(name);
  }

  @Override
  public void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream) {
    if (kernel.name().startsWith("walk_") == false) {
      return;
    }
    int count = parameters.get(ValueLayout.JAVA_INT, WalkLayout.COUNT);
    long items = parameters.get(ValueLayout.JAVA_LONG, WalkLayout.ITEMS);
    int flags = parameters.get(ValueLayout.JAVA_INT, WalkLayout.FLAGS);
    boolean sideBySide = (flags & WalkLayout.FLAG_SIDE_BY_SIDE) != 0;
    for (int i = 0; i < count; i++) {
      answer(
          sideBySide
              ? items + (long) i * ItemLayout.BYTES
              : MEMORY.get(ValueLayout.JAVA_LONG, items + (long) i * Long.BYTES));
    }
  }

  private static void answer(long item) {
    long result = MEMORY.get(ValueLayout.JAVA_LONG, item + ItemLayout.RESULT);
    int k = MEMORY.get(ValueLayout.JAVA_INT, item + ItemLayout.K);
    int capacity = MEMORY.get(ValueLayout.JAVA_INT, item + ItemLayout.CAPACITY);
    for (int i = 0; i < k; i++) {
      MEMORY.set(ValueLayout.JAVA_INT, result + ResultLayout.ordinals() + i * 4L, i);
      MEMORY.set(
          ValueLayout.JAVA_FLOAT, result + ResultLayout.scores(capacity) + i * 4L, 1f / (1 + i));
    }
    MEMORY.set(ValueLayout.JAVA_INT, result + ResultLayout.VISITED, k);
    MEMORY.set(ValueLayout.JAVA_INT, result + ResultLayout.ITERATIONS, k);
    MEMORY.set(ValueLayout.JAVA_INT, result + ResultLayout.FLAGS, ResultLayout.FLAG_COMPLETE);
    MEMORY.set(ValueLayout.JAVA_INT, result + ResultLayout.COUNT, k);
  }

  @Override
  public void bind() {}

  @Override
  public void free(long address) {}

  @Override
  public void destroyStream(long stream) {}

  @Override
  public boolean idle(long stream) {
    return true;
  }

  @Override
  public void destroyEvent(long event) {}

  @Override
  public void record(long event, long stream) {}

  @Override
  public void await(long event, long stream) {}

  @Override
  public void copyToDevice(long target, MemorySegment source, long stream) {}

  @Override
  public void copyRowsToDevice(
      long target, long targetPitch, MemorySegment source, long width, long rows, long stream) {}

  @Override
  public void copyFromDevice(MemorySegment target, long source, long stream) {}

  @Override
  public void fill(long target, byte value, long bytes, long stream) {}

  @Override
  public void close() {}
}
