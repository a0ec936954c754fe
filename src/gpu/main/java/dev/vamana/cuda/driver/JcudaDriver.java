package dev.vamana.cuda.driver;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import jcuda.driver.CUDA_MEMCPY2D;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUmemorytype;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;

/**
 * The {@link CudaDriver} implemented with JCuda, in a {@link Context} of its own. Thread-safe for
 * threads that have called {@link #bind()}.
 *
 * <p>Copies between the device and pinned memory are asynchronous: the host memory must not change
 * until the stream has passed the copy. A copy from ordinary memory returns when the memory may be
 * reused.
 */
final class JcudaDriver implements CudaDriver {

  private final DeviceInfo device;
  private final Context context;
  private final HostMemory hostMemory;
  private final KernelModules modules;
  private final Map<String, JcudaKernel> kernels = new ConcurrentHashMap<>();
  // by number; a number is never used again
  private final Map<Long, JcudaStream> streams = new ConcurrentHashMap<>();
  private final Map<Long, CUevent> events = new ConcurrentHashMap<>();
  private final AtomicLong numbers = new AtomicLong();

  private JcudaDriver(DeviceInfo device, Context context, KernelModules modules) {
    this.device = device;
    this.context = context;
    this.modules = modules;
    hostMemory = new HostMemory(context);
  }

  /**
   * Creates a context and loads one module of kernels; the others are loaded when they are needed.
   *
   * @throws GpuException if the driver refuses either
   */
  static JcudaDriver open(DeviceInfo device, KernelImages images) {
    Context context = Context.create(device.ordinal());
    KernelModules modules =
        new KernelModules(context, device.computeCapability(), images, KernelImages.ofBenchmarks());
    JcudaDriver driver = new JcudaDriver(device, context, modules);
    try {
      driver.bind();
      modules.check();
      return driver;
    } catch (Throwable e) {
      driver.close();
      throw e;
    }
  }

  @Override
  public DeviceInfo device() {
    return device;
  }

  @Override
  public void bind() {
    context.bind();
  }

