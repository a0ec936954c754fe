package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ItemLayout;
import dev.vamana.cuda.kernel.ResultLayout;
import dev.vamana.cuda.kernel.WalkLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The launches of one call put together to one, which can be repeated with any walk kernel: the
 * time of a kernel without what the host does around it. The call's items must still be in place,
 * and nothing else may use the device.
 */
final class RepeatedCall implements AutoCloseable {

  /**
   * What a walk found. Not the number of distances, which depends on which lane is first.
   *
   * @param counts hits, flags, steps
   * @param hits ordinals, and bits of scores
   */
  record Answer(List<Integer> counts, List<Integer> hits) {

    private static Answer of(long item) {
      MemorySegment fields = MemorySegment.ofAddress(item).reinterpret(ItemLayout.BYTES);
      int capacity = fields.get(ValueLayout.JAVA_INT, ItemLayout.CAPACITY);
      MemorySegment result =
          MemorySegment.ofAddress(fields.get(ValueLayout.JAVA_LONG, ItemLayout.RESULT))
              .reinterpret(ResultLayout.BYTES + 2L * Integer.BYTES * capacity);
      int count = result.get(ValueLayout.JAVA_INT, ResultLayout.COUNT);
      List<Integer> hits = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        long at = ResultLayout.BYTES + (long) Integer.BYTES * i;
        hits.add(result.get(ValueLayout.JAVA_INT, at));
        hits.add(result.get(ValueLayout.JAVA_INT, at + (long) Integer.BYTES * capacity));
      }
      return new Answer(
          List.of(
              count,
              result.get(ValueLayout.JAVA_INT, ResultLayout.FLAGS),
              result.get(ValueLayout.JAVA_INT, ResultLayout.ITERATIONS)),
          hits);
    }
  }

  private static final int WARP = 32;
  private static final int UNTIMED = 2;

  private final CudaDriver driver;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment walk;
  private final int sharedBytes;
  private final long[] items;
  private final long stream;
  private final long ended;
  private final long addresses;
  private final long counter;

  /** Takes the launches of a call, which has more than one item. */
  RepeatedCall(CudaDriver driver, List<CapturingDriver.Launch> launches) {
    this.driver = driver;
    driver.bind();
    CapturingDriver.Launch last = launches.get(launches.size() - 1);
    walk = arena.allocate(WalkLayout.BYTES, Long.BYTES).copyFrom(last.parameters());
    sharedBytes = last.sharedBytes();
    items = launches.stream().flatMapToLong(l -> Arrays.stream(l.items())).toArray();
    stream = driver.createStream();
    ended = driver.createEvent();
    addresses = driver.allocate((long) items.length * Long.BYTES);
    counter = driver.allocate(Long.BYTES);
    driver.copyToDevice(addresses, arena.allocateFrom(ValueLayout.JAVA_LONG, items), stream);
    driver.synchronize(stream);
    int flags = walk.get(ValueLayout.JAVA_INT, WalkLayout.FLAGS) & ~WalkLayout.FLAG_ONE_ITEM;
    walk.set(ValueLayout.JAVA_INT, WalkLayout.FLAGS, flags);
    walk.set(ValueLayout.JAVA_LONG, WalkLayout.ITEMS, addresses);
    walk.set(ValueLayout.JAVA_LONG, WalkLayout.COUNTER, counter);
    walk.set(ValueLayout.JAVA_INT, WalkLayout.COUNT, items.length);
  }

  /** Returns how many blocks of a kernel a multiprocessor holds. */
  int blocks(CudaDriver.Kernel kernel, int warps) {
    return kernel.blocksPerMultiprocessor(warps * WARP, sharedBytes);
  }

  /** Returns the microseconds of each of so many launches, until the host sees its end. */
  double[] time(CudaDriver.Kernel kernel, int warps, int launches) {
    int blocks =
        (int)
            Math.min(
                items.length, (long) blocks(kernel, warps) * driver.device().multiprocessors());
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

  /** Returns what the last launch left in the results of the items. */
  List<Answer> answers() {
    return Arrays.stream(items).mapToObj(Answer::of).toList();
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
