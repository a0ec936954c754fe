package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.SelectLayout;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.select.SampleBounds;
import dev.vamana.cuda.select.SelectRows;
import dev.vamana.cuda.select.Selection;
import java.io.Closeable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Selects with the methods that searches do not use, by the kernels in native-kernels/bench. For
 * one thread at a time, bound to the driver; all launches go into the same stream.
 */
public final class OtherSelection implements Closeable {

  private static final int PAIR_BYTES = 8;
  private static final int LARGE_THREADS = 512;
  private static final int LARGE_SHARED_BYTES = 8 * 4_096;
  private static final int SPLIT_THREADS = 256;
  private static final int BLOCK_WARPS = 4;

  private final CudaDriver driver;
  private final Selection sorting;
  private final DeviceBuffer scratch;
  private final MemorySegment parameters = Arena.ofAuto().allocate(SelectLayout.BYTES, 16);

  /**
   * Makes an instance, which allocates nothing yet.
   *
   * @param sorting sorts results that a method leaves in any order
   */
  public OtherSelection(CudaDriver driver, Selection sorting) {
    this.driver = driver;
    this.sorting = sorting;
    this.scratch = new DeviceBuffer(driver, DeviceBudget.UNLIMITED);
  }

  /** As {@link Selection#select}, for all rows at once. */
  public void select(
      OtherMethod method,
      SelectRows rows,
      int k,
      boolean sorted,
      long outKeys,
      long outIds,
      long stream) {
    if (method.accepts(rows.n(), k) == false) {
      throw new IllegalArgumentException(
          method + " does not select " + k + " of " + rows.n() + " keys");
    }
    describe(rows, k, outKeys, outIds);
    int count = rows.rows();
    int size = globalSize(k);
    switch (method.family()) {
      case BITS_GLOBAL -> {
        useScratch((long) PAIR_BYTES * size * count);
        large("select_bits_global", count, stream);
      }
      case WARP, BLOCK -> {
        int warps = method.family() == OtherMethod.Family.WARP ? 1 : BLOCK_WARPS;
        int bytes = warps == 1 ? 0 : PAIR_BYTES * warps * method.size();
        String name = "select_warp_" + method.size() + "_" + method.queue();
        launch(name, count, 32 * warps, bytes, stream);
      }
      case SAMPLE_TWO_STAGES -> {
        SampleBounds bounds = SampleBounds.of(rows.n(), k);
        useScratch(Selection.sampleRowBytes(bounds.capacity()) * count);
        parameters.set(ValueLayout.JAVA_INT, SelectLayout.MARGIN, bounds.margin());
        parameters.set(ValueLayout.JAVA_INT, SelectLayout.CAPACITY, bounds.capacity());
        large("select_sample_splitters", count, stream);
        launch("select_sample_count", count, SPLIT_THREADS, 0, stream);
        large("select_sample_find", count, stream);
        launch("select_sample_split", count, SPLIT_THREADS, 0, stream);
      }
      case PARTIAL_BITONIC ->
          launch(
              "select_partial_bitonic", count, k <= 512 ? 128 : 256, 2 * PAIR_BYTES * size, stream);
      case MERGE_QUEUE -> launch("select_merge_queue", count, 32, PAIR_BYTES * (size + 64), stream);
    }
    if (sorted && method.sorts() == false && k > 1) {
      sorting.sort(rows, k, outKeys, outIds, stream);
    }
  }

  /** Returns the pairs of a row, as {@code global_size} in include/vamana/select/select.h. */
  public static int globalSize(int k) {
    return Math.max(32, k == 1 ? 1 : Integer.highestOneBit(k - 1) << 1);
  }

  private void describe(SelectRows rows, int k, long outKeys, long outIds) {
    parameters.fill((byte) 0);
    parameters.set(ValueLayout.JAVA_LONG, SelectLayout.KEYS, rows.keys());
    parameters.set(ValueLayout.JAVA_LONG, SelectLayout.IDS, rows.ids());
    parameters.set(ValueLayout.JAVA_LONG, SelectLayout.OUT_KEYS, outKeys);
    parameters.set(ValueLayout.JAVA_LONG, SelectLayout.OUT_IDS, outIds);
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.ROWS, rows.rows());
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.N, rows.n());
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.STRIDE, rows.stride());
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.K, k);
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.PARTITIONS, 1);
  }

  private void useScratch(long bytes) {
    parameters.set(ValueLayout.JAVA_LONG, SelectLayout.SCRATCH, scratch.ensure(bytes));
  }

  private void large(String kernel, int rows, long stream) {
    launch(kernel, rows, LARGE_THREADS, LARGE_SHARED_BYTES, stream);
  }

  private void launch(String name, int blocks, int threads, int sharedBytes, long stream) {
    driver.launch(driver.kernel(name), blocks, threads, sharedBytes, parameters, stream);
  }

  /** Frees the scratch memory. No launch may be running. */
  @Override
  public void close() {
    scratch.free();
  }
}
