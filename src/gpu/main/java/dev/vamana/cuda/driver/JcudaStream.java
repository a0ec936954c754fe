package dev.vamana.cuda.driver;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * A stream with a reusable parameter pointer for launches into it. Reusing it keeps a launch from
 * creating objects for the bindings to unwrap.
 */
final class JcudaStream {

  private final CUstream stream = new CUstream();
  private final MemorySegment parameterPointers = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
  private final HostAddress parameterAddress = new HostAddress(parameterPointers.address());

  CUstream stream() {
    return stream;
  }

  /**
   * Launches a kernel and returns the driver's result code. The driver has copied the parameters
   * when this returns.
   */
  synchronized int launch(
      JcudaKernel kernel, int blocks, int threads, int sharedBytes, long parameters) {
    parameterPointers.set(ValueLayout.JAVA_LONG, 0, parameters);
    return JCudaDriver.cuLaunchKernel(
        kernel.function(),
        blocks,
        1,
        1,
        threads,
        1,
        1,
        sharedBytes,
        stream,
        parameterAddress,
        null);
  }
}
