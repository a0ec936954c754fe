package dev.vamana.tools.gpu;

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
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/**
 * The exact neighbours of queries among many vectors of bytes, by squared Euclidean distance.
 *
 * @param queries one vector each
 * @param distances of the nearest vectors of each query, ascending
 */
record LargeTruth(byte[][] queries, int[][] distances) {

  static final int K = BenchStage.K;

  // a scan tells its progress after each slice
  private static final int SLICE = 10_000_000;
  private static final int CHECKED = 4;

  /**
   * Finds the neighbours: the device scans slices of the vectors, or the CPU all of them.
   *
   * @throws IllegalStateException if the device finds other distances than the CPU
   */
  static LargeTruth of(Stage.Context context, SetIndex index, byte[][] queries) throws IOException {
    if (context.onDevice() == false) {
      return new LargeTruth(queries, scan(context, index.leaf(), queries));
    }
    int[][] found;
    try (CudaDriver driver = context.driver().get()) {
      driver.bind();
      found = scan(context, driver, index, queries);
    }
    byte[][] few = Arrays.copyOf(queries, Math.min(CHECKED, queries.length));
    int[][] again = scan(context, index.leaf(), few);
    for (int q = 0; q < few.length; q++) {
      if (Arrays.equals(again[q], found[q]) == false) {
        throw new IllegalStateException("the device and the CPU differ at query " + q);
      }
    }
    return new LargeTruth(queries, found);
  }

  private static int[][] scan(
      Stage.Context context, CudaDriver driver, SetIndex index, byte[][] queries)
      throws IOException {
    int[][] nearest = empty(queries.length);
    MemorySegment rows = index.view().vectorsRegion().segment();
    ByteVectorValues values = index.leaf().getByteVectorValues(SetIndex.FIELD);
    int dimension = values.dimension();
    List<QueryVector> vectors = Arrays.stream(queries).map(QueryVector::of).toList();
    ExactHits hits = new ExactHits();
    long address = driver.allocate((long) Math.min(SLICE, values.size()) * dimension);
    long stream = driver.createStream();
    try (ExactScans scans =
        new ExactScans(
            driver,
            new SessionHostMemory(HostMemoryAccount.UNLIMITED),
            DeviceBudget.UNLIMITED,
            ExactOptions.DEFAULT)) {
      for (int first = 0; first < values.size(); first += SLICE) {
        int count = Math.min(SLICE, values.size() - first);
        long bytes = (long) count * dimension;
        driver.copyToDevice(address, rows.asSlice((long) first * dimension, bytes), stream);
        driver.synchronize(stream);
        ExactRows slice =
            ExactRows.resident(
                address,
                dimension,
                count,
                dimension,
                VectorSimilarityFunction.EUCLIDEAN,
                VectorEncoding.BYTE);
        scans.search(slice, ExactBatch.of(vectors, Math.min(K, count)), hits);
        for (int q = 0; q < queries.length; q++) {
          for (int hit : hits.ordinals(q)) {
            byte[] vector = values.vectorValue(first + hit);
            insert(nearest[q], VectorUtil.squareDistance(vector, queries[q]));
          }
        }
        context.say("scanned %,d vectors", first + count);
      }
    } finally {
      driver.destroyStream(stream);
      driver.free(address);
    }
    return nearest;
  }

  private static int[][] scan(Stage.Context context, LeafReader leaf, byte[][] queries)
      throws IOException {
    int[][] nearest = empty(queries.length);
    context
        .workers()
        .forEachRange(
            0,
            leaf.maxDoc(),
            () -> {
              ByteVectorValues own = leaf.getByteVectorValues(SetIndex.FIELD);
              return (from, to) -> {
                int[][] part = empty(queries.length);
                for (int ordinal = from; ordinal < to; ordinal++) {
                  byte[] vector = own.vectorValue(ordinal);
                  for (int q = 0; q < queries.length; q++) {
                    insert(part[q], VectorUtil.squareDistance(vector, queries[q]));
                  }
                }
                synchronized (nearest) {
                  for (int q = 0; q < queries.length; q++) {
                    for (int distance : part[q]) {
                      insert(nearest[q], distance);
                    }
                  }
                }
              };
            },
            AbortCheck.NEVER);
    return nearest;
  }

  private static int[][] empty(int queries) {
    int[][] empty = new int[queries][K];
    for (int[] distances : empty) {
      Arrays.fill(distances, Integer.MAX_VALUE);
    }
    return empty;
  }

  private static void insert(int[] sorted, int distance) {
    int at = sorted.length - 1;
    if (distance < sorted[at]) {
      for (; at > 0 && sorted[at - 1] > distance; at--) {
        sorted[at] = sorted[at - 1];
      }
      sorted[at] = distance;
    }
  }

  /**
   * Returns the share of neighbours that were found. Another vector as near as the last neighbour
   * counts as found.
   *
   * @param hits ordinals by query, {@value #K} each
   */
  double recall(int[][] hits, ByteVectorValues values) throws IOException {
    long found = 0;
    for (int q = 0; q < queries.length; q++) {
      for (int ordinal : Arrays.stream(hits[q]).distinct().toArray()) {
        int distance = VectorUtil.squareDistance(values.vectorValue(ordinal), queries[q]);
        found += distance <= distances[q][K - 1] ? 1 : 0;
      }
    }
    return (double) found / queries.length / K;
  }
}
