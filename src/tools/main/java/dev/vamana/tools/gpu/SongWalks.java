package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.graph.Adjacency;
import dev.vamana.search.SegmentView;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.apache.lucene.util.VectorUtil;

/** A segment, queries and results on the device, for kernels that walk as SONG does. */
final class SongWalks implements Closeable {

  // struct Song of native-kernels/bench/song.cu
  private static final long VECTORS = 0;
  private static final long GRAPH = 8;
  private static final long QUERIES = 16;
  private static final long HITS = 24;
  private static final long COUNTERS = 32;
  private static final long N = 40;
  private static final long PADDED = 44;
  private static final long DEGREE = 48;
  private static final long MEDOID = 52;
  private static final long COUNT = 56;
  private static final long NEIGHBORS = 60;
  private static final long BEAM = 64;
  private static final long PARENTS = 68;
  private static final long WORDS = 72;
  private static final long GROUP_BYTES = 76;
  private static final long BYTES = 80;

  private static final int MOST_PARENTS = 8;
  private static final int MOST_PER_MULTIPROCESSOR = 32;

  private final CudaDriver driver;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment parameters = arena.allocate(BYTES, Long.BYTES);
  private final long stream;
  private final long ended;
  private final CudaDriver.PinnedMemory results;
  private final int padded;
  private final int degree;
  private final int queries;
  private final int k;

  /**
   * Copies a segment and queries to the device.
   *
   * @param view a segment whose ordinals are the rows of the set's base
   * @param queries queries of the set's dimension
   * @param k hits of a query
   */
  SongWalks(CudaDriver driver, VectorSet set, SegmentView view, float[][] queries, int k)
      throws IOException {
    this.driver = driver;
    this.k = k;
    this.queries = queries.length;
    driver.bind();
    stream = driver.createStream();
    ended = driver.createEvent();
    padded = (set.dimension() + 3) / 4 * 4;
    Adjacency graph = view.adjacency();
    degree = graph.maxDegree();
    boolean cosine = set.metric() == Metric.COSINE;
    parameters.set(ValueLayout.JAVA_LONG, VECTORS, upload(set.base().rows(), cosine));
    parameters.set(ValueLayout.JAVA_LONG, QUERIES, upload(queries, cosine));
    parameters.set(ValueLayout.JAVA_LONG, GRAPH, upload(graph, view.size()));
    long resultBytes = (long) queries.length * (k + 2) * Integer.BYTES;
    results = driver.allocatePinned(resultBytes);
    long hits = driver.allocate(resultBytes);
    parameters.set(ValueLayout.JAVA_LONG, HITS, hits);
    parameters.set(
        ValueLayout.JAVA_LONG, COUNTERS, hits + (long) queries.length * k * Integer.BYTES);
    parameters.set(ValueLayout.JAVA_INT, N, view.size());
    parameters.set(ValueLayout.JAVA_INT, PADDED, padded);
    parameters.set(ValueLayout.JAVA_INT, DEGREE, degree);
    parameters.set(ValueLayout.JAVA_INT, MEDOID, view.medoid());
    parameters.set(ValueLayout.JAVA_INT, NEIGHBORS, k);
    driver.synchronize(stream);
  }

  /** Vectors of length 1 are in the same order by Euclidean distance as by cosine. */
  private long upload(float[][] rows, boolean normalize) {
    try (Arena own = Arena.ofConfined()) {
      MemorySegment all = own.allocate((long) rows.length * padded * Float.BYTES, Float.BYTES);
      for (int i = 0; i < rows.length; i++) {
        float[] vector = normalize ? VectorUtil.l2normalize(rows[i].clone(), false) : rows[i];
        long at = (long) i * padded * Float.BYTES;
        MemorySegment.copy(vector, 0, all, ValueLayout.JAVA_FLOAT, at, vector.length);
      }
      return upload(all);
    }
  }

  private long upload(Adjacency graph, int size) throws IOException {
    long rowBytes = (long) degree * Integer.BYTES;
    int[] neighbors = new int[degree];
    try (Arena own = Arena.ofConfined()) {
      MemorySegment all = own.allocate(size * rowBytes, Integer.BYTES).fill((byte) 0xFF);
      for (int i = 0; i < size; i++) {
        int count = graph.neighbors(i, neighbors);
        MemorySegment.copy(neighbors, 0, all, ValueLayout.JAVA_INT, i * rowBytes, count);
      }
      return upload(all);
    }
  }