  @Override
  public long allocate(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException("bytes must be at least 1, not " + bytes);
    }
    DeviceAddress address = new DeviceAddress();
    int result = context.result("cuMemAlloc", () -> JCudaDriver.cuMemAlloc(address, bytes));
    if (result != CUresult.CUDA_SUCCESS) {
      throw CudaErrors.failure(result, "cuMemAlloc of " + bytes + " bytes");
    }
    return address.address();
  }

  @Override
  public void free(long address) {
    context.call("cuMemFree", () -> JCudaDriver.cuMemFree(new DeviceAddress(address)));
  }

  @Override
  public long freeBytes() {
    long[] free = new long[1];
    context.call("cuMemGetInfo", () -> JCudaDriver.cuMemGetInfo(free, new long[1]));
    return free[0];
  }

  @Override
  public PinnedMemory allocatePinned(long bytes) {
    return hostMemory.pinned(bytes);
  }

  @Override
  public Registration register(long address, long bytes) {
    return hostMemory.readOnly(address, bytes);
  }

  @Override
  public long createStream(Urgency urgency) {
    JcudaStream stream = new JcudaStream();
    int[] least = new int[1];
    int[] greatest = new int[1];
    context.call(
        "cuCtxGetStreamPriorityRange",
        () -> JCudaDriver.cuCtxGetStreamPriorityRange(least, greatest));
    int priority = urgency == Urgency.SEARCH ? greatest[0] : least[0];
    context.call(
        "cuStreamCreateWithPriority",
        () ->
            JCudaDriver.cuStreamCreateWithPriority(
                stream.stream(), CUstream_flags.CU_STREAM_NON_BLOCKING, priority));
    return add(streams, stream);
  }

  private <T> long add(Map<Long, T> objects, T object) {
    long number = numbers.incrementAndGet();
    objects.put(number, object);
    return number;
  }

  private JcudaStream stream(long number) {
    return known(streams.get(number), "stream", number);
  }

  private CUevent event(long number) {
    return known(events.get(number), "event", number);
  }

  private static <T> T known(T object, String what, long number) {
    if (object == null) {
      throw new IllegalArgumentException("no " + what + " has the number " + number);
    }
    return object;
  }

  @Override
  public void destroyStream(long stream) {
    JcudaStream removed = known(streams.remove(stream), "stream", stream);
    context.call("cuStreamDestroy", () -> JCudaDriver.cuStreamDestroy(removed.stream()));
  }

  @Override
  public boolean idle(long stream) {
    JcudaStream asked = stream(stream);
    return ended("cuStreamQuery", () -> JCudaDriver.cuStreamQuery(asked.stream()));
  }

  @Override
  public long createEvent() {
    CUevent event = new CUevent();
    context.call(
        "cuEventCreate",
        () -> JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DISABLE_TIMING));
    return add(events, event);
  }

  @Override
  public void destroyEvent(long event) {
    CUevent removed = known(events.remove(event), "event", event);
    context.call("cuEventDestroy", () -> JCudaDriver.cuEventDestroy(removed));
  }

  @Override
  public void record(long event, long stream) {
    CUevent recorded = event(event);
    JcudaStream in = stream(stream);
    context.call("cuEventRecord", () -> JCudaDriver.cuEventRecord(recorded, in.stream()));
  }

  @Override
  public void await(long event, long stream) {
    CUevent awaited = event(event);
    JcudaStream in = stream(stream);
    context.call("cuStreamWaitEvent", () -> JCudaDriver.cuStreamWaitEvent(in.stream(), awaited, 0));
  }

  @Override
  public boolean done(long event) {
    CUevent asked = event(event);
    return ended("cuEventQuery", () -> JCudaDriver.cuEventQuery(asked));
  }

  private boolean ended(String name, IntSupplier query) {
    int result = context.result(name, query);
    if (result != CUresult.CUDA_SUCCESS && result != CUresult.CUDA_ERROR_NOT_READY) {
      throw CudaErrors.failure(result, name);
    }
    return result == CUresult.CUDA_SUCCESS;
  }

  @Override
  public void copyToDevice(long target, MemorySegment source, long stream) {
    HostAddress from = hostAddress(source);
    JcudaStream in = stream(stream);
    long bytes = source.byteSize();
    if (bytes > 0) {
      callWith(
          source,
          "cuMemcpyHtoDAsync",
          () -> JCudaDriver.cuMemcpyHtoDAsync(new DeviceAddress(target), from, bytes, in.stream()));
    }
  }

  @Override
  public void copyRowsToDevice(
      long target, long targetPitch, MemorySegment source, long width, long rows, long stream) {
    if (width < 1 || width > targetPitch) {
      throw new IllegalArgumentException(
          "width must be 1 to the pitch, " + targetPitch + ", not " + width);
    }
    if (rows < 1 || source.byteSize() != width * rows) {
      throw new IllegalArgumentException(
          rows + " rows of " + width + " bytes do not make " + source.byteSize() + " bytes");
    }
    JcudaStream in = stream(stream);
    CUDA_MEMCPY2D copy = new CUDA_MEMCPY2D();
    copy.srcMemoryType = CUmemorytype.CU_MEMORYTYPE_HOST;
    copy.srcHost = hostAddress(source);
    copy.srcPitch = width;
    copy.dstMemoryType = CUmemorytype.CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = new DeviceAddress(target);
    copy.dstPitch = targetPitch;
    copy.WidthInBytes = width;
    copy.Height = rows;
    callWith(source, "cuMemcpy2DAsync", () -> JCudaDriver.cuMemcpy2DAsync(copy, in.stream()));
  }

  @Override
  public void copyFromDevice(MemorySegment target, long source, long stream) {
    HostAddress to = hostAddress(target);
    JcudaStream in = stream(stream);
    long bytes = target.byteSize();
    if (bytes > 0) {
      callWith(
          target,
          "cuMemcpyDtoHAsync",
          () -> JCudaDriver.cuMemcpyDtoHAsync(to, new DeviceAddress(source), bytes, in.stream()));
    }
  }

  @Override
  public void fill(long target, byte value, long bytes, long stream) {
    JcudaStream in = stream(stream);
    if (bytes > 0) {
      context.call(
          "cuMemsetD8Async",
          () -> JCudaDriver.cuMemsetD8Async(new DeviceAddress(target), value, bytes, in.stream()));
    }
  }

  @Override
  public Kernel kernel(String name) {
    return kernels.computeIfAbsent(name, this::find);
  }

  private JcudaKernel find(String name) {
    return new JcudaKernel(context, name, modules.find(name), device.sharedBytesPerBlock());
  }

  @Override
  public void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream) {
    JcudaKernel launched = (JcudaKernel) kernel;
    if (launched.context() != context) {
      throw new IllegalArgumentException("kernel " + kernel.name() + " is of another context");
    }
    if (parameters.isNative() == false) {
      throw new IllegalArgumentException("parameters must be in native memory");
    }
    JcudaStream in = stream(stream);
    int result;
    try {
      result =
          context.result(
              "cuLaunchKernel",
              () -> in.launch(launched, blocks, threads, sharedBytes, parameters.address()));
    } finally {
      Reference.reachabilityFence(parameters);
    }
    if (result != CUresult.CUDA_SUCCESS) {
      throw CudaErrors.failure(
          result,
          "cuLaunchKernel of "
              + kernel.name()
              + ", "
              + blocks
              + " blocks of "
              + threads
              + " threads with "
              + sharedBytes
              + " bytes of shared memory");
    }
  }

  /** Calls the driver with the address of memory and keeps the memory reachable during the call. */
  private void callWith(MemorySegment host, String name, IntSupplier driverCall) {
    try {
      context.call(name, driverCall);
    } finally {
      Reference.reachabilityFence(host);
    }
  }

  private static HostAddress hostAddress(MemorySegment host) {
    if (host.isNative() == false) {
      throw new IllegalArgumentException("host memory must be native, not on the heap");
    }
    return new HostAddress(host.address());
  }

  @Override
  public void close() {
    context.destroy(hostMemory::releaseAll);
  }
}
