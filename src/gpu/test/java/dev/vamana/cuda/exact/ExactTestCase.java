package dev.vamana.cuda.exact;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.search.QueryVector;
import dev.vamana.tools.gpu.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.junit.After;
import org.junit.Before;

/**
 * Base class of tests of exact search. They run on the device if there is one, otherwise with the
 * kernels' counterparts on the CPU.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public abstract class ExactTestCase extends LuceneTestCase {

  /** Most sets of these tests are smaller than what products are good for. */
  static final ExactOptions SMALL = new ExactOptions(64L << 20, 1);

  private static final long SIMULATED_BYTES = 2L << 30;

  CudaDriver driver;
  ExactScans scans;
  private final List<Long> allocations = new ArrayList<>();

  @Before
  public void openDriver() {
    driver =
        Gpu.missing() == null
            ? Gpu.openDriver()
            : new SimulatedDriver(SimtKernels.load(), SIMULATED_BYTES, random().nextBoolean());
    driver.bind();
    scans = open(SMALL);
  }

  ExactScans open(ExactOptions options) {
    return open(driver, options);
  }

  static ExactScans open(CudaDriver driver, ExactOptions options) {
    return new ExactScans(
        driver,
        new SessionHostMemory(HostMemoryAccount.UNLIMITED),
        DeviceBudget.UNLIMITED,
        options);
  }

  @After
  public void closeDriver() {
    if (driver != null) {
      scans.close();
      allocations.forEach(driver::free);
      driver.close();
    }
  }

  /** Vectors of either encoding. */
  record Vectors(
      float[][] floats,
      byte[][] bytes,
      int dimension,
      VectorSimilarityFunction similarity,
      int size) {

    static Vectors of(float[][] floats, int dimension, VectorSimilarityFunction similarity) {
      return new Vectors(floats, null, dimension, similarity, floats.length);
    }

    static Vectors of(byte[][] bytes, int dimension, VectorSimilarityFunction similarity) {
      return new Vectors(null, bytes, dimension, similarity, bytes.length);
    }

    VectorEncoding encoding() {
      return floats != null ? VectorEncoding.FLOAT32 : VectorEncoding.BYTE;
    }

    float score(Vectors queries, int query, int row) {
      if (floats != null && (usual(floats[row]) && usual(queries.floats[query])) == false) {
        return scoreOfSums(queries.floats[query], floats[row]);
      }
      return floats != null
          ? similarity.compare(queries.floats[query], floats[row])
          : similarity.compare(queries.bytes[query], bytes[row]);
    }

    /** Whether Lucene's functions take a vector without an assertion. */
    private static boolean usual(float[] vector) {
      boolean zero = true;
      for (float component : vector) {
        if (Float.isFinite(component) == false) {
          return false;
        }
        zero &= component == 0;
      }
      return zero == false;
    }

    /** Lucene's scores of vectors that it would not take. */
    private float scoreOfSums(float[] query, float[] row) {
      float square = 0;
      float dot = 0;
      float own = 0;
      float other = 0;
      for (int d = 0; d < dimension; d++) {
        square += (query[d] - row[d]) * (query[d] - row[d]);
        dot += query[d] * row[d];
        own += query[d] * query[d];
        other += row[d] * row[d];
      }
      return switch (similarity) {
        case EUCLIDEAN -> 1 / (1 + square);
        case DOT_PRODUCT -> Math.max((1 + dot) / 2, 0);
        case COSINE -> Math.max((1 + (float) (dot / Math.sqrt(own * other))) / 2, 0);
        case MAXIMUM_INNER_PRODUCT -> dot < 0 ? 1 / (1 - dot) : dot + 1;
      };
    }

    ExactBatch batch(int k) {
      return ExactBatch.of(
          floats != null
              ? Arrays.stream(floats).map(QueryVector::of).toList()
              : Arrays.stream(bytes).map(QueryVector::of).toList(),
          k);
    }
  }

  /** Copies vectors to the device; what is behind a row's components is not a number. */
  ExactRows resident(Vectors vectors) {
    int width = vectors.dimension * vectors.encoding().byteSize;
    int stride = (width + 15) / 16 * 16 + 16 * random().nextInt(2);
    long bytes = Math.max(16, (long) vectors.size * stride);
    long address = driver.allocate(bytes);
    allocations.add(address);
    long stream = driver.createStream();
    try (Arena arena = Arena.ofConfined()) {
      driver.copyToDevice(address, host(vectors, stride, bytes, arena), stream);
      driver.synchronize(stream);
    }
    driver.destroyStream(stream);
    return ExactRows.resident(
        address, stride, vectors.size, vectors.dimension, vectors.similarity, vectors.encoding());
  }

  private static MemorySegment host(Vectors vectors, int stride, long bytes, Arena arena) {
    MemorySegment host = arena.allocate(bytes, 16).fill((byte) 0xFF);
    for (int i = 0; i < vectors.size; i++) {
      if (vectors.floats != null) {
        MemorySegment.copy(
            vectors.floats[i],
            0,
            host,
            ValueLayout.JAVA_FLOAT_UNALIGNED,
            (long) i * stride,
            vectors.dimension);
      } else {
        MemorySegment.copy(
            vectors.bytes[i], 0, host, ValueLayout.JAVA_BYTE, (long) i * stride, vectors.dimension);
      }
    }
    return host;
  }

  /** Copies a bitset of the accepted ordinals to the device. */
  long bits(int size, IntPredicate accepted) {
    long bytes = Math.max(8, (size + 63L) / 64 * 8);
    long address = driver.allocate(bytes);
    allocations.add(address);
    long stream = driver.createStream();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment words = arena.allocate(bytes, 8);
      for (int i = 0; i < size; i++) {
        if (accepted.test(i)) {
          long word = words.getAtIndex(ValueLayout.JAVA_LONG, i / 64) | 1L << (i % 64);
          words.setAtIndex(ValueLayout.JAVA_LONG, i / 64, word);
        }
      }
      driver.copyToDevice(address, words, stream);
      driver.synchronize(stream);
    }
    driver.destroyStream(stream);
    return address;
  }

  /** Asserts that a scan by the CPU finds the same hits. */
  static void assertHits(
      Vectors vectors, Vectors queries, int k, IntPredicate accepted, ExactHits hits) {
    assertEquals(queries.size, hits.queries());
    int[] candidates = IntStream.range(0, vectors.size).filter(accepted).toArray();
    for (int q = 0; q < queries.size; q++) {
      float[] scores = new float[vectors.size];
      for (int candidate : candidates) {
        scores[candidate] = vectors.score(queries, q, candidate);
      }
      int[] expected =
          IntStream.of(candidates)
              .boxed()
              .sorted(
                  Comparator.<Integer>comparingInt(i -> Float.isNaN(scores[i]) ? 1 : 0)
                      .thenComparing(i -> -scores[i])
                      .thenComparing(i -> i))
              .limit(k)
              .mapToInt(i -> i)
              .toArray();
      int[] found = hits.ordinals(q);
      String where = vectors.similarity + " " + vectors.encoding() + " query " + q;
      assertEquals(where, expected.length, found.length);
      assertEquals(where, found.length, IntStream.of(found).distinct().count());
      for (int i = 0; i < found.length; i++) {
        String rank = where + " rank " + i;
        assertTrue(rank, found[i] >= 0 && found[i] < vectors.size && accepted.test(found[i]));
        float best = scores[expected[i]];
        float own = scores[found[i]];
        if (Float.isNaN(best)) {
          assertTrue(rank, Float.isNaN(hits.scores(q)[i]));
          assertEquals(rank, expected[i], found[i]);
        } else {
          // half of one plus a product is no more precise than the product
          boolean half =
              vectors.similarity == VectorSimilarityFunction.COSINE
                  || vectors.similarity == VectorSimilarityFunction.DOT_PRODUCT;
          float least = half ? 0.1f : 1e-6f;
          float scale = Math.max(least, Math.abs(best));
          // sums of bytes are integers, which nothing rounds
          boolean exact = Float.isInfinite(own) || vectors.bytes != null;
          assertEquals(rank, own, hits.scores(q)[i], exact ? 0 : 1e-5f * scale);
          assertEquals(rank, best, own, exact ? 0 : 1e-6f * scale);
          assertTrue(rank, vectors.bytes == null || expected[i] == found[i]);
        }
      }
    }
  }
}
