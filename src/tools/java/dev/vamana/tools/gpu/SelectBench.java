package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.select.SelectMethod;
import dev.vamana.cuda.select.SelectRows;
import dev.vamana.cuda.select.SelectTable;
import dev.vamana.cuda.select.Selection;
import java.io.Closeable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;

/** Holds keys on the device and times selections from them. */
final class SelectBench implements Closeable {

  /** Order of the keys within a row. */
  enum Order {
    RANDOM,
    DESCENDING,
    ASCENDING,
    EQUAL
  }

  private static final int ROUNDS = 3;
  private static final long PROBE_BYTES = 40;
  private static final int PROBE_ROW = 256;

  private final CudaDriver driver;
  private final long elements;
  private final long stream;
  private final long keys;
  private final long out;
  private final long outBytes;
  private final Selection selection;
  private final OtherSelection others;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment block;

  /**
   * Allocates memory.
   *
   * @param elements number of keys that fit
   * @param results most results of all rows together
   */
  SelectBench(CudaDriver driver, long elements, long results) {
    this.driver = driver;
    this.elements = elements;
    driver.bind();
    stream = driver.createStream();
    keys = driver.allocate(4 * elements);
    outBytes = 4 * results;
    out = driver.allocate(2 * outBytes);
    selection = new Selection(driver, SelectTable.of(List.of()), Math.max(1 << 20, 32 * elements));
    others = new OtherSelection(driver, selection);
    block = arena.allocate(4 * Math.min(elements, 1L << 26), 16);
  }

  /** Fills all rows of n keys. Random keys repeat after 2^26. */
  void fill(Order order, int n) {
    SplittableRandom random = new SplittableRandom(5);
    long count = block.byteSize() / 4;
    for (long i = 0; i < count; i++) {
      int column = (int) (i % n);
      float key =
          switch (order) {
            case RANDOM -> (random.nextInt() >>> 8) * 0x1p-24f;
            case DESCENDING -> n - column;
            case ASCENDING -> column;
            case EQUAL -> 1;
          };
      block.setAtIndex(ValueLayout.JAVA_FLOAT, i, key);
    }
    // whole rows, so that each copy starts at a row
    long step = order == Order.RANDOM || n > count ? count : count / n * n;
    for (long at = 0; at < elements; at += step) {
      driver.copyToDevice(
          keys + 4 * at, block.asSlice(0, 4 * Math.min(step, elements - at)), stream);
    }
    driver.synchronize(stream);
  }

  /**
   * Returns the bytes per second of copying all keys on the device, reads and writes both counted.
   */
  double copyBytesPerSecond() {
    long half = elements / 2 * 4 / PROBE_ROW * PROBE_ROW;
    CudaDriver.Kernel copy = driver.kernel("probe_copy");
    MemorySegment probe = arena.allocate(PROBE_BYTES, 8);
    probe.set(ValueLayout.JAVA_LONG, 0, keys);
    probe.set(ValueLayout.JAVA_LONG, 8, keys + half);
    probe.set(ValueLayout.JAVA_INT, 16, (int) (half / PROBE_ROW));
    probe.set(ValueLayout.JAVA_INT, 20, PROBE_ROW);
    double best = Double.POSITIVE_INFINITY;
    for (int round = 0; round < 5; round++) {
      best = Math.min(best, seconds(() -> driver.launch(copy, 4_096, 256, 0, probe, stream), 4));
    }
    return 2 * half / best;
  }

  /**
   * Returns the seconds of a selection, as a median; NaN if the results do not fit.
   *
   * @param back number of selections started before the host waits: with 1 the time includes
   *     waiting for the answer, with more it approaches the time of the device
   */
  double seconds(SelectMethod method, int rows, int n, int k, boolean sorted, int back) {
    return seconds(
        rows,
        n,
        k,
        back,
        described -> selection.select(method, described, k, sorted, out, out + outBytes, stream));
  }

  /** As the other one, with a method that searches do not use. */
  double seconds(OtherMethod method, int rows, int n, int k, boolean sorted, int back) {
    return seconds(
        rows,
        n,
        k,
        back,
        described -> others.select(method, described, k, sorted, out, out + outBytes, stream));
  }

  private double seconds(int rows, int n, int k, int back, Consumer<SelectRows> select) {
    int stride = (n + 3) / 4 * 4;
    if (4L * rows * k > outBytes || (long) rows * stride > elements) {
      return Double.NaN;
    }
    SelectRows described = new SelectRows(keys, 0, rows, n, stride);
    Runnable once = () -> select.accept(described);
    seconds(once, 1);
    double[] found = new double[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
      found[round] = seconds(once, back);
    }
    return Samples.median(found);
  }

  private double seconds(Runnable launch, int back) {
    driver.synchronize(stream);
    long start = System.nanoTime();
    for (int i = 0; i < back; i++) {
      launch.run();
    }
    driver.synchronize(stream);
    return (System.nanoTime() - start) * 1e-9 / back;
  }

  @Override
  public void close() {
    driver.synchronize(stream);
    selection.close();
    others.close();
    driver.free(out);
    driver.free(keys);
    driver.destroyStream(stream);
    arena.close();
  }
}
