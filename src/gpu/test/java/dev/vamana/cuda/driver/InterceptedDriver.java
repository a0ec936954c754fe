package dev.vamana.cuda.driver;

import java.lang.foreign.MemorySegment;

/** Forwards every call of a driver, after a subclass has seen it and may have thrown. */
public abstract class InterceptedDriver extends ForwardingDriver {

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

  InterceptedDriver(CudaDriver driver) {
    super(driver);
  }

  /** Is told of a call before it is forwarded. */
  protected abstract void enter(Call call);

  /** Does a call that gives something back. */
  protected void give(Call call, Runnable action) {
    enter(call);
    action.run();
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
    enter(Call.LAUNCH);
    super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
  }
}
