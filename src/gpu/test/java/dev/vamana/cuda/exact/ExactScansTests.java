package dev.vamana.cuda.exact;

import com.carrotsearch.randomizedtesting.generators.RandomPicks;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.ByteVectors;
import dev.vamana.search.QueryVector;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.TestUtil;

/** Compares exact search with scans by the CPU. */
public class ExactScansTests extends ExactTestCase {

  /** Queries over small sets that products answer, unless they want many hits. */
  private static final int MANY = 65;

  private static final int[] DIMENSIONS = {1, 3, 16, 31, 64, 100, 128, 257};

  private static VectorSimilarityFunction similarity() {
    VectorSimilarityFunction[] values = VectorSimilarityFunction.values();
    return values[random().nextInt(values.length)];
  }

  /** Unit vectors around a few centres, so that queries have near ones. */
  static Vectors floats(int size, int dimension, VectorSimilarityFunction similarity) {
    float[][] vectors = new float[size][dimension];
    for (int i = 0; i < size; i++) {
      double norm = 0;
      for (int d = 0; d < dimension; d++) {
        vectors[i][d] = (float) (random().nextGaussian() + 2 * Math.sin(i % 7 + d));
        norm += vectors[i][d] * vectors[i][d];
      }
      for (int d = 0; d < dimension; d++) {
        vectors[i][d] /= (float) Math.sqrt(norm);
      }
    }
    return Vectors.of(vectors, dimension, similarity);
  }

  static Vectors integers(int size, int dimension, VectorSimilarityFunction similarity) {
    float[][] vectors = new float[size][dimension];
    for (float[] vector : vectors) {
      for (int d = 0; d < dimension; d++) {
        vector[d] = random().nextInt(256);
      }
    }
    return Vectors.of(vectors, dimension, similarity);
  }

  static Vectors bytes(int size, int dimension, VectorSimilarityFunction similarity) {
    byte[][] vectors = new byte[size][dimension];
    for (byte[] vector : vectors) {
      random().nextBytes(vector);
      vector[0] = vector[0] == 0 ? 1 : vector[0];
    }
    return Vectors.of(vectors, dimension, similarity);
  }

  /** Bytes of all values, and rows of the smallest and the largest value only. */
  private static Vectors wide(int size, int dimension, VectorSimilarityFunction similarity) {
    return Vectors.of(ByteVectors.wide(random(), size, dimension), dimension, similarity);
  }

  private static Vectors some(int kind, int size, int dimension, VectorSimilarityFunction of) {
    return switch (kind) {
      case 0 -> floats(size, dimension, of);
      case 1 -> integers(size, dimension, of);
      default -> bytes(size, dimension, of);
    };
  }

  private void check(Vectors vectors, Vectors queries, int k) {
    ExactHits hits = new ExactHits();
    scans.search(resident(vectors), queries.batch(k), hits);
    assertHits(vectors, queries, k, i -> true, hits);
  }

