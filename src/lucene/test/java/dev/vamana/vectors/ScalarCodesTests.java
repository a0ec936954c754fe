package dev.vamana.vectors;

import com.carrotsearch.randomizedtesting.generators.RandomNumbers;
import com.carrotsearch.randomizedtesting.generators.RandomPicks;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.VectorUtil;

/** Codes of a few bits a component, and what they tell about distances. */
public class ScalarCodesTests extends LuceneTestCase {

  /** Vectors of components that are normally distributed, or mostly 0 and rarely large. */
  private static float[] vector(int dimension, boolean heavyTailed) {
    Random random = random();
    float[] vector = new float[dimension];
    for (int d = 0; d < dimension; d++) {
      float component = (float) random.nextGaussian();
      vector[d] = heavyTailed ? component * component * component + d % 3 : component;
    }
    return vector;
  }

  /** Numbers are within their bits, and the words hold them. */
  public void testNumbers() {
    int dimension = RandomNumbers.randomIntBetween(random(), 1, 1_100);
    float[] mean = vector(dimension, false);
    for (int bits = 2; bits <= 3; bits++) {
      ScalarEncoder encoder = new ScalarEncoder(mean, bits);
      boolean heavyTailed = random().nextBoolean();
      float[] vector = vector(dimension, heavyTailed);
      encoder.encode(vector);
      long[] words = new long[bits * ((dimension + 63) / 64)];
      Arrays.fill(words, random().nextLong());
      encoder.write(words);
      int sum = 0;
      double before = 0;
      double after = 0;
      for (int d = 0; d < (dimension + 63) / 64 * 64; d++) {
        int number = 0;
        for (int bit = 0; bit < bits; bit++) {
          number |= (int) (words[d / 64 * bits + bit] >>> d & 1) << bit;
        }
        assertTrue(d < dimension || number == 0);
        sum += number;
        if (d < dimension) {
          double centred = vector[d] - mean[d];
          double error = encoder.lowest() + encoder.step() * number - centred;
          before += centred * centred;
          after += error * error;
        }
      }
      assertEquals(sum, encoder.sum(), 0);
      assertEquals(Math.sqrt(before), encoder.norm(), 1e-4 * encoder.norm());
      if (dimension > 64) {
        // of a few components that have nearly all of the norm, four levels may tell next to
        // nothing;
        // levels are fitted by least squares, so that the error is never more than without any
        double most = heavyTailed ? 1 : bits == 2 ? 0.3 : 0.12;
        assertTrue(bits + " bits: " + after + " of " + before, after < most * before);
      }
    }
  }

  /** Vectors whose components are all alike, or too large for products, have codes, too. */
  public void testDegenerateVectors() {
    int dimension = RandomNumbers.randomIntBetween(random(), 1, 300);
    float[] mean = new float[dimension];
    for (float value : new float[] {0, -3, 1e30f, Float.POSITIVE_INFINITY}) {
      float[] vector = new float[dimension];
      Arrays.fill(vector, value);
      ScalarEncoder encoder = new ScalarEncoder(mean, ScalarCodes.BITS);
      encoder.encode(vector);
      long[] words = new long[ScalarCodes.words(dimension)];
      encoder.write(words);
      if (value == 0 || value == -3) {
        assertEquals(0, encoder.step(), 1e-3);
        assertEquals(value, encoder.lowest() + encoder.step() * encoder.sum() / dimension, 1e-3);
      } else {
        assertTrue(Float.isNaN(encoder.norm()));
        assertEquals(0, encoder.step(), 0);
      }
    }
  }

  /** Estimated products are close, for vectors near to each other and far. */
  public void testProducts() {
    int dimension = RandomNumbers.randomIntBetween(random(), ScalarCodes.MIN_DIMENSION, 1_000);
    boolean heavyTailed = random().nextBoolean();
    float[] mean = vector(dimension, false);
    ScalarEncoder queries = new ScalarEncoder(mean, ScalarCodes.QUERY_BITS);
    ScalarEncoder encoder = new ScalarEncoder(mean, ScalarCodes.BITS);
    long[] words = new long[ScalarCodes.words(dimension)];
    double errors = 0;
    double squares = 0;
    int pairs = 300;
    for (int pair = 0; pair < pairs; pair++) {
      float[] one = vector(dimension, heavyTailed);
      float[] other = vector(dimension, heavyTailed);
      float near = random().nextFloat();
      for (int d = 0; d < dimension; d++) {
        other[d] = near * one[d] + (1 - near) * other[d];
      }
      ScalarQuery query = new ScalarQuery(one, queries);
      encoder.encode(other);
      encoder.write(words);
      double estimate =
          query.product(
              query.dot(words), encoder.lowest(), encoder.step(), encoder.step() * encoder.sum());
      double product = 0;
      for (int d = 0; d < dimension; d++) {
        product += (double) (one[d] - mean[d]) * (other[d] - mean[d]);
      }
      double error = (estimate - product) / query.norm() / encoder.norm();
      errors += error / pairs;
      squares += error * error / pairs;
    }
    // rare large components leave few levels to the others
    assertEquals(0, errors, heavyTailed ? 0.12 : 0.03);
    assertEquals(0, Math.sqrt(squares), heavyTailed ? 0.16 : ScalarCodes.MAX_DEVIATION);
  }

