package dev.vamana.cuda.driver;

import java.util.EnumMap;
import java.util.Map;
import java.util.SplittableRandom;

/** A driver that fails on request. */
public final class FaultyDriver extends InterceptedDriver {

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
  protected void enter(Call call) {
    switch (call) {
      case ALLOCATE -> enter(Operation.ALLOCATE);
      case ALLOCATE_PINNED -> enter(Operation.ALLOCATE_PINNED);
      case REGISTER -> enter(Operation.REGISTER);
      case CREATE_STREAM -> enter(Operation.STREAM);
      case IDLE -> enter(Operation.SYNCHRONIZE);
      case CREATE_EVENT, RECORD, AWAIT, DONE -> enter(Operation.EVENT);
      case COPY_TO_DEVICE, COPY_ROWS_TO_DEVICE, COPY_FROM_DEVICE, FILL -> enter(Operation.COPY);
      case KERNEL -> enter(Operation.KERNEL);
      case LAUNCH -> enter(Operation.LAUNCH);
      default -> checkContext();
    }
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
