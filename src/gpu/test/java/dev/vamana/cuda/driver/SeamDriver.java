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
public final class SeamDriver extends ForwardingDriver {

  /** The calls of {@link CudaDriver} and of the objects that it hands out. */
  public enum Call {
    BIND("bind"),
    ALLOCATE("allocate"),
    FREE("free"),
    FREE_BYTES("freeBytes"),
    ALLOCATE_PINNED("allocatePinned"),
    FREE_PINNED("PinnedMemory.free"),
    REGISTER("register"),
    RELEASE("Registration.release"),
    CREATE_STREAM("createStream"),
    DESTROY_STREAM("destroyStream"),
    IDLE("idle"),
    CREATE_EVENT("createEvent"),
    DESTROY_EVENT("destroyEvent"),
    RECORD("record"),
    AWAIT("await"),
    DONE("done"),
    COPY_TO_DEVICE("copyToDevice"),
    COPY_ROWS_TO_DEVICE("copyRowsToDevice"),
    COPY_FROM_DEVICE("copyFromDevice"),
    FILL("fill"),
    KERNEL("kernel"),
    BLOCKS("Kernel.blocksPerMultiprocessor"),
    LAUNCH("launch"),
    CLOSE("close");

    private final String method;

    Call(String method) {
      this.method = method;
    }

    /** The method's name, for tables. */
    public String method() {
      return method;
    }

    /** Whether the call gives something back. It does so even if it fails. */
    public boolean gives() {
      return switch (this) {
        case FREE, FREE_PINNED, RELEASE, DESTROY_STREAM, DESTROY_EVENT, CLOSE -> true;
        default -> false;
      };
    }
  }

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

  private void enter(Call call) {
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
  private void give(Call call, Runnable action) {
    Fault met = meet(call);
    if (met != Fault.CONTEXT_LOST || call == Call.CLOSE) {
      action.run();
    }
    if (met != null) {
      throw failure(call, met);
    }
  }

  @Override
  public void bind() {
    enter(Call.BIND);
    super.bind();
  }

  @Override
  public long allocate(long bytes) {
    enter(Call.ALLOCATE);
    return super.allocate(bytes);
  }

  @Override
  public void free(long address) {
    give(Call.FREE, () -> super.free(address));
  }

  @Override
  public long freeBytes() {
    enter(Call.FREE_BYTES);
    return super.freeBytes();
  }

  @Override
  public PinnedMemory allocatePinned(long bytes) {
    enter(Call.ALLOCATE_PINNED);
    PinnedMemory memory = super.allocatePinned(bytes);
    return new PinnedMemory(
        memory.segment(), memory.deviceAddress(), () -> give(Call.FREE_PINNED, memory::free));
  }

  @Override
  public Registration register(long address, long bytes) {
    enter(Call.REGISTER);
    Registration registration = super.register(address, bytes);
    return new Registration(
        registration.deviceAddress(), () -> give(Call.RELEASE, registration::release));
  }

  @Override
  public long createStream(Urgency urgency) {
    enter(Call.CREATE_STREAM);
    return super.createStream(urgency);
  }

  @Override
  public void destroyStream(long stream) {
    give(Call.DESTROY_STREAM, () -> super.destroyStream(stream));
  }

  @Override
  public boolean idle(long stream) {
    if (super.idle(stream) == false) {
      return false;
    }
    // once for each wait, however long it is
    enter(Call.IDLE);
    return true;
  }

  @Override
  public long createEvent() {
    enter(Call.CREATE_EVENT);
    return super.createEvent();
  }

  @Override
  public void destroyEvent(long event) {
    give(Call.DESTROY_EVENT, () -> super.destroyEvent(event));
  }

  @Override
  public void record(long event, long stream) {
    enter(Call.RECORD);
    super.record(event, stream);
  }

  @Override
  public void await(long event, long stream) {
    enter(Call.AWAIT);
    super.await(event, stream);
  }

  @Override
  public boolean done(long event) {
    enter(Call.DONE);
    return super.done(event);
  }

  @Override
  public void copyToDevice(long target, MemorySegment source, long stream) {
    enter(Call.COPY_TO_DEVICE);
    super.copyToDevice(target, source, stream);
  }

  @Override
  public void copyRowsToDevice(
      long target, long targetPitch, MemorySegment source, long width, long rows, long stream) {
    enter(Call.COPY_ROWS_TO_DEVICE);
    super.copyRowsToDevice(target, targetPitch, source, width, rows, stream);
  }

  @Override
  public void copyFromDevice(MemorySegment target, long source, long stream) {
    enter(Call.COPY_FROM_DEVICE);
    super.copyFromDevice(target, source, stream);
  }

  @Override
  public void fill(long target, byte value, long bytes, long stream) {
    enter(Call.FILL);
    super.fill(target, value, bytes, stream);
  }

  @Override
  public Kernel kernel(String name) {
    enter(Call.KERNEL);
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
            : super.kernel(met == Fault.TRAPPED ? TRAP : ENDLESS);
    super.launch(own, blocks, threads, sharedBytes, parameters, stream);
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
