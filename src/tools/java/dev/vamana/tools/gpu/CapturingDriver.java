package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Passes everything on, and remembers launches on request so that they can be done again. */
final class CapturingDriver extends ForwardingDriver {

  /**
   * A launch.
   *
   * @param parameters a copy
   */
  record Launch(
      Kernel kernel, int blocks, int threads, int sharedBytes, MemorySegment parameters) {}

  private List<Launch> captured;

  CapturingDriver(CudaDriver driver) {
    super(driver);
  }

  /** From now on launches are remembered. */
  synchronized void capture() {
    captured = new ArrayList<>();
  }

  /** The launches since {@link #capture}; later ones are not remembered. */
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
