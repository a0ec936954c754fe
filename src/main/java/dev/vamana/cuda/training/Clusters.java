package dev.vamana.cuda.training;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansLayout;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansSizes;
import dev.vamana.cuda.kernel.BuildLayouts.KMeansStateLayout;
import dev.vamana.cuda.memory.DeviceBudget;
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
public final class Clusters implements AutoCloseable {

  private final CudaDriver driver;
  private final Launcher launcher;
  private final long stream;
  private final DeviceRows rows;
  private final int subspaces;
  private final int k;
  private final Block block;
  private final Arena arena;
  private final MemorySegment parameters;
  private final MemorySegment states;
  private final long stateAddress;
  private final long centroidAddress;

  /**
   * Allocates memory.
   *
   * @param pool most rows from which seeds are drawn
   * @throws dev.vamana.cuda.driver.GpuException if there is not enough
   */
  Clusters(
      CudaDriver driver,
      Launcher launcher,
      DeviceBudget budget,
      long stream,
      DeviceRows rows,
      int subspaces,
      int k,
      int pool,
      double tolerance) {
    this.driver = driver;
    this.launcher = launcher;
    this.stream = stream;
    this.rows = rows;
    this.subspaces = subspaces;
    this.k = k;
    int dims = rows.dims();
    int longest = (dims + subspaces - 1) / subspaces;
    int parts = rows.count() / KMeansSizes.PART + k;
    long each = (long) subspaces * rows.count() * Integer.BYTES;
    long chunks = (rows.count() + KMeansSizes.CHUNK - 1L) / KMeansSizes.CHUNK;
    boolean shorts = Launcher.shortLength(longest, k) > 0;
    if (k > KMeansSizes.MAX_CENTROIDS) {
      throw new IllegalArgumentException(
          "k must be at most " + KMeansSizes.MAX_CENTROIDS + ", got " + k);
    }
    if (shorts && pool > KMeansSizes.SHORT_POOL) {
      throw new IllegalArgumentException(
          "pool must be at most " + KMeansSizes.SHORT_POOL + ", got " + pool);
    }
    long[] sizes = {
      (long) k * dims * Float.BYTES,
      (long) subspaces * KMeansStateLayout.BYTES,
      each,
      each,
      each,
      subspaces * chunks * k * Integer.BYTES,
      subspaces * (k + 1L) * Integer.BYTES,
      subspaces * (k + 1L) * Integer.BYTES,
      (long) subspaces * parts * longest * Double.BYTES,
      (long) subspaces * pool * KMeansSizes.CANDIDATE_BYTES,
      shorts ? 0 : (long) subspaces * pool * longest * Float.BYTES,
      subspaces * chunks * Double.BYTES
    };
    long[] fields = {
      KMeansLayout.CENTROIDS,
      KMeansLayout.STATES,
      KMeansLayout.ASSIGNED,
      KMeansLayout.ERRORS,
      KMeansLayout.ORDER,
      KMeansLayout.COUNTS,
      KMeansLayout.STARTS,
      KMeansLayout.PARTS,
      KMeansLayout.SUMS,
      KMeansLayout.CANDIDATES,
      KMeansLayout.COLUMNS,
      KMeansLayout.CHUNK_ERRORS
    };
    long total = 0;
    for (long size : sizes) {
      total += Block.padded(size);
    }
    this.block = new Block(driver, budget, total);
    this.arena = Arena.ofConfined();
    this.parameters = arena.allocate(KMeansLayout.BYTES, Long.BYTES);
    this.states = arena.allocate((long) subspaces * KMeansStateLayout.BYTES, Long.BYTES);
    for (int i = 0; i < sizes.length; i++) {
      parameters.set(ValueLayout.JAVA_LONG, fields[i], block.take(sizes[i]));
    }
    this.centroidAddress = parameters.get(ValueLayout.JAVA_LONG, KMeansLayout.CENTROIDS);
    this.stateAddress = parameters.get(ValueLayout.JAVA_LONG, KMeansLayout.STATES);
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.ROWS, rows.address());
    parameters.set(ValueLayout.JAVA_LONG, KMeansLayout.CAPACITY, rows.count());
    parameters.set(ValueLayout.JAVA_DOUBLE, KMeansLayout.TOLERANCE, tolerance);
    set(KMeansLayout.DIMS, dims);
    set(KMeansLayout.SUBSPACES, subspaces);
    set(KMeansLayout.K, k);
    set(KMeansLayout.ROW_STRIDE, rows.stride());
    set(KMeansLayout.POOL, pool);
    set(KMeansLayout.PART_CAPACITY, parts);
    set(KMeansLayout.MAX_LENGTH, longest);
  }

  private void set(long field, int value) {
    parameters.set(ValueLayout.JAVA_INT, field, value);
  }

  /**
   * Draws all centroids from the first {@code count} rows.
   *
   * @param seeds supplies the random seed of each subspace
   */
  public void begin(int count, IntToLongFunction seeds) {
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
  public int iterate(int count, int most, AbortCheck abort) throws IOException {
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

  /** Returns the squared error of the last assignment in one subspace. */
  public double error(int subspace) {
    return states.get(ValueLayout.JAVA_DOUBLE, at(subspace, KMeansStateLayout.ERROR));
  }

  /** Returns all centroids. */
  public float[] centroids() {
    MemorySegment host = arena.allocate((long) k * rows.dims() * Float.BYTES, Float.BYTES);
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