  public void testAllSimilaritiesAndEncodings() {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      for (int kind = 0; kind < 3; kind++) {
        int dimension = DIMENSIONS[random().nextInt(DIMENSIONS.length)];
        Vectors vectors = some(kind, 1 + random().nextInt(2000), dimension, similarity);
        for (int queries : new int[] {1, 2 + random().nextInt(63), MANY + random().nextInt(50)}) {
          int k = random().nextBoolean() ? 10 : 1 + random().nextInt(300);
          check(vectors, some(kind, queries, dimension, similarity), k);
        }
      }
    }
  }

  /** To the last bit, however long the vectors are and however large the sums. */
  public void testBytesOfManyDimensions() {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      int dimension = 259 + random().nextInt(random().nextBoolean() ? 300 : 4096 - 258);
      Vectors vectors = wide(300, dimension, similarity);
      for (int queries : new int[] {1, 2 + random().nextInt(63), MANY + random().nextInt(20)}) {
        int k = random().nextBoolean() ? 10 : 1 + random().nextInt(300);
        check(vectors, wide(queries, dimension, similarity), k);
      }
    }
  }

  /** Rows are read once for up to sixteen queries, or for as many as a block has room for. */
  public void testQueriesOfALaunch() {
    assumeTrue("a device is there", driver instanceof SimulatedDriver);
    // 4,112 bytes a query and 4 for each of 32 components
    assertLaunches(227, 1, "q1");
    assertLaunches(227, TestUtil.nextInt(random(), 2, 4), "q4", "join");
    assertLaunches(227, TestUtil.nextInt(random(), 5, 8), "q8", "join");
    assertLaunches(227, TestUtil.nextInt(random(), 9, 16), "q16", "join");
    assertLaunches(64, 9, "q8", "join", "q1");
    assertLaunches(64, TestUtil.nextInt(random(), 13, 16), "q8", "join", "q8", "join");
    assertLaunches(32, TestUtil.nextInt(random(), 6, 8), "q4", "join", "q4", "join");
    assertLaunches(16, 3, "q1", "q1", "q1");
    assertLaunches(
        227, TestUtil.nextInt(random(), 37, 40), "q16", "join", "q16", "join", "q8", "join");
  }

  private void assertLaunches(int kilobytes, int queries, String... expected) {
    ((SimulatedDriver) driver).sharedBytesPerBlock(kilobytes << 10);
    // a scan looks its kernel up before each launch
    List<String> launched = new ArrayList<>();
    CudaDriver recording =
        new ForwardingDriver(driver) {
          @Override
          public Kernel kernel(String name) {
            launched.add(name.replace("exact_few_", "").replace("float_", ""));
            return super.kernel(name);
          }
        };
    Vectors vectors = floats(300, 32, similarity());
    Vectors asked = floats(queries, 32, vectors.similarity());
    try (ExactScans own = open(recording, SMALL)) {
      ExactHits hits = new ExactHits();
      own.search(resident(vectors), asked.batch(10), hits);
      assertHits(vectors, asked, 10, i -> true, hits);
    }
    assertEquals(List.of(expected), launched);
  }

  public void testADeviceWithLittleSharedMemory() {
    assumeTrue("a device is there", driver instanceof SimulatedDriver);
    ((SimulatedDriver) driver).sharedBytesPerBlock(64 << 10);
    VectorSimilarityFunction similarity =
        RandomPicks.randomFrom(random(), VectorSimilarityFunction.values());
    // enough queries for products, which need more shared memory than there is
    check(some(0, 500, 32, similarity), some(0, MANY, 32, similarity), 10);
  }

  public void testManyHits() {
    Vectors vectors = floats(11_000, 5, similarity());
    for (int k : new int[] {128, 129, 1000, 1024, 1025, 10_000}) {
      check(vectors, floats(2, 5, vectors.similarity()), k);
    }
  }

  public void testFewerRowsThanHits() {
    Vectors vectors = floats(7, 9, similarity());
    check(vectors, floats(1, 9, vectors.similarity()), 100);
    check(vectors, floats(MANY, 9, vectors.similarity()), 100);
    check(vectors, floats(40, 9, vectors.similarity()), 1000);
  }

  /** Sets of every size, some of them empty or accepted in part, with a few queries each. */
  public void testManyScansInOneLaunch() {
    for (int kind = 0; kind < 3; kind++) {
      boolean single = random().nextBoolean();
      int count = random().nextInt(10) == 0 ? 1100 : 1 + random().nextInt(40);
      List<Vectors> vectors = new ArrayList<>();
      List<Vectors> queries = new ArrayList<>();
      List<IntPredicate> accepted = new ArrayList<>();
      List<ExactScans.Asked> asked = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        VectorSimilarityFunction similarity = similarity();
        int dimension = DIMENSIONS[random().nextInt(DIMENSIONS.length)];
        int size = random().nextInt(count > 1000 ? 10 : random().nextInt(5) == 0 ? 3000 : 100);
        int step = random().nextBoolean() ? 1 : 1 + random().nextInt(5);
        int k = random().nextBoolean() ? 10 : 1 + random().nextInt(128);
        vectors.add(some(kind, size, dimension, similarity));
        queries.add(some(kind, single ? 1 : 1 + random().nextInt(16), dimension, similarity));
        accepted.add(ordinal -> ordinal % step == 0);
        ExactRows rows = resident(vectors.get(i));
        ExactBatch batch = queries.get(i).batch(k);
        batch = step == 1 ? batch : batch.accepting(bits(size, accepted.get(i)));
        assertTrue(ExactScans.oneOfMany(rows, batch.size()));
        asked.add(new ExactScans.Asked(rows, batch, new ExactHits()));
      }
      scans.searchMany(asked);
      for (int i = 0; i < count; i++) {
        int k = asked.get(i).batch().k();
        assertHits(vectors.get(i), queries.get(i), k, accepted.get(i), asked.get(i).hits());
      }
    }
  }

  public void testWhatIsNotOneOfMany() {
    Vectors vectors = floats(1024, 4, similarity());
    ExactRows rows = resident(vectors);
    int most = (1 << 21) / rows.stride();
    assertTrue(ExactScans.oneOfMany(rows, most));
    assertFalse(ExactScans.oneOfMany(rows, most + 1));
    scans.searchMany(List.of());
  }

  public void testNoRows() {
    ExactHits hits = new ExactHits();
    Vectors none = floats(0, 4, similarity());
    scans.search(resident(none), floats(3, 4, none.similarity()).batch(10), hits);
    assertEquals(3, hits.queries());
    assertEquals(0, hits.ordinals(2).length);
    Vectors some = floats(5, 4, none.similarity());
    ExactRows rows = resident(some);
    scans.search(rows, some.batch(10).among(new int[0]), hits);
    assertEquals(0, hits.ordinals(4).length);
    scans.search(rows, some.batch(10).accepting(bits(5, i -> false)), hits);
    assertEquals(0, hits.scores(0).length);
    scans.search(rows, ExactBatch.of(List.of(), 3), hits);
    assertEquals(0, hits.queries());
  }

  public void testTiesAreOrderedByOrdinal() {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      float[][] vectors = new float[3000][];
      Vectors distinct = integers(3, 20, similarity);
      for (int i = 0; i < vectors.length; i++) {
        vectors[i] = distinct.floats()[random().nextInt(3)];
      }
      Vectors all = Vectors.of(vectors, 20, similarity);
      ExactRows rows = resident(all);
      for (int queries : new int[] {1, 5, 60}) {
        for (int k : new int[] {1, 100, 2500}) {
          Vectors asked = integers(queries, 20, similarity);
          ExactHits hits = new ExactHits();
          scans.search(rows, asked.batch(k), hits);
          assertHits(all, asked, k, i -> true, hits);
          for (int q = 0; q < queries; q++) {
            for (int i = 1; i < k; i++) {
              assertTrue(
                  hits.scores(q)[i] < hits.scores(q)[i - 1]
                      || hits.ordinals(q)[i] > hits.ordinals(q)[i - 1]);
            }
          }
        }
      }
    }
  }

  public void testNotANumber() {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      Vectors vectors = floats(500, 12, similarity);
      for (int i = 0; i < 40; i++) {
        float[] odd = vectors.floats()[random().nextInt(500)];
        switch (random().nextInt(3)) {
          case 0 -> Arrays.fill(odd, 0);
          case 1 -> odd[random().nextInt(12)] = Float.NaN;
          default -> odd[random().nextInt(12)] = Float.POSITIVE_INFINITY;
        }
      }
      for (int queries : new int[] {1, 20}) {
        Vectors asked = floats(queries, 12, similarity);
        Arrays.fill(asked.floats()[queries - 1], 0);
        check(vectors, asked, 10);
        check(vectors, asked, 490);
      }
    }
  }

  public void testFilters() {
    for (int round = 0; round < 6; round++) {
      Vectors vectors = some(round % 3, 1 + random().nextInt(3000), 24, similarity());
      ExactRows rows = resident(vectors);
      int every = 1 + random().nextInt(200);
      IntPredicate accepted = i -> i * 31 % every == 0;
      int queries = random().nextBoolean() ? 1 : 2 + random().nextInt(60);
      int k = random().nextBoolean() ? 10 : 200;
      Vectors asked = some(round % 3, queries, 24, vectors.similarity());
      ExactHits hits = new ExactHits();
      scans.search(rows, asked.batch(k).accepting(bits(vectors.size(), accepted)), hits);
      assertHits(vectors, asked, k, accepted, hits);
      int[] ordinals = IntStream.range(0, vectors.size()).filter(accepted).toArray();
      scans.search(rows, asked.batch(k).among(ordinals), hits);
      assertHits(vectors, asked, k, accepted, hits);
    }
  }

  public void testManyHitsAmongShortVectorsAndZeros() {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      int dimension = 1 + random().nextInt(5);
      Vectors vectors = floats(1000 + random().nextInt(4000), dimension, similarity);
      for (float[] vector : vectors.floats()) {
        if (random().nextInt(500) == 0) {
          Arrays.fill(vector, 0);
        }
      }
      int every = 1 + random().nextInt(4);
      IntPredicate accepted = i -> i * 31 % every == 0;
      Vectors asked = floats(MANY + random().nextInt(60), dimension, similarity);
      ExactHits hits = new ExactHits();
      int k = 200 + random().nextInt(300);
      scans.search(
          resident(vectors), asked.batch(k).accepting(bits(vectors.size(), accepted)), hits);
      assertHits(vectors, asked, k, accepted, hits);
    }
  }

  /** Every other row is one of zeros, so that each neighbour has one beside it. */
  public void testZerosBesideNeighbours() {
    Vectors vectors = floats(3000, 3, VectorSimilarityFunction.COSINE);
    for (int i = 0; i < vectors.size(); i += 2) {
      Arrays.fill(vectors.floats()[i], 0);
    }
    check(vectors, floats(40, 3, VectorSimilarityFunction.COSINE), 300);
  }

  /** No cosine with a zero query is a number: hits are ordered by ordinal, zero rows among them. */
  public void testZeroQueriesAmongZeros() {
    for (boolean bytes : new boolean[] {false, true}) {
      VectorSimilarityFunction cosine = VectorSimilarityFunction.COSINE;
      Vectors vectors = bytes ? bytes(700, 3, cosine) : integers(700, 3, cosine);
      Vectors asked = bytes ? bytes(40, 3, cosine) : integers(40, 3, cosine);
      for (int i = 0; i < 30; i++) {
        zero(vectors, random().nextInt(700));
      }
      for (int i = 0; i < 5; i++) {
        zero(asked, random().nextInt(40));
      }
      check(vectors, asked, 300);
    }
  }

  private static void zero(Vectors vectors, int i) {
    if (vectors.floats() != null) {
      Arrays.fill(vectors.floats()[i], 0);
    } else {
      Arrays.fill(vectors.bytes()[i], (byte) 0);
    }
  }

  public void testRowsInTheOrderOfTheirScores() {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      Vectors asked = floats(MANY, 17, similarity);
      float[] query = asked.floats()[0];
      for (boolean ascending : new boolean[] {true, false}) {
        float[][] rows = floats(6000, 17, similarity).floats();
        Comparator<float[]> order =
            Comparator.comparingDouble(row -> similarity.compare(query, row));
        Arrays.sort(rows, ascending ? order : order.reversed());
        check(Vectors.of(rows, 17, similarity), asked, 10);
      }
    }
  }

  public void testNormsOfAllSizes() {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      for (float factor : new float[] {1e-20f, 1e-8f, 1e-3f, 1e3f, 1e8f}) {
        Vectors rows = floats(3000, 40, similarity);
        Vectors asked = floats(MANY, 40, similarity);
        for (float[] row : rows.floats()) {
          float own = random().nextInt(4) == 0 ? factor : 1;
          for (int d = 0; d < row.length; d++) {
            row[d] *= own;
          }
        }
        check(rows, asked, 10);
      }
    }
  }

  public void testRefusals() {
    Vectors vectors = floats(10, 4, similarity());
    ExactRows rows = resident(vectors);
    ExactHits hits = new ExactHits();
    for (int k : new int[] {0, 10_001}) {
      expectThrows(IllegalArgumentException.class, () -> vectors.batch(k));
    }
    for (ExactBatch wrong :
        new ExactBatch[] {
          ExactBatch.of(List.of(QueryVector.of(new float[] {1, 2, 3})), 1),
          ExactBatch.of(List.of(QueryVector.of(new byte[] {1, 2, 3, 4})), 1),
          vectors.batch(1).among(new int[] {10})
        }) {
      expectThrows(IllegalArgumentException.class, () -> scans.search(rows, wrong, hits));
    }
  }
}
