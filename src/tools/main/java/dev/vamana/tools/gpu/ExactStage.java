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
import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorEncoding;

/**
 * Measures exact search on the device, on one set, from {@code float[][]} to ordinals and scores in
 * Java arrays, with rows on the device.
 */
final class ExactStage implements Stage {

  private static final String METHOD = "vamana-exact";
  private static final int K = BenchStage.K;
  private static final int LEAST = 5;
  private static final int WARM_UPS = 3;

  private final String setName;

  ExactStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (CudaDriver driver = context.driver().get()) {
      driver.bind();
      try (Arena arena = Arena.ofShared();
          ExactScans scans =
              new ExactScans(
                  driver,
                  new SessionHostMemory(HostMemoryAccount.UNLIMITED),
                  DeviceBudget.UNLIMITED,
                  ExactOptions.DEFAULT)) {
        measure(context, set, driver, scans, arena);
      }
    }
  }

  private static void measure(
      Context context, SuiteSet set, CudaDriver driver, ExactScans scans, Arena arena)
      throws IOException {
    VectorSet vectors = set.vectors();
    float[][] base = vectors.base().rows();
    int dimension = vectors.dimension();
    int stride = (dimension * Float.BYTES + 15) / 16 * 16;
    MemorySegment host = arena.allocate((long) base.length * stride, 64);
    for (int i = 0; i < base.length; i++) {
      MemorySegment.copy(base[i], 0, host, ValueLayout.JAVA_FLOAT, (long) i * stride, dimension);
    }
    long address = driver.allocate(host.byteSize());
    try {
      long stream = driver.createStream();
      driver.copyToDevice(address, host, stream);
      driver.synchronize(stream);
      driver.destroyStream(stream);
      ExactRows resident =
          ExactRows.resident(
              address,
              stride,
              base.length,
              dimension,
              vectors.similarity(),
              VectorEncoding.FLOAT32);
      for (int batch : context.options().batches()) {
        measure(context, set, driver, scans, resident, "scan", batch);
      }
    } finally {
      driver.free(address);
    }
  }

  private static void measure(
      Context context,
      SuiteSet set,
      CudaDriver driver,
      ExactScans scans,
      ExactRows rows,
      String placement,
      int batch)
      throws IOException {
    float[][] queries = set.vectors().queries().rows();
    ExactHits hits = new ExactHits();
    int[][] found = new int[queries.length][];
    // recall of the code path for batches of this size
    for (int from = 0; from < queries.length; from += batch) {
      scans.search(rows, ExactBatch.of(filled(queries, from, batch), K), hits);
      for (int q = from; q < Math.min(queries.length, from + batch); q++) {
        found[q] = hits.ordinals(q - from).clone();
      }
    }
    Callers.Opener asking =
        id -> {
          driver.bind();
          return number ->
              scans.search(rows, ExactBatch.of(filled(queries, number * batch, batch), K), hits);
        };
    Callers.loop(1, 0, WARM_UPS, asking);
    context.searched(
        set.subject(),
        METHOD,
        placement,
        batch,
        1,
        new Recall(set.vectors(), K).of(found),
        Callers.loop(1, context.options().seconds(), LEAST, asking).micros());
  }

  /**
   * Returns a batch of queries from one on, repeated as needed: a scan reads all rows for any
   * query.
   */
  private static List<QueryVector> filled(float[][] queries, int from, int batch) {
    return IntStream.range(from, from + batch)
        .mapToObj(i -> QueryVector.of(queries[Math.floorMod(i, queries.length)]))
        .toList();
  }
}
