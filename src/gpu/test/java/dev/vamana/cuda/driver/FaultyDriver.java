package dev.vamana.cuda.driver;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;

/** A driver that fails on request. */
public final class FaultyDriver extends ForwardingDriver {

  /** Operations that can be made to fail. */
  public enum Operation {
    ALLOCATE,
    ALLOCATE_PINNED,
    REGISTER,
    /** Copies in either direction, and fills. */
    COPY,
    LAUNCH,
    SYNCHRONIZE,
    /** Creating, recording, awaiting and asking events. */
    EVENT,
    /** Creating streams. */
    STREAM,
    /** Looking kernels up. */
    KERNEL
  }

  private record Fault(long from, long to, GpuException.Kind kind) {}

  private final Map<Operation, Long> counts = new EnumMap<>(Operation.class);
  private final Map<Operation, Fault> faults = new EnumMap<>(Operation.class);
  private SplittableRandom random;
  private double probability;
  private boolean failedAtRandom;
  private boolean lost;

  /** Passes everything on until told to fail. Closing it closes the driver. */
  public FaultyDriver(CudaDriver driver) {
    super(driver);
  }

  /**
   * The n-th of these operations fails, counted from now.
   *
   * @param n from 1
   * @param kind {@link GpuException.Kind#CONTEXT_LOST} makes all that follow fail too
   */
  public synchronized FaultyDriver fail(Operation operation, long n, GpuException.Kind kind) {
    long at = count(operation) + n;
    faults.put(operation, new Fault(at, at, kind));
    return this;
  }

  /** All of these operations fail, from now. */
  public synchronized FaultyDriver failAll(Operation operation, GpuException.Kind kind) {
    faults.put(operation, new Fault(0, Long.MAX_VALUE, kind));
    return this;
  }

  /**
   * Any operation fails with this probability, one failure in eight with the context lost;
   * reproducible for calls in the same order.
   */
  public synchronized FaultyDriver failAtRandom(long seed, double chance) {
    random = new SplittableRandom(seed);
    probability = chance;
    return this;
  }

  /** From now on nothing fails, unless the context is lost already. */
  public synchronized FaultyDriver heal() {
    faults.clear();
    random = null;
    return this;
  }

  /** From now on everything but closing fails. */
  public synchronized void lose() {
    lost = true;
    if (driver instanceof SimulatedDriver simulated) {
      simulated.lose("injected");
    }
  }

  /** Whether the context is lost. */
  public synchronized boolean lost() {
    return lost;
  }

  /** Calls so far, failed ones included. */
  public synchronized long count(Operation operation) {
    return counts.getOrDefault(operation, 0L);
  }

  private synchronized void enter(Operation operation) {
    checkContext();
    long call = counts.merge(operation, 1L, Long::sum);
    Fault fault = faults.get(operation);
    if (fault != null && call >= fault.from && call <= fault.to) {
      throw failure(fault.kind, operation, call);
    }
    if (random != null && random.nextDouble() < probability) {
      failedAtRandom = true;
      GpuException.Kind kind =
          random.nextInt(8) == 0
              ? GpuException.Kind.CONTEXT_LOST
              : operation == Operation.ALLOCATE || operation == Operation.ALLOCATE_PINNED
                  ? GpuException.Kind.OUT_OF_MEMORY
                  : operation == Operation.REGISTER
                      ? GpuException.Kind.NOT_SUPPORTED
                      : GpuException.Kind.FAILED;
      throw failure(kind, operation, call);
    }
  }

  private GpuException failure(GpuException.Kind kind, Operation operation, long call) {
    if (kind == GpuException.Kind.CONTEXT_LOST) {
      lose();
    }
    return new GpuException(kind, "injected into " + operation + " number " + call);
  }

  private synchronized void checkContext() {
    if (lost) {
      throw new GpuException(GpuException.Kind.CONTEXT_LOST, "lost before");
    }
  }

  @Override
  public void bind() {
    checkContext();
    super.bind();
  }

  @Override
  public long allocate(long bytes) {
    enter(Operation.ALLOCATE);
    return super.allocate(bytes);
  }

  @Override
  public void free(long address) {
    checkContext();
    super.free(address);
  }

  @Override
  public long freeBytes() {
    checkContext();
    return super.freeBytes();
  }

  @Override
  public PinnedMemory allocatePinned(long bytes) {
    enter(Operation.ALLOCATE_PINNED);
    PinnedMemory memory = super.allocatePinned(bytes);
    return new PinnedMemory(
        memory.segment(),
        memory.deviceAddress(),
        () -> {
          checkContext();
          memory.free();
        });
  }

  @Override
  public Registration register(long address, long bytes) {
    enter(Operation.REGISTER);
    Registration registration = super.register(address, bytes);
    return new Registration(
        registration.deviceAddress(),
        () -> {
          checkContext();
          registration.release();
        });
  }

  @Override
  public long createStream(Urgency urgency) {
    enter(Operation.STREAM);
    return super.createStream(urgency);
  }

  @Override
  public void destroyStream(long stream) {
    checkContext();
    super.destroyStream(stream);
  }

  @Override
  public boolean idle(long stream) {
    checkContext();
    if (super.idle(stream) == false) {
      return false;
    }
    // once for each wait, however long it is
    enter(Operation.SYNCHRONIZE);
    return true;
  }

  @Override
  public long createEvent() {
    enter(Operation.EVENT);
    return super.createEvent();
  }

  @Override
  public void destroyEvent(long event) {
    checkContext();
    super.destroyEvent(event);
  }

  @Override
  public void record(long event, long stream) {
    enter(Operation.EVENT);
    super.record(event, stream);
  }

  @Override
  public void await(long event, long stream) {
    enter(Operation.EVENT);
    super.await(event, stream);
  }

  @Override
  public boolean done(long event) {
    enter(Operation.EVENT);
    return super.done(event);
  }

  @Override
  public void copyToDevice(long target, MemorySegment source, long stream) {
    enter(Operation.COPY);
    super.copyToDevice(target, source, stream);
  }

  @Override
  public void copyRowsToDevice(
      long target, long targetPitch, MemorySegment source, long width, long rows, long stream) {
    enter(Operation.COPY);
    super.copyRowsToDevice(target, targetPitch, source, width, rows, stream);
  }

  @Override
  public void copyFromDevice(MemorySegment target, long source, long stream) {
    enter(Operation.COPY);
    super.copyFromDevice(target, source, stream);
  }

  @Override
  public void fill(long target, byte value, long bytes, long stream) {
    enter(Operation.COPY);
    super.fill(target, value, bytes, stream);
  }

  @Override
  public Kernel kernel(String name) {
    enter(Operation.KERNEL);
    return super.kernel(name);
  }

  @Override
  public void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream) {
    enter(Operation.LAUNCH);
    super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
  }

  @Override
  public void close() {
    synchronized (this) {
      // Two failures in a row, or one while all is torn down, make the owner give the context up
      // and leave what is in it to the driver, as for a lost one.
      if (failedAtRandom && lost == false) {
        lose();
      }
    }
    super.close();
  }
}