  /** Mapped codes and codes that are read give the same answers. */
  public void testMappedOrRead() throws IOException {
    int dimension = RandomNumbers.randomIntBetween(random(), ScalarCodes.MIN_DIMENSION, 700);
    int size = RandomNumbers.randomIntBetween(random(), 1, 200);
    VectorSimilarityFunction similarity =
        RandomPicks.randomFrom(
            random(),
            List.of(
                VectorSimilarityFunction.EUCLIDEAN,
                VectorSimilarityFunction.COSINE,
                VectorSimilarityFunction.DOT_PRODUCT));
    float[][] vectors = new float[size][];
    for (int i = 0; i < size; i++) {
      vectors[i] = vector(dimension, false);
      VectorUtil.l2normalize(vectors[i]);
    }
    try (Directory mapping = new MMapDirectory(createTempDir());
        Directory buffers = new ByteBuffersDirectory()) {
      write(mapping, vectors);
      write(buffers, vectors);
      try (IndexInput mapped = mapping.openInput("codes", IOContext.DEFAULT);
          IndexInput read = buffers.openInput("codes", IOContext.DEFAULT)) {
        ScalarCodes one = open(mapped, size, dimension, similarity);
        ScalarCodes other = open(read, size, dimension, similarity);
        for (int round = 0; round < 20; round++) {
          float[] query = vectors[random().nextInt(size)];
          int near = random().nextInt(size);
          float worst = similarity.compare(query, vectors[near]);
          int[] kept = keep(one, query, worst, size);
          assertArrayEquals(kept, keep(other, query, worst, size));
          assertTrue(Arrays.stream(kept).anyMatch(ordinal -> vectors[ordinal] == query));
        }
      }
    }
  }

  /** Errors of components cancel out in products with queries of many of them only. */
  public void testQueriesOfFewComponentsHaveNoFilter() throws IOException {
    int dimension = RandomNumbers.randomIntBetween(random(), 200, 400);
    float[][] vectors = {vector(dimension, false), vector(dimension, false)};
    try (Directory directory = new MMapDirectory(createTempDir())) {
      write(directory, vectors);
      try (IndexInput input = directory.openInput("codes", IOContext.DEFAULT)) {
        ScalarCodes codes = open(input, 2, dimension, VectorSimilarityFunction.EUCLIDEAN);
        for (int components : new int[] {1, 4, 15, 16, 200}) {
          float[] query = new float[dimension];
          Arrays.fill(query, dimension - components, dimension, random().nextBoolean() ? 3 : -3);
          assertEquals("" + components, components >= 16, codes.filter(query) != null);
        }
        assertNotNull("the mean itself", codes.filter(new float[dimension]));
      }
    }
  }

  private static ScalarCodes open(
      IndexInput input, int size, int dimension, VectorSimilarityFunction similarity)
      throws IOException {
    FileRegion region = FileRegion.of(input, 0, ScalarCodes.length(size, dimension));
    return new ScalarCodes(region, size, dimension, similarity, 0.05f);
  }

  private static int[] keep(ScalarCodes codes, float[] query, float worst, int size)
      throws IOException {
    int[] ordinals = IntStream.range(0, size).toArray();
    ScalarFilter filter = codes.filter(query);
    if (filter == null) {
      return ordinals;
    }
    int kept = filter.keep(ordinals, size, new int[size], 0, worst);
    filter.sort(ordinals, kept);
    return Arrays.copyOf(ordinals, kept);
  }

  private static void write(Directory directory, float[][] vectors) throws IOException {
    int dimension = vectors[0].length;
    float[] mean = new float[dimension];
    ScalarEncoder encoder = new ScalarEncoder(mean, ScalarCodes.BITS);
    byte[] row = new byte[ScalarCodes.rowBytes(dimension)];
    try (IndexOutput out = directory.createOutput("codes", IOContext.DEFAULT)) {
      for (float[] vector : vectors) {
        encoder.encode(vector);
        ScalarCodes.write(
            encoder,
            new long[ScalarCodes.words(dimension)],
            ByteBuffer.wrap(row).order(ByteOrder.LITTLE_ENDIAN),
            0);
        out.writeBytes(row, row.length);
      }
      for (float component : mean) {
        out.writeInt(Float.floatToIntBits(component));
      }
    }
  }

  public void testWhatSuits() {
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      boolean distance = similarity != VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT;
      assertEquals(distance, ScalarCodes.suit(VectorEncoding.FLOAT32, similarity, 96));
      assertFalse(ScalarCodes.suit(VectorEncoding.FLOAT32, similarity, 95));
      assertFalse(ScalarCodes.suit(VectorEncoding.BYTE, similarity, 96));
    }
  }
}
