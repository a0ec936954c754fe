package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.kernel.WalkLayouts.ItemLayout;
import dev.vamana.cuda.kernel.WalkLayouts.WalkLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.LongStream;

/** Forwards all calls, and records launches on request so that they can be repeated. */
final class CapturingDriver extends ForwardingDriver {

  /**
   * A recorded launch.
   *
   * @param parameters a copy of the parameters
   * @param items addresses of a walk's items; empty for other kernels
   */
  record Launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long[] items) {

    /**
     * Returns the addresses of a walk's items. They are in pinned memory, which has the same
     * address on the device and on the host; a later launch writes over them.
     */
    private static long[] itemsOf(MemorySegment parameters) {
      long address = parameters.get(ValueLayout.JAVA_LONG, WalkLayout.ITEMS);
      int flags = parameters.get(ValueLayout.JAVA_INT, WalkLayout.FLAGS);
      int count = parameters.get(ValueLayout.JAVA_INT, WalkLayout.COUNT);
      if ((flags & WalkLayout.FLAG_SIDE_BY_SIDE) != 0) {
        return LongStream.range(0, count).map(i -> address + i * ItemLayout.BYTES).toArray();
      }
      long bytes = (long) count * Long.BYTES;
      return MemorySegment.ofAddress(address).reinterpret(bytes).toArray(ValueLayout.JAVA_LONG);
    }
  }

  private List<Launch> captured;

  CapturingDriver(CudaDriver driver) {
    super(driver);
  }

  /** Opens a context on the first device, and tells which it is. */
  static CapturingDriver open(AtomicReference<CapturingDriver> current) {
    CapturingDriver opened = new CapturingDriver(new DeviceProbe(0).open());
    current.set(opened);
    return opened;
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
        captured.add(
            new Launch(
                kernel,
                blocks,
                threads,
                sharedBytes,
                copy.copyFrom(parameters),
                kernel.name().startsWith("walk_") ? Launch.itemsOf(parameters) : new long[0]));
      }
    }
    super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
  }
}