  private long upload(MemorySegment all) {
    long address = driver.allocate(all.byteSize());
    driver.copyToDevice(address, all, stream);
    driver.synchronize(stream);
    return address;
  }

  /**
   * Prepares walks.
   *
   * @param nodes nodes that a walk is expected to visit
   * @return the number of blocks, or 0 if the device has too little shared memory for one
   */
  int prepare(SongVariant variant, int beam, double nodes, int count) {
    int words = variant.words(nodes, beam);
    int bytes =
        (beam + 1) / 2 * 16
            + Integer.BYTES * (words + padded + MOST_PARENTS + 2 * variant.parents() * degree);
    bytes = (bytes + 15) / 16 * 16;
    parameters.set(ValueLayout.JAVA_INT, COUNT, count);
    parameters.set(ValueLayout.JAVA_INT, BEAM, beam);
    parameters.set(ValueLayout.JAVA_INT, PARENTS, variant.parents());
    parameters.set(ValueLayout.JAVA_INT, WORDS, words);
    parameters.set(ValueLayout.JAVA_INT, GROUP_BYTES, bytes);
    int together =
        driver
            .kernel(variant.kernel())
            .blocksPerMultiprocessor(SongVariant.WARP, sharedBytes(variant));
    int most = Math.min(together, MOST_PER_MULTIPROCESSOR) * driver.device().multiprocessors();
    int groups = SongVariant.WARP / variant.lanes();
    return Math.min(most, (count + groups - 1) / groups);
  }

  private int sharedBytes(SongVariant variant) {
    return SongVariant.WARP / variant.lanes() * parameters.get(ValueLayout.JAVA_INT, GROUP_BYTES);
  }

  /** Walks once; returns the microseconds until the host sees the end. */
  double walk(SongVariant variant, int blocks) {
    CudaDriver.Kernel kernel = driver.kernel(variant.kernel());
    driver.synchronize(stream);
    long start = System.nanoTime();
    driver.launch(kernel, blocks, SongVariant.WARP, sharedBytes(variant), parameters, stream);
    driver.record(ended, stream);
    while (driver.done(ended) == false) {
      Thread.onSpinWait();
    }
    return (System.nanoTime() - start) * 1e-3;
  }

  /** Copies the results of the last walks, which {@link #hits} and {@link #mean} return. */
  void fetch() {
    driver.copyFromDevice(results.segment(), parameters.get(ValueLayout.JAVA_LONG, HITS), stream);
    driver.synchronize(stream);
  }

  /** Returns the hits of the first queries. */
  int[][] hits(int count) {
    int size = parameters.get(ValueLayout.JAVA_INT, N);
    int[][] hits = new int[count][];
    for (int q = 0; q < count; q++) {
      int[] own = new int[k];
      int found = 0;
      for (int i = 0; i < k; i++) {
        int ordinal = results.segment().getAtIndex(ValueLayout.JAVA_INT, (long) q * k + i);
        if (ordinal < size) {
          own[found++] = ordinal;
        }
      }
      hits[q] = Arrays.copyOf(own, found);
    }
    return hits;
  }

  /**
   * Returns the mean of a counter over the first queries.
   *
   * @param counter 0 for distances, 1 for steps
   */
  double mean(int counter, int count) {
    long sum = 0;
    for (int q = 0; q < count; q++) {
      long at = (long) queries * k + 2L * q + counter;
      sum += results.segment().getAtIndex(ValueLayout.JAVA_INT, at);
    }
    return (double) sum / count;
  }

  @Override
  public void close() {
    driver.synchronize(stream);
    driver.free(parameters.get(ValueLayout.JAVA_LONG, VECTORS));
    driver.free(parameters.get(ValueLayout.JAVA_LONG, GRAPH));
    driver.free(parameters.get(ValueLayout.JAVA_LONG, QUERIES));
    driver.free(parameters.get(ValueLayout.JAVA_LONG, HITS));
    results.free();
    driver.destroyEvent(ended);
    driver.destroyStream(stream);
    arena.close();
  }
}
