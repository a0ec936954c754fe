package dev.vamana.cuda.driver;

import java.lang.foreign.MemorySegment;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.function.BooleanSupplier;

/**
 * A simulated device on which one call of the driver goes wrong in one way. It counts every call
 * from the moment a fault is armed, or counting begins.
 */
public final class SeamDriver extends InterceptedDriver {

  /** How a call goes wrong. */
  public enum Fault {
    FAILED("fails once", GpuException.Kind.FAILED),
    OUT_OF_MEMORY("out of memory once", GpuException.Kind.OUT_OF_MEMORY),
    NOT_SUPPORTED("not supported once", GpuException.Kind.NOT_SUPPORTED),
    UNAVAILABLE("unavailable once", GpuException.Kind.UNAVAILABLE),
    CONTEXT_LOST("context lost", GpuException.Kind.CONTEXT_LOST),
    ALWAYS_FAILS("fails from then on", GpuException.Kind.FAILED),
    ALWAYS_OUT_OF_MEMORY("out of memory from then on", GpuException.Kind.OUT_OF_MEMORY),
    TRAPPED("kernel traps", null),
    ENDLESS("kernel never ends", null);

    private final String title;
    private final GpuException.Kind kind;

    Fault(String title, GpuException.Kind kind) {
      this.title = title;
      this.kind = kind;
    }

    /** The fault in words, for tables. */
    public String title() {
      return title;
    }

    /** Whether the fault is one of a kernel, not of the call itself. */
    public boolean ofKernel() {
      return kind == null;
    }

    private boolean lasts() {
      return this == ALWAYS_FAILS || this == ALWAYS_OUT_OF_MEMORY;
    }
  }

  private static final String TRAP = "a kernel that traps";
  private static final String ENDLESS = "a kernel that never ends";

  private final SimulatedDriver simulated;
  private final Map<Call, Integer> counts = new EnumMap<>(Call.class);
  private Call faulty;
  private Fault fault;
  private int at;
  private boolean hit;
  private boolean lost;
  private boolean leaves;
  private BooleanSupplier givenUp = () -> false;
  private volatile boolean closed;
  private volatile Throwable problem;

  private SeamDriver(SimulatedDriver simulated) {
    super(simulated);
    this.simulated = simulated;
  }

  /**
   * Makes a device.
   *
   * @param threaded whether streams have threads; endless kernels need it
   * @param end lets endless kernels end when it is counted down
   */
  public static SeamDriver make(
      SimulatedKernels kernels, long deviceBytes, boolean threaded, CountDownLatch end) {
    SimulatedKernels all =
        name ->
            switch (name) {
              case TRAP ->
                  (blocks, threads, sharedBytes, parameters) -> {
                    throw new IllegalStateException("trapped");
                  };
              case ENDLESS ->
                  (blocks, threads, sharedBytes, parameters) -> {
                    try {
                      end.await();
                    } catch (InterruptedException e) {
                      throw new IllegalStateException(e);
                    }
                    // kernels behind it never run: they would read what it did not write
                    throw new IllegalStateException("ended by the test");
                  };
              default -> kernels.find(name);
            };
    return new SeamDriver(new SimulatedDriver(all, deviceBytes, threaded));
  }

  /** The n-th such call from now on goes wrong. */
  public synchronized void arm(Call call, Fault how, int n) {
    counts.clear();
    faulty = call;
    fault = how;
    at = n;
  }

  /** Sets when the owner has given the context up, so that closing it frees what is left. */
  public synchronized void givenUp(BooleanSupplier condition) {
    givenUp = condition;
  }

  /** Begins to count. */
  public synchronized void count() {
    counts.clear();
  }

  /** Calls so far. */
  public synchronized Map<Call, Integer> counts() {
    return new EnumMap<>(counts);
  }

  /** No further call fails unless the context is lost. Returns whether any failed. */
  public synchronized boolean heal() {
    faulty = null;
    return hit;
  }

  /** Whether a fault was met. */
  public synchronized boolean hit() {
    return hit;
  }

  /** Whether the context is lost. */
  public synchronized boolean lost() {
    return lost;
  }

  /** The device. */
  public SimulatedDriver simulated() {
    return simulated;
  }

  private synchronized Fault meet(Call call) {
    if (lost && call != Call.CLOSE) {
      throw new GpuException(GpuException.Kind.CONTEXT_LOST, "lost before");
    }
    int n = counts.merge(call, 1, Integer::sum);
    if (call != faulty || (n != at && (fault.lasts() == false || n < at))) {
      return null;
    }
    hit = true;
    leaves |= call.gives() || fault == Fault.ENDLESS;
    return fault;
  }

  @Override
  protected void enter(Call call) {
    Fault met = meet(call);
    if (met != null) {
      throw failure(call, met);
    }
  }

  private GpuException failure(Call call, Fault met) {
    if (met == Fault.CONTEXT_LOST) {
      synchronized (this) {
        lost = true;
      }
      simulated.lose("injected");
    }
    return new GpuException(met.kind, "injected into " + call.method());
  }

  /** Gives something back, and fails afterwards if it is to fail. */
  @Override
  protected void give(Call call, Runnable action) {
    Fault met = meet(call);
    if (met != Fault.CONTEXT_LOST || call == Call.CLOSE) {
      action.run();
    }
    if (met != null) {
      throw failure(call, met);
    }
  }

  @Override
  public Kernel kernel(String name) {
    return new SeamKernel(super.kernel(name));
  }

  private final class SeamKernel implements Kernel {
    private final Kernel kernel;

    SeamKernel(Kernel kernel) {
      this.kernel = kernel;
    }

    @Override
    public String name() {
      return kernel.name();
    }

    @Override
    public int blocksPerMultiprocessor(int threads, int sharedBytes) {
      enter(Call.BLOCKS);
      return kernel.blocksPerMultiprocessor(threads, sharedBytes);
    }
  }

  @Override
  public void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream) {
    Fault met = meet(Call.LAUNCH);
    if (met != null && met.ofKernel() == false) {
      throw failure(Call.LAUNCH, met);
    }
    Kernel own =
        met == null
            ? ((SeamKernel) kernel).kernel
            : simulated.kernel(met == Fault.TRAPPED ? TRAP : ENDLESS);
    simulated.launch(own, blocks, threads, sharedBytes, parameters, stream);
  }

  /** Closes the device. It frees what is left, as a real one does, where a fault may leave some. */
  @Override
  public void close() {
    synchronized (this) {
      if (leaves || givenUp.getAsBoolean()) {
        simulated.lose("what a fault left is freed with the context");
      }
    }
    give(
        Call.CLOSE,
        () -> {
          try {
            super.close();
          } catch (Throwable e) {
            problem = e;
            throw e;
          } finally {
            closed = true;
          }
        });
  }

  /** Whether the device is closed. */
  public boolean closed() {
    return closed;
  }

  /** The problem that closing the device found, for instance leaked memory; null if nothing. */
  public Throwable problem() {
    return problem;
  }
}
