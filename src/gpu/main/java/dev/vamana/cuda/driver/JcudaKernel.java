package dev.vamana.cuda.driver;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import jcuda.driver.CUfunction;
import jcuda.driver.CUfunction_attribute;
import jcuda.driver.JCudaDriver;

/** A kernel of a loaded module. */
final class JcudaKernel implements CudaDriver.Kernel {

  private final Context context;
  private final String name;
  private final CUfunction function;
  private final int mostSharedBytes;
  // the driver takes microseconds to tell
  private final Map<Long, Integer> occupancies = new ConcurrentHashMap<>();

  /**
   * Wraps a kernel and raises its limit of dynamic shared memory to all that the device has beside
   * the kernel's static shared memory. Without this a block gets at most 48 KiB.
   */
  JcudaKernel(Context context, String name, CUfunction function, int sharedBytesPerBlock) {
    this.context = context;
    this.name = name;
    this.function = function;
    int[] fixed = new int[1];
    context.call(
        "cuFuncGetAttribute",
        () ->
            JCudaDriver.cuFuncGetAttribute(
                fixed, CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
    mostSharedBytes = sharedBytesPerBlock - fixed[0];
    context.call(
        "cuFuncSetAttribute",
        () ->
            JCudaDriver.cuFuncSetAttribute(
                function,
                CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                mostSharedBytes));
  }

  @Override
  public String name() {
    return name;
  }

  Context context() {
    return context;
  }

  CUfunction function() {
    return function;
  }

  @Override
  public int blocksPerMultiprocessor(int threads, int sharedBytes) {
    if (sharedBytes > mostSharedBytes) {
      return 0;
    }
    Long key = ((long) threads << Integer.SIZE) | sharedBytes;
    Integer known = occupancies.get(key);
    return known != null
        ? known
        : occupancies.computeIfAbsent(key, unseen -> ask(threads, sharedBytes));
  }

  private int ask(int threads, int sharedBytes) {
    int[] blocks = new int[1];
    context.call(
        "cuOccupancyMaxActiveBlocksPerMultiprocessor",
        () ->
            JCudaDriver.cuOccupancyMaxActiveBlocksPerMultiprocessor(
                blocks, function, threads, sharedBytes));
    return blocks[0];
  }
}
