package dev.vamana.vectors;

import com.carrotsearch.randomizedtesting.generators.RandomNumbers;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.VectorUtil;

/** Codes of vectors, by components and by sums of components. */
public class SignEncoderTests extends LuceneTestCase {

  private static float[] vector(int dimension) {
    float[] vector = new float[dimension];
    for (int d = 0; d < dimension; d++) {
      vector[d] = (float) random().nextGaussian();
    }
    return vector;
  }

  private static float[] centred(float[] vector, float[] mean) {
    float[] centred = new float[vector.length];
    for (int d = 0; d < vector.length; d++) {
      centred[d] = vector[d] - mean[d];
    }
    return centred;
  }

  private static boolean bit(long[] words, int bit) {
    return (words[bit / Long.SIZE] >>> bit % Long.SIZE & 1) == 1;
  }

  public void testBitsOfComponents() {
    int dimension = RandomNumbers.randomIntBetween(random(), 1, 1_100);
    float[] mean = vector(dimension);
    SignEncoder encoder = new SignEncoder(mean, false);
    long[] words = new long[SignCodes.words(dimension)];
    for (int round = 0; round < 3; round++) {
      float[] vector = vector(dimension);
      float norm = encoder.encode(vector, words);
      assertEquals(Math.sqrt(VectorUtil.squareDistance(vector, mean)), norm, 1e-4 * norm);
      for (int bit = 0; bit < words.length * Long.SIZE; bit++) {
        assertEquals(bit < dimension && vector[bit] > mean[bit], bit(words, bit));
      }
    }
  }

  public void testBitsOfSums() {
    int dimension = RandomNumbers.randomIntBetween(random(), 1, 4_096);
    float[] mean = vector(dimension);
    SignMix.Terms terms = SignMix.Terms.of(dimension);
    SignEncoder encoder = new SignEncoder(mean, true);
    SignMix mix = new SignMix(terms);
    long[] words = new long[SignCodes.words(dimension)];
    float[] sums = new float[words.length * Long.SIZE];
    for (int round = 0; round < 3; round++) {
      float[] vector = vector(dimension);
      float[] centred = centred(vector, mean);
      mix.apply(centred, sums);
      float norm = encoder.encode(vector, words);
      assertEquals(Math.sqrt(VectorUtil.squareDistance(vector, mean)), norm, 1e-4 * norm);
      for (int bit = 0; bit < sums.length; bit++) {
        double sum = 0;
        for (int term = 0; term < SignMix.TERMS; term++) {
          sum += terms.signs()[term][bit] * centred[(bit + terms.shifts()[term]) % dimension];
        }
        assertEquals(sum, sums[bit], 1e-4);
        assertEquals(sums[bit] > 0, bit(words, bit));
      }
    }
  }

  /** Shifts and signs are part of the file format. */
  public void testTermsNeverChange() {
    SignMix.Terms terms = SignMix.Terms.of(784);
    assertEquals(784, terms.dimension());
    assertEquals(832, terms.sums());
    int hash = Arrays.hashCode(terms.shifts());
    for (float[] signs : terms.signs()) {
      hash = 31 * hash + Arrays.hashCode(signs);
    }
    assertEquals(1_870_501_383, hash);
  }

  /**
   * What is written of mixed codes makes a reader that does not know them leave out nothing that
   * matters: 4 is added to the deviation.
   */
  public void testReadersWithoutMixedCodesLeaveOutNothingNear() throws IOException {
    int dimension = RandomNumbers.randomIntBetween(random(), 256, 600);
    int size = 200;
    float[] mean = vector(dimension);
    float[][] vectors = new float[size][];
    Random random = new Random(random().nextLong());
    try (Directory directory = newDirectory()) {
      try (IndexOutput out = directory.createOutput("codes", IOContext.DEFAULT)) {
        SignEncoder encoder = new SignEncoder(mean, true);
        long[] words = new long[SignCodes.words(dimension)];
        for (int i = 0; i < size; i++) {
          vectors[i] = vector(dimension);
          float norm = encoder.encode(vectors[i], words);
          for (long word : words) {
            out.writeLong(word);
          }
          out.writeLong(Integer.toUnsignedLong(Float.floatToIntBits(norm)));
        }
        for (float component : mean) {
          out.writeInt(Float.floatToIntBits(component));
        }
      }
      try (IndexInput in = directory.openInput("codes", IOContext.DEFAULT)) {
        SignCodes codes =
            new SignCodes(
                FileRegion.of(in, 0, in.length()),
                size,
                dimension,
                VectorSimilarityFunction.EUCLIDEAN,
                new SignCodes.Angles(
                    0.3f * random.nextFloat(),
                    (float) Math.PI / dimension,
                    4 + 0.07f * random.nextFloat(),
                    false));
        for (int round = 0; round < 10; round++) {
          float[] query = vector(dimension);
          float worst =
              VectorSimilarityFunction.EUCLIDEAN.compare(query, vectors[random.nextInt(size)]);
          int[] ordinals = IntStream.range(0, size).toArray();
          int[] leftOut = new int[size];
          int kept = codes.filter(query).keep(ordinals, size, leftOut, 0, worst);
          for (int i = 0; i < size - kept; i++) {
            float score = VectorSimilarityFunction.EUCLIDEAN.compare(query, vectors[leftOut[i]]);
            assertTrue(score + " is left out at " + worst, score < worst * 1.0001f);
          }
        }
      }
    }
  }

  public void testAngles() {
    assertTrue(new SignCodes.Angles(0.2f, 0.01f, 0.13f, false).valid());
    assertFalse(new SignCodes.Angles(Float.NaN, 0.01f, 0.06f, false).valid());
    assertFalse(new SignCodes.Angles(0.2f, Float.POSITIVE_INFINITY, 0.06f, false).valid());
    assertFalse(new SignCodes.Angles(0.2f, 0.01f, -1, false).valid());
  }
}
