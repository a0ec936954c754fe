package dev.vamana.cuda.training;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansLayout;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansSizes;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansStateLayout;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.IntToLongFunction;

/**
 * One k-means job on the device, in all subspaces at once: its memory and its steps. For one
 * thread, bound to the context. {@link TrainingDevice} makes one for each.
 */
final class Clusters implements AutoCloseable {

  private final CudaDriver driver;
  private final Launcher launcher;
  private final long stream;
  private final int floats;
  private final int subspaces;
  private final Block block;
  private final Arena arena;
  private final MemorySegment parameters;
  private final MemorySegment states;
  private final long stateAddress;
  private final long centroidAddress;

  /**
   * Allocates memory. The calling thread is the only one that uses the device's streams.
   *
   * @param pool most rows from which seeds are drawn
   * @param tolerance an iteration that lowers the error by less than this fraction is the last
   * @throws dev.vamana.cuda.driver.GpuException if there is not enough
   */
  Clusters(
      TrainingDevice device, DeviceRows rows, int subspaces, int k, int pool, double tolerance) {
    this.driver = device.driver();
    this.launcher = device.launcher();
    this.stream = device.stream();
    this.floats = k * rows.dims();
    this.subspaces = subspaces;
    int longest = (rows.dims() + subspaces - 1) / subspaces;
    int parts = rows.count() / KMeansSizes.PART + k;
    long[][] arrays = arrays(rows, subspaces, k, pool, longest, parts);
    long total = 0;
    for (long[] array : arrays) {
      total += Block.padded(array[1]);
    }
    this.block = new Block(driver, device.budget(), total);
    this.arena = Arena.ofConfined();
    this.parameters = arena.allocate(KMeansLayout.BYTES, Long.BYTES);
    this.states = arena.allocate((long) subspaces * KMeansStateLayout.BYTES, Long.BYTES);
    for (long[] array : arrays) {
      parameters.set(ValueLayout.JAVA_LONG, array[0], block.take(array[1]));
    }
    this.centroidAddress = parameters.get(ValueLayout.JAVA_LONG, KMeansLayout.CENTROIDS);
    this.stateAddress = parameters.get(ValueLayout.JAVA_LONG, KMeansLayout.STATES);
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.ROWS, rows.address());
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.CAPACITY, rows.count());
    parameters.set(ValueLayout.JAVA_DOUBLE, KMeansLayout.TOLERANCE, tolerance);
    set(KMeansLayout.DIMS, rows.dims());
    set(KMeansLayout.SUBSPACES, subspaces);
    set(KMeansLayout.K, k);
    set(KMeansLayout.ROW_STRIDE, rows.stride());
    set(KMeansLayout.POOL, pool);
    set(KMeansLayout.PART_CAPACITY, parts);
    set(KMeansLayout.MAX_LENGTH, longest);
  }

  /** Returns the field and the bytes of each array. */
  private static long[][] arrays(
      DeviceRows rows, int subspaces, int k, int pool, int longest, int parts) {
    long chunks = (rows.count() + KMeansSizes.CHUNK - 1L) / KMeansSizes.CHUNK;
    boolean shorts = Launcher.shortLength(longest, k) > 0;
    if (k > KMeansSizes.MAX_CENTROIDS) {
      throw new IllegalArgumentException("no kernel takes k=" + k);
    }
    long all = subspaces;
    long each = all * rows.count() * Integer.BYTES;
    long ends = all * (k + 1L) * Integer.BYTES;
    return new long[][] {
      {KMeansLayout.CENTROIDS, (long) k * rows.dims() * Float.BYTES},
      {KMeansLayout.STATES, all * KMeansStateLayout.BYTES},
      {KMeansLayout.ASSIGNED, each},
      {KMeansLayout.ERRORS, each},
      {KMeansLayout.ORDER, each},
      {KMeansLayout.COUNTS, all * chunks * k * Integer.BYTES},
      {KMeansLayout.STARTS, ends},
      {KMeansLayout.PARTS, ends},
      {KMeansLayout.SUMS, all * parts * longest * Double.BYTES},
      {KMeansLayout.CANDIDATES, all * pool * KMeansSizes.CANDIDATE_BYTES},
      {KMeansLayout.COLUMNS, shorts ? 0 : all * pool * longest * Float.BYTES},
      {KMeansLayout.CHUNK_ERRORS, all * chunks * Double.BYTES}
    };
  }

  private void set(long field, int value) {
    parameters.set(ValueLayout.JAVA_INT, field, value);
  }

  /**
   * Draws all centroids from the first {@code count} rows.
   *
   * @param seeds supplies the random seed of each subspace
   */
  void begin(int count, IntToLongFunction seeds) {
    for (int s = 0; s < subspaces; s++) {
      states.set(ValueLayout.JAVA_LONG, at(s, KMeansStateLayout.RANDOM), seeds.applyAsLong(s));
    }
    beginLevel();
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.COUNT, count);
    launcher.seed(parameters, stream);
    readStates();
  }

  private static long at(int subspace, long field) {
    return (long) subspace * KMeansStateLayout.BYTES + field;
  }

  private void beginLevel() {
    for (int s = 0; s < subspaces; s++) {
      states.set(
          ValueLayout.JAVA_DOUBLE, at(s, KMeansStateLayout.BEFORE), Double.POSITIVE_INFINITY);
      states.set(ValueLayout.JAVA_INT, at(s, KMeansStateLayout.DONE), 0);
    }
    driver.copyToDevice(stateAddress, states, stream);
  }

  private void readStates() {
    read(states, stateAddress);
  }

  /** Copies to memory that is not pinned: the copy itself would wait for kernels without end. */
  private void read(MemorySegment target, long source) {
    driver.synchronize(stream);
    driver.copyFromDevice(target, source, stream);
    driver.synchronize(stream);
  }

  /**
   * Iterates over the first {@code count} rows until every subspace is done.
   *
   * @param most most iterations
   * @return number of iterations
   */
  int iterate(int count, int most, AbortCheck abort) throws IOException {
    beginLevel();
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.COUNT, count);
    int made = 0;
    boolean done = false;
    while (made < most && done == false) {
      abort.check();
      launcher.assign(parameters, stream);
      launcher.update(parameters, stream);
      readStates();
      made++;
      done = true;
      for (int s = 0; s < subspaces; s++) {
        done &= states.get(ValueLayout.JAVA_INT, at(s, KMeansStateLayout.DONE)) != 0;
      }
    }
    return made;
  }

  /** Returns all centroids. */
  float[] centroids() {
    MemorySegment host = arena.allocate((long) floats * Float.BYTES, Float.BYTES);
    read(host, centroidAddress);
    return host.toArray(ValueLayout.JAVA_FLOAT);
  }

  /** Frees the memory. */
  @Override
  public void close() {
    try {
      block.close();
    } finally {
      arena.close();
    }
  }
}
