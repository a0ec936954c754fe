package dev.vamana.tools.groundtruth;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.exact.ExactBatch;
import dev.vamana.cuda.exact.ExactHits;
import dev.vamana.cuda.exact.ExactOptions;
import dev.vamana.cuda.exact.ExactRows;
import dev.vamana.cuda.exact.ExactScans;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.search.QueryVector;
import dev.vamana.tools.datasets.ExactSearch;
import dev.vamana.tools.datasets.GroundTruth;
import dev.vamana.tools.datasets.Metric;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Finds exact neighbours on a device: the device's scan finds candidates, and {@link ExactSearch}
 * orders them. The vectors have to fit the device. For the thread that is bound to the driver.
 */
final class DeviceGroundTruth {

  /** Queries per scan. */
  private static final int SLICE = 10_000;

  private static final int ALIGNMENT = 16;
  private static final int STAGED_BYTES = 32 << 20;

  private final CudaDriver driver;
  private final Metric metric;

  /** Makes a search on one device. */
  DeviceGroundTruth(CudaDriver driver, Metric metric) {
    this.driver = driver;
    this.metric = metric;
  }

  /** Finds the neighbours of every query. */
  GroundTruth find(float[][] base, float[][] queries, int depth) {
    ComparableVectors vectors = ComparableVectors.of(metric, base, queries);
    int dimension = base[0].length;
    int stride = (dimension * Float.BYTES + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    long bytes = (long) base.length * stride;
    try (ExactScans scans =
        new ExactScans(
            driver,
            new SessionHostMemory(HostMemoryAccount.UNLIMITED),
            DeviceBudget.UNLIMITED,
            ExactOptions.DEFAULT)) {
      long address = driver.allocate(bytes);
      try {
        upload(address, vectors, base, stride);
        ExactRows rows =
            ExactRows.resident(
                address, stride, base.length, dimension, similarity(), VectorEncoding.FLOAT32);
        return find(scans, rows, vectors, base, queries, depth);
      } finally {
        driver.free(address);
      }
    }
  }

  private VectorSimilarityFunction similarity() {
    return metric == Metric.L2
        ? VectorSimilarityFunction.EUCLIDEAN
        : VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT;
  }

  private void upload(long address, ComparableVectors vectors, float[][] base, int stride) {
    long stream = driver.createStream();
    try (Arena arena = Arena.ofConfined()) {
      int together = Math.max(1, Math.min(base.length, STAGED_BYTES / stride));
      MemorySegment staged = arena.allocate((long) together * stride, Long.BYTES);
      float[] row = new float[base[0].length];
      for (int from = 0; from < base.length; from += together) {
        int count = Math.min(together, base.length - from);
        for (int i = 0; i < count; i++) {
          vectors.convert(base[from + i], row);
          MemorySegment.copy(row, 0, staged, ValueLayout.JAVA_FLOAT, (long) i * stride, row.length);
        }
        long bytes = (long) count * stride;
        driver.copyToDevice(address + (long) from * stride, staged.asSlice(0, bytes), stream);
        driver.synchronize(stream);
      }
    } finally {
      driver.destroyStream(stream);
    }
  }

  private GroundTruth find(
      ExactScans scans,
      ExactRows rows,
      ComparableVectors vectors,
      float[][] base,
      float[][] queries,
      int depth) {
    int kept = Math.min(base.length, depth + ExactSearch.MARGIN);
    int[][] candidates = new int[queries.length][];
    ExactHits hits = new ExactHits();
    for (int from = 0; from < queries.length; from += SLICE) {
      float[][] slice = new float[Math.min(SLICE, queries.length - from)][base[0].length];
      for (int q = 0; q < slice.length; q++) {
        vectors.convert(queries[from + q], slice[q]);
      }
      scans.search(
          rows, ExactBatch.of(Arrays.stream(slice).map(QueryVector::of).toList(), kept), hits);
      for (int q = 0; q < slice.length; q++) {
        candidates[from + q] = Arrays.copyOf(hits.ordinals(q), kept);
      }
    }
    return ExactSearch.nearest(metric, base, queries, candidates, depth);
  }
}
