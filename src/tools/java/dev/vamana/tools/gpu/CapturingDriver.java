package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Forwards all calls, and records launches on request so that they can be repeated. */
final class CapturingDriver extends ForwardingDriver {

  /**
   * A recorded launch.
   *
   * @param parameters a copy of the parameters
   */
  record Launch(
      Kernel kernel, int blocks, int threads, int sharedBytes, MemorySegment parameters) {}

  private List<Launch> captured;

  CapturingDriver(CudaDriver driver) {
    super(driver);
  }

  /** Starts recording. */
  synchronized void capture() {
    captured = new ArrayList<>();
  }

  /** Stops recording and returns the launches since {@link #capture}. */
  synchronized List<Launch> captured() {
    List<Launch> launches = captured;
    captured = null;
    return launches;
  }

  @Override
  public void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream) {
    synchronized (this) {
      if (captured != null) {
        MemorySegment copy = Arena.ofAuto().allocate(parameters.byteSize(), Long.BYTES);
        captured.add(new Launch(kernel, blocks, threads, sharedBytes, copy.copyFrom(parameters)));
      }
    }
    super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
  }
}
