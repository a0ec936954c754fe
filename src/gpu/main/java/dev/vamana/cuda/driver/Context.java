package dev.vamana.cuda.driver;

import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.IntSupplier;
import jcuda.driver.CUcontext;
import jcuda.driver.CUctx_flags;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;

/**
 * A CUDA context and its state: usable, lost, or destroyed. Every driver call goes through {@link
 * #call}, which keeps the context from being destroyed during the call; otherwise the driver would
 * end the process.
 *
 * <p>The context is created for this plugin rather than being the device's primary context, so that
 * other users of the device in this process do not share its settings and closing it resets nothing
 * of theirs. The bindings call {@code cuCtxCreate_v2}, which drivers for CUDA 13 still export.
 * After some faults the driver gives this process no further context; {@link #create} then fails
 * with a message that asks for a restart.
 */
final class Context {

  private static final String CLOSED = "closed";

  private final CUcontext context;
  private final ReentrantReadWriteLock life = new ReentrantReadWriteLock();
  private volatile String lost;

  private Context(CUcontext context) {
    this.context = context;
  }

  /** Creates a context and leaves the calling thread's current context unchanged. */
  static Context create(int deviceOrdinal) {
    check(JCudaDriver.cuInit(0), "cuInit");
    CUdevice device = new CUdevice();
    check(JCudaDriver.cuDeviceGet(device, deviceOrdinal), "cuDeviceGet");
    CUcontext context = new CUcontext();
    int flags = CUctx_flags.CU_CTX_SCHED_AUTO;
    int created = JCudaDriver.cuCtxCreate(context, flags, device);
    if (CudaErrors.kind(created) == GpuException.Kind.CONTEXT_LOST) {
      // seen with driver 580: after a trapped kernel the process gets no context any more, neither
      // a new one nor the primary one, however long it waits
      throw CudaErrors.failure(
          created, "cuCtxCreate after a lost context, which takes a restart of the process,");
    }
    check(created, "cuCtxCreate");
    check(JCudaDriver.cuCtxPopCurrent(new CUcontext()), "cuCtxPopCurrent");
    return new Context(context);
  }

  private static void check(int result, String call) {
    if (result != CUresult.CUDA_SUCCESS) {
      throw CudaErrors.failure(result, call);
    }
  }

  /** Makes the context current on the calling thread. */
  void bind() {
    call("cuCtxSetCurrent", () -> JCudaDriver.cuCtxSetCurrent(context));
  }

  /** Calls the driver. Throws unless it returns success. */
  void call(String name, IntSupplier driverCall) {
    int result = result(name, driverCall);
    if (result != CUresult.CUDA_SUCCESS) {
      throw CudaErrors.failure(result, name);
    }
  }

  /** Calls the driver and returns its result code. Throws only if the context is lost. */
  int result(String name, IntSupplier driverCall) {
    life.readLock().lock();
    try {
      checkAlive();
      int result = driverCall.getAsInt();
      if (result != CUresult.CUDA_SUCCESS
          && CudaErrors.kind(result) == GpuException.Kind.CONTEXT_LOST) {
        GpuException failure = CudaErrors.failure(result, name);
        lost = failure.getMessage();
        throw failure;
      }
      return result;
    } finally {
      life.readLock().unlock();
    }
  }

  private void checkAlive() {
    String why = lost;
    if (why != null) {
      throw new GpuException(GpuException.Kind.CONTEXT_LOST, "context is gone: " + why);
    }
  }

  /**
   * Waits for calls in progress, and destroys the context.
   *
   * @param before runs first, with the context current; driver errors in it are ignored
   */
  void destroy(Runnable before) {
    life.writeLock().lock();
    try {
      if (CLOSED.equals(lost)) {
        return;
      }
      lost = CLOSED;
      if (JCudaDriver.cuCtxPushCurrent(context) == CUresult.CUDA_SUCCESS) {
        before.run();
      }
      // also pops it from this thread; for a lost context the call returns an error but destroys it
      JCudaDriver.cuCtxDestroy(context);
    } finally {
      life.writeLock().unlock();
    }
  }
}
