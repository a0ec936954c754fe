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
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Measures exact search on the device, on one set: recall against the exact neighbours, and queries
 * per second from {@code float[][]} to ordinals and scores in Java arrays, with rows on the device
 * and streamed from the host.
 */
final class ExactStage implements Stage {

  private static final String METHOD = "vamana-exact";
  private static final int K = 10;
  private static final int SAMPLES = 25;
  private static final int SINGLE_SAMPLES = 100;
  private static final int LEAST_SAMPLES = 5;
  private static final int WARM_UPS = 3;
  private static final int STREAMED_BATCH = 1_000;

  private final String setName;

  ExactStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (CudaDriver driver = Gpu.openDriver()) {
      driver.bind();
      context.fragment().set("device", driver.device().name());
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
    VectorSimilarityFunction similarity = vectors.similarity();
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
              address, stride, base.length, dimension, similarity, VectorEncoding.FLOAT32);
      for (int batch : context.options().batches()) {
        measure(context, set, scans, resident, "scan", batch);
      }
      ExactRows streamed =
          ExactRows.streamed(
              host, stride, base.length, dimension, similarity, VectorEncoding.FLOAT32);
      measure(context, set, scans, streamed, "scan-streamed", STREAMED_BATCH);
    } finally {
      driver.free(address);
    }
  }

  private static void measure(
      Context context, SuiteSet set, ExactScans scans, ExactRows rows, String placement, int batch)
      throws IOException {
    float[][] queries = set.vectors().queries().rows();
    ExactHits hits = new ExactHits();
    int[][] found = new int[queries.length][];
    // recall of the code path for batches of this size
    for (int from = 0; from < queries.length; from += batch) {
      scans.search(
          rows,
          ExactBatch.of(
              Arrays.stream(filled(queries, from, batch)).map(QueryVector::of).toList(), K),
          hits);
      for (int q = from; q < Math.min(queries.length, from + batch); q++) {
        found[q] = hits.ordinals(q - from).clone();
      }
    }
    double recall = new Recall(set.vectors(), K).of(found);
    List<Double> samples = new ArrayList<>();
    for (int i = 0; i < WARM_UPS; i++) {
      scans.search(
          rows,
          ExactBatch.of(Arrays.stream(filled(queries, 0, batch)).map(QueryVector::of).toList(), K),
          hits);
    }
    long end = System.nanoTime() + (long) (context.options().seconds() * 1e9);
    for (int from = 0; samples.size() < LEAST_SAMPLES || System.nanoTime() < end; from += batch) {
      float[][] asked = filled(queries, from % queries.length, batch);
      long start = System.nanoTime();
      scans.search(
          rows, ExactBatch.of(Arrays.stream(asked).map(QueryVector::of).toList(), K), hits);
      samples.add((System.nanoTime() - start) * 1e-3);
    }
    double[] kept =
        BatchRun.thin(
            samples.stream().mapToDouble(Double::doubleValue).toArray(),
            batch == 1 ? SINGLE_SAMPLES : SAMPLES);
    context.add(
        new Measurement(set.subject(), METHOD, placement, batch, 1, 0, recall, kept, Map.of()));
  }

  /**
   * Returns a batch of queries from one on, repeated as needed: a scan reads all rows for any
   * query.
   */
  private static float[][] filled(float[][] queries, int from, int batch) {
    float[][] filled = new float[batch][];
    Arrays.setAll(filled, i -> queries[(from + i) % queries.length]);
    return filled;
  }
}
