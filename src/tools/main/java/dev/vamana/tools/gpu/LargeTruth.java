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
import dev.vamana.work.Workers;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.Supplier;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;

/**
 * The exact neighbours of queries among many vectors of bytes, by squared Euclidean distance. The
 * device scans slices of the vectors, or the CPU all of them; a few queries are compared with a
 * scan by the CPU in any case.
 */
final class LargeTruth {

  static final int K = 10;

  // slices are told one by one; a key is a distance and an ordinal, so they order like both
  private static final int SLICE = 10_000_000;
  private static final int CHECKED = 4;
  private static final long NONE = Long.MAX_VALUE;

  private final byte[][] queries;
  private final long[][] nearest;

  private LargeTruth(byte[][] queries, long[][] nearest) {
    this.queries = queries;
    this.nearest = nearest;
  }

  /**
   * Reads the neighbours from a file, or finds them and writes it.
   *
   * @param file is kept between stages
   * @param rows the vectors, one behind the other
   * @param values makes views of the same vectors
   * @param queries one vector each
   * @param driver a device of the calling thread, or null to scan with the CPU
   * @throws IllegalStateException if the device finds other neighbours than the CPU
   */
  static LargeTruth of(
      Stage.Context context,
      Path file,
      MemorySegment rows,
      Supplier<ByteVectorValues> values,
      byte[][] queries,
      CudaDriver driver)
      throws IOException {
    if (Files.exists(file)) {
      return new LargeTruth(queries, read(file, queries.length));
    }
    long start = System.nanoTime();
    int size = values.get().size();
    long[][] found =
        driver == null
            ? scan(context.workers(), values, queries)
            : scan(context, driver, rows, values.get(), queries);
    context.say(
        "exact neighbours of %,d queries among %,d vectors in %.1f s",
        queries.length, size, seconds(start));
    if (driver != null) {
      start = System.nanoTime();
      byte[][] few = Arrays.copyOf(queries, Math.min(CHECKED, queries.length));
      long[][] again = scan(context.workers(), values, few);
      for (int q = 0; q < few.length; q++) {
        if (Arrays.equals(again[q], found[q]) == false) {
          throw new IllegalStateException("the device and the CPU differ at query " + q);
        }
      }
      context.say(
          "neighbours of %d queries are those that the CPU finds in %.1f s",
          few.length, seconds(start));
    }
    write(file, found);
    return new LargeTruth(queries, found);
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) * 1e-9;
  }

  private static long[][] scan(
      Stage.Context context,
      CudaDriver driver,
      MemorySegment rows,
      ByteVectorValues values,
      byte[][] queries)
      throws IOException {
    long[][] nearest = empty(queries.length);
    int size = values.size();
    ExactHits hits = new ExactHits();
    long address = driver.allocate((long) Math.min(SLICE, size) * LargeSet.DIMENSION);
    long stream = driver.createStream();
    try (ExactScans scans =
        new ExactScans(
            driver,
            new SessionHostMemory(HostMemoryAccount.UNLIMITED),
            DeviceBudget.UNLIMITED,
            ExactOptions.DEFAULT)) {
      for (long first = 0; first < size; first += SLICE) {
        int count = (int) Math.min(SLICE, size - first);
        long bytes = (long) count * LargeSet.DIMENSION;
        driver.copyToDevice(address, rows.asSlice(first * LargeSet.DIMENSION, bytes), stream);
        driver.synchronize(stream);
        ExactRows slice =
            ExactRows.resident(
                address,
                LargeSet.DIMENSION,
                count,
                LargeSet.DIMENSION,
                VectorSimilarityFunction.EUCLIDEAN,
                VectorEncoding.BYTE);
        scans.search(
            slice,
            ExactBatch.of(Arrays.stream(queries).map(QueryVector::of).toList(), Math.min(K, count)),
            hits);
        for (int q = 0; q < queries.length; q++) {
          for (int hit : hits.ordinals(q)) {
            int ordinal = (int) (first + hit);
            int distance = VectorUtil.squareDistance(values.vectorValue(ordinal), queries[q]);
            insert(nearest[q], key(distance, ordinal));
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

  private static long[][] scan(Workers workers, Supplier<ByteVectorValues> values, byte[][] queries)
      throws IOException {
    long[][] nearest = empty(queries.length);
    workers.forEachRange(
        0,
        values.get().size(),
        () -> {
          ByteVectorValues own = values.get();
          return (from, to) -> {
            long[][] part = empty(queries.length);
            for (int ordinal = from; ordinal < to; ordinal++) {
              byte[] vector = own.vectorValue(ordinal);
              for (int q = 0; q < queries.length; q++) {
                insert(part[q], key(VectorUtil.squareDistance(vector, queries[q]), ordinal));
              }
            }
            synchronized (nearest) {
              for (int q = 0; q < queries.length; q++) {
                for (long key : part[q]) {
                  insert(nearest[q], key);
                }
              }
            }
          };
        },
        AbortCheck.NEVER);
    return nearest;
  }

  private static long[][] empty(int queries) {
    long[][] empty = new long[queries][K];
    for (long[] keys : empty) {
      Arrays.fill(keys, NONE);
    }
    return empty;
  }

  private static long key(int distance, int ordinal) {
    return (long) distance << 32 | ordinal;
  }

  private static void insert(long[] sorted, long key) {
    int at = sorted.length - 1;
    if (key >= sorted[at]) {
      return;
    }
    for (; at > 0 && sorted[at - 1] > key; at--) {
      sorted[at] = sorted[at - 1];
    }
    sorted[at] = key;
  }

  /** Returns the queries. */
  byte[][] queries() {
    return queries;
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
      long farthest = nearest[q][K - 1] >>> 32;
      int[] ordinals = hits[q].clone();
      Arrays.sort(ordinals);
      for (int i = 0; i < ordinals.length; i++) {
        boolean again = i > 0 && ordinals[i] == ordinals[i - 1];
        if (again == false
            && VectorUtil.squareDistance(values.vectorValue(ordinals[i]), queries[q]) <= farthest) {
          found++;
        }
      }
    }
    return (double) found / queries.length / K;
  }

  /**
   * Returns the lowest share of the neighbours of a quarter of the ordinals that was found: an
   * offset that overflows loses all vectors beyond it.
   *
   * @param hits ordinals by query
   * @param size number of vectors
   */
  double leastRecallOfQuarter(int[][] hits, int size) {
    long[] all = new long[4];
    long[] found = new long[4];
    for (int q = 0; q < queries.length; q++) {
      for (long key : nearest[q]) {
        int ordinal = (int) key;
        int quarter = (int) (4L * ordinal / size);
        all[quarter]++;
        found[quarter] += Arrays.stream(hits[q]).anyMatch(hit -> hit == ordinal) ? 1 : 0;
      }
    }
    double least = 1;
    for (int quarter = 0; quarter < 4; quarter++) {
      least = Math.min(least, all[quarter] == 0 ? 1 : (double) found[quarter] / all[quarter]);
    }
    return least;
  }

  private static void write(Path file, long[][] nearest) throws IOException {
    Path next = file.resolveSibling(file.getFileName() + ".next");
    try (DataOutputStream out = new DataOutputStream(Files.newOutputStream(next))) {
      for (long[] keys : nearest) {
        for (long key : keys) {
          out.writeLong(key);
        }
      }
    }
    Files.move(next, file);
  }

  private static long[][] read(Path file, int queries) throws IOException {
    long[][] nearest = new long[queries][K];
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      for (long[] keys : nearest) {
        for (int i = 0; i < K; i++) {
          keys[i] = in.readLong();
        }
      }
    }
    return nearest;
  }
}
