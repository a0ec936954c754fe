package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.WalkLayouts.WalkLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;

/**
 * The launches of one call put together to one, which can be repeated with any walk kernel: the
 * time of a kernel without what the host does around it. The call's items must still be in place,
 * and nothing else may use the device.
 */
final class RepeatedCall implements AutoCloseable {

  private static final int WARP = 32;
  private static final int UNTIMED = 2;

  private final CudaDriver driver;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment walk;
  private final int sharedBytes;
  private final int items;
  private final long stream;
  private final long ended;
  private final long addresses;
  private final long counter;

  /** Takes the launches of a call, which has more than one item. */
  RepeatedCall(CudaDriver driver, List<CapturingDriver.Launch> launches) {
    this.driver = driver;
    driver.bind();
    CapturingDriver.Launch last = launches.get(launches.size() - 1);
    // what a lane hands over has room for the parameters of other kernels, too
    walk =
        arena
            .allocate(WalkLayout.BYTES, Long.BYTES)
            .copyFrom(last.parameters().asSlice(0, WalkLayout.BYTES));
    sharedBytes = last.sharedBytes();
    long[] all = launches.stream().flatMapToLong(l -> Arrays.stream(l.items())).toArray();
    items = all.length;
    stream = driver.createStream();
    ended = driver.createEvent();
    addresses = driver.allocate((long) items * Long.BYTES);
    counter = driver.allocate(Long.BYTES);
    driver.copyToDevice(addresses, arena.allocateFrom(ValueLayout.JAVA_LONG, all), stream);
    driver.synchronize(stream);
    int flags = walk.get(ValueLayout.JAVA_INT, WalkLayout.FLAGS) & ~WalkLayout.FLAG_SIDE_BY_SIDE;
    walk.set(ValueLayout.JAVA_INT, WalkLayout.FLAGS, flags);
    walk.set(ValueLayout.JAVA_LONG, WalkLayout.ITEMS, addresses);
    walk.set(ValueLayout.JAVA_LONG, WalkLayout.COUNTER, counter);
    walk.set(ValueLayout.JAVA_INT, WalkLayout.COUNT, items);
  }

  /** Returns how many blocks of a kernel a multiprocessor holds. */
  int blocks(CudaDriver.Kernel kernel, int warps) {
    return kernel.blocksPerMultiprocessor(warps * WARP, sharedBytes);
  }

  /** Returns the microseconds of each of so many launches, until the host sees its end. */
  double[] time(CudaDriver.Kernel kernel, int warps, int launches) {
    int blocks =
        (int) Math.min(items, (long) blocks(kernel, warps) * driver.device().multiprocessors());
    double[] times = new double[launches];
    for (int i = -UNTIMED; i < launches; i++) {
      driver.fill(counter, (byte) 0, Long.BYTES, stream);
      driver.synchronize(stream);
      long start = System.nanoTime();
      driver.launch(kernel, blocks, warps * WARP, sharedBytes, walk, stream);
      driver.record(ended, stream);
      while (driver.done(ended) == false) {
        Thread.onSpinWait();
      }
      times[Math.max(0, i)] = (System.nanoTime() - start) * 1e-3;
    }
    return times;
  }

  @Override
  public void close() {
    driver.free(addresses);
    driver.free(counter);
    driver.destroyEvent(ended);
    driver.destroyStream(stream);
    arena.close();
  }
}
