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

  // threads of the kernels of Sample Select that read parts of rows
  private static final int SPLIT_THREADS = 256;
  // of select_radix and of the other kernels of Sample Select, with a list of 4,096 pairs
  private static final int LARGE_THREADS = 512;
  private static final int LARGE_SHARED_BYTES = 8 * 4_096;
  // results that select_sort_4096 and a block of select_sort_merge write, and results that
  // select_sort_16384 sorts at once
  private static final int TILE = 4_096;
  private static final int LARGE_TILE = 16_384;

  /**
   * Bounds of Sample Select: how many places around its expected rank in the sorted sample the
   * wanted pair is searched, and room for the pairs in between. In a sample of s keys, the number
   * of keys below the wanted one has mean r and standard deviation of at most sqrt(r (1 - r / s)).
   * With 4.5 standard deviations fewer than one row in 100,000 has to be read again.
   *
   * @param margin places of the sample on each side
   * @param capacity number of pairs
   */
  record Bounds(int margin, int capacity) {
    private static final double DEVIATIONS = 4.5;

    /** Returns the bounds for k of n keys. */
    static Bounds of(int n, int k) {
      double s = SelectMethod.SAMPLE;
      double rank = (double) k / n * s;
      int margin = 4 + (int) Math.ceil(DEVIATIONS * Math.sqrt(1 + rank * (1 - rank / s)));
      double places = 2 * margin + 2;
      double pairs = (places + DEVIATIONS * Math.sqrt(places)) / s * n + 64;
      return new Bounds(margin, (int) Math.min(n, Math.ceil(pairs)));
    }
  }

  private final CudaDriver driver;
  private final long scratchLimit;
  private final DeviceBuffer parts;
  private final DeviceBuffer scratch;
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
    scratch = new DeviceBuffer(driver, budget);
  }

  /** Selects with a method that is fast for these sizes, as {@link #select} with a given method. */
  public void select(SelectRows rows, int k, long outKeys, long outIds, long stream) {
    select(SelectMethod.of(rows.rows(), rows.n(), k), rows, k, outKeys, outIds, stream);
  }

  /**
   * Selects with a given method.
   *
   * @param k number of keys to select, at least 1
   * @param outKeys address of {@code rows * k} floats
   * @param outIds address of as many ids
   * @throws IllegalArgumentException if the method does not accept these sizes
   */
  public void select(
      SelectMethod method, SelectRows rows, int k, long outKeys, long outIds, long stream) {
    if (k < 1) {
      throw new IllegalArgumentException("k must be at least 1, got " + k);
    }
    if (method.accepts(rows.n(), k) == false) {
      throw new IllegalArgumentException(
          method.family()
              + " of "
              + method.size()
              + " does not select "
              + k
              + " of "
              + rows.n()
              + " keys");
    }
    boolean sort = method.family() != SelectMethod.Family.BITS && k > 1;
    long rowBytes = Math.max(rowBytes(method, rows.n(), k), sort ? sortBytes(k) : 0);
    long most = Math.min(rows.rows(), rowBytes == 0 ? rows.rows() : scratchLimit / rowBytes);
    most = Math.min(most, Integer.MAX_VALUE / Math.max(method.partitions(), tiles(k)));
    if (method.partitions() > 1) {
      most = Math.min(most, MAX_SHARED_ROWS);
    }
    int slice = (int) Math.max(1, most);
    for (int first = 0; first < rows.rows(); first += slice) {
      SelectRows part = rows.slice(first, Math.min(slice, rows.rows() - first));
      long skipped = 4L * first * k;
      describe(part, k, outKeys + skipped, outIds + skipped);
      run(method, part, k, stream);
      if (sort) {
        sort(part.rows(), k, stream);
      }
    }
  }

  private static long rowBytes(SelectMethod method, int n, int k) {
    return switch (method.family()) {
      case BITS -> method.partitions() == 1 ? 0 : PAIR_BYTES * method.partitions() * k;
      case SAMPLE -> sampleRowBytes(Bounds.of(n, k).capacity());
      case RADIX -> 0;
    };
  }

  /** Returns the bytes of a row's state and candidates; see include/vamana/select/sample.h. */
  static long sampleRowBytes(int capacity) {
    return 256 + (PAIR_BYTES * capacity + 255) / 256 * 256;
  }

  /**
   * Returns the bytes of the counters and of the partitions' partial results; see
   * include/vamana/select/select.h.
   */
  static long joinedBytes(int rows, int partitions, int k) {
    return COUNTER_BYTES + PAIR_BYTES * rows * partitions * k;
  }

  private static int tiles(int k) {
    return k <= LARGE_TILE ? 1 : (k + TILE - 1) / TILE;
  }

  private static long sortBytes(int k) {
    return tiles(k) == 1 ? 0 : 2 * PAIR_BYTES * k;
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
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.PARTITIONS, 1);
  }

  private void run(SelectMethod method, SelectRows rows, int k, long stream) {
    int count = rows.rows();
    int parts = method.partitions();
    switch (method.family()) {
      case BITS -> {
        if (parts > 1) {
          useScratch(this.parts.ensure(joinedBytes(count, parts, k), COUNTER_BYTES, stream));
        }
        int bytes = (int) PAIR_BYTES * method.size();
        int threads = method.size() <= 2_048 ? 256 : 512;
        launch("select_bits_" + method.size(), count, parts, threads, bytes, stream);
      }
      case SAMPLE -> sample(rows, k, parts, stream);
      case RADIX -> large("select_radix", count, stream);
    }
  }

  private void sample(SelectRows rows, int k, int partitions, long stream) {
    Bounds bounds = Bounds.of(rows.n(), k);
    int count = rows.rows();
    useScratch(scratch.ensure(sampleRowBytes(bounds.capacity()) * count));
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.MARGIN, bounds.margin());
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.CAPACITY, bounds.capacity());
    large("select_sample_splitters", count, stream);
    launch("select_sample_split", count, partitions, SPLIT_THREADS, 0, stream);
    large("select_sample_finish", count, stream);
  }

  private void large(String kernel, int rows, long stream) {
    launch(kernel, rows, 1, LARGE_THREADS, LARGE_SHARED_BYTES, stream);
  }

  /** Sorts the results of each row. */
  private void sort(int rows, int k, long stream) {
    int tiles = tiles(k);
    if (tiles == 1 && k > TILE) {
      int bytes = (int) PAIR_BYTES * LARGE_TILE;
      launch("select_sort_16384", rows, 1, 1_024, bytes, stream);
      return;
    }
    int bytes = (int) PAIR_BYTES * TILE;
    if (tiles > 1) {
      useScratch(scratch.ensure(sortBytes(k) * rows));
    }
    launch("select_sort_4096", rows, tiles, 512, bytes, stream);
    if (tiles > 1) {
      int array = 0;
      for (long run = TILE; run < k; run *= 2) {
        parameters.set(ValueLayout.JAVA_INT, SelectLayout.RUN, (int) run);
        parameters.set(ValueLayout.JAVA_INT, SelectLayout.ARRAY, array);
        launch("select_sort_merge", rows, tiles, 256, bytes, stream);
        array = 1 - array;
      }
    }
  }

  private void useScratch(long address) {
    parameters.set(ValueLayout.JAVA_LONG, SelectLayout.SCRATCH, address);
  }

  private void launch(
      String name, int rows, int partitions, int threads, int sharedBytes, long stream) {
    parameters.set(ValueLayout.JAVA_INT, SelectLayout.PARTITIONS, partitions);
    driver.launch(driver.kernel(name), rows * partitions, threads, sharedBytes, parameters, stream);
  }

  /** Returns the bytes of device memory in use. */
  public long scratchBytes() {
    return parts.bytes() + scratch.bytes();
  }

  /** Frees the scratch memory. No launch may be running. */
  @Override
  public void close() {
    parts.free();
    scratch.free();
  }
}
