package dev.vamana.cuda.select;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ScanLayouts.SelectLayout;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.DeviceBuffer;
import java.io.Closeable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Selects, from each row, the k smallest keys with their ids, sorted. NaN is the largest key; of
 * equal keys the one with the lower id comes first. If a row has fewer than k keys, the remaining
 * places hold NaN and -1. {@code exact.PlainScan} selects hits with it.
 *
 * <p>One thread at a time may use an instance, and must be bound to the driver. Scratch memory
 * grows as needed up to a limit; rows that need more are processed in slices. All launches must go
 * into the same stream, unless the stream is synchronized in between.
 */
public final class Selection implements Closeable {

  /**
   * Most rows whose partitions are joined in one launch; each has a counter at the start of the
   * scratch memory.
   */
  private static final int MAX_SHARED_ROWS = 16_384;

  private static final long COUNTER_BYTES = 8L * MAX_SHARED_ROWS;
  private static final long PAIR_BYTES = 8;

  /** Most results of a row. */
  public static final int MAX_K = 16_384;

  // of select_radix, with a list of 4,096 pairs
  private static final int RADIX_THREADS = 512;
  private static final int RADIX_PAIRS = 4_096;
  // results that select_sort_4096 sorts
  private static final int FEW = 4_096;

  private final CudaDriver driver;
  private final long scratchLimit;
  private final DeviceBuffer parts;
  private final MemorySegment parameters = Arena.ofAuto().allocate(SelectLayout.BYTES, 16);

  /**
   * Makes an instance, which allocates nothing yet.
   *
   * @param budget counts device memory
   * @param scratchLimit most bytes of device memory, unless a single row needs more
   */
  public Selection(CudaDriver driver, DeviceBudget budget, long scratchLimit) {
    this.driver = driver;
    this.scratchLimit = scratchLimit;
    parts = new DeviceBuffer(driver, budget);
  }

  /** Selects with a method that is fast for these sizes, as {@link #select} with a given method. */
  public void select(SelectRows rows, int k, long outKeys, long outIds, long stream) {
    select(SelectMethod.of(rows.rows(), rows.n(), k), rows, k, outKeys, outIds, stream);
  }

  /**
   * Selects with a given method.
   *
   * @param k number of keys to select, 1 to {@value #MAX_K}
   * @param outKeys address of {@code rows * k} floats
   * @param outIds address of as many ids
   * @throws IllegalArgumentException if the method does not accept these sizes
   */
  public void select(
      SelectMethod method, SelectRows rows, int k, long outKeys, long outIds, long stream) {
    if (k < 1 || k > MAX_K) {
      throw new IllegalArgumentException("k must be 1 to " + MAX_K + ", got " + k);
    }
    if (method.accepts(k) == false) {
      throw new IllegalArgumentException(method + " does not select " + k + " keys");
    }
    int most = rows.rows();
    if (method.partitions() > 1) {
      long rowBytes = PAIR_BYTES * method.partitions() * k;
      most = (int) Math.max(1, Math.min(Math.min(most, MAX_SHARED_ROWS), scratchLimit / rowBytes));
    }
    for (int first = 0; first < rows.rows(); first += most) {
      SelectRows part = rows.slice(first, Math.min(most, rows.rows() - first));
      long skipped = 4L * first * k;
      describe(part, k, outKeys + skipped, outIds + skipped);
      run(method, part.rows(), k, stream);
    }
  }

  /**
   * Returns the bytes of the counters and of the partitions' partial results; see
   * include/vamana/select/select.h.
   */
  static long joinedBytes(int rows, int partitions, int k) {
    return COUNTER_BYTES + PAIR_BYTES * rows * partitions * k;
  }

  private void describe(SelectRows rows, int k, long outKeys, long outIds) {
    parameters.fill((byte) 0);
    parameters.set(ValueLayout.JAVA_LONG, SelectLayout.KEYS, rows.keys());
    parameters.set(ValueLayout.JAVA_LONG, SelectLayout.OUT_KEYS, outKeys);
    parameters.set(ValueLayout.JAVA_LONG, SelectLayout.OUT_IDS, outIds);
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.ROWS, rows.rows());
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.N, rows.n());
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.STRIDE, rows.stride());
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.K, k);
  }

  private void run(SelectMethod method, int rows, int k, long stream) {
    int size = method.size();
    if (size > 0) {
      int parts = method.partitions();
      if (parts > 1) {
        long bytes = joinedBytes(rows, parts, k);
        long address = this.parts.ensure(bytes, COUNTER_BYTES, stream);
        parameters.set(ValueLayout.JAVA_LONG, SelectLayout.SCRATCH, address);
      }
      launch("select_bits_" + size, rows, parts, size <= 2_048 ? 256 : 512, size, stream);
      return;
    }
    launch("select_radix", rows, 1, RADIX_THREADS, RADIX_PAIRS, stream);
    if (k <= FEW) {
      launch("select_sort_4096", rows, 1, 512, FEW, stream);
    } else {
      launch("select_sort_16384", rows, 1, 1_024, MAX_K, stream);
    }
  }

  private void launch(String name, int rows, int partitions, int threads, int pairs, long stream) {
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.PARTITIONS, partitions);
    int shared = (int) PAIR_BYTES * pairs;
    driver.launch(driver.kernel(name), rows * partitions, threads, shared, parameters, stream);
  }

  /** Returns the bytes of device memory in use. */
  public long scratchBytes() {
    return parts.bytes();
  }

  /** Frees the scratch memory. No launch may be running. */
  @Override
  public void close() {
    parts.free();
  }
}
