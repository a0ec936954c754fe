package dev.vamana.cuda.memory;

import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests the center of copies in bytes. */
public class CopyCenterTests extends LuceneTestCase {

  private interface Components {
    float next();
  }

  private static float[][] vectors(int size, int dimension, Components components) {
    float[][] vectors = new float[size][dimension];
    for (float[] vector : vectors) {
      for (int d = 0; d < dimension; d++) {
        vector[d] = components.next();
      }
    }
    return vectors;
  }

  private static float[] center(float[][] vectors, VectorSimilarityFunction similarity)
      throws IOException {
    int dimension = vectors[0].length;
    ByteBuffer bytes =
        ByteBuffer.allocate(vectors.length * dimension * Float.BYTES)
            .order(ByteOrder.LITTLE_ENDIAN);
    for (float[] vector : vectors) {
      for (float component : vector) {
        bytes.putFloat(component);
      }
    }
    try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
      try (IndexOutput output = directory.createOutput("vectors", IOContext.DEFAULT)) {
        output.writeBytes(bytes.array(), bytes.capacity());
      }
      try (IndexInput input = directory.openInput("vectors", IOContext.DEFAULT)) {
        return CopyCenter.of(
            FileRegion.of(input, 0, bytes.capacity()),
            new SegmentShape(
                vectors.length,
                dimension,
                VectorEncoding.FLOAT32,
                4,
                0,
                true,
                false,
                false,
                null,
                0),
            similarity,
            () -> {});
      }
    }
  }

  private static float[] filled(int dimension, float value) {
    float[] filled = new float[dimension];
    Arrays.fill(filled, value);
    return filled;
  }

  public void testMedianOfFewVectors() throws IOException {
    float[][] vectors = {{1.5f, -3}, {2.5f, 1e30f}, {100, -2}};
    assertArrayEquals(
        new float[] {2.5f, -2}, center(vectors, VectorSimilarityFunction.EUCLIDEAN), 0);
  }

  public void testFewOutliersDoNotMoveTheCenter() throws IOException {
    int size = 200 + random().nextInt(2000);
    float[][] vectors = vectors(size, 5, () -> 7 + (float) random().nextGaussian());
    for (int i = 0; i < size / 20; i++) {
      float[] bad = {1e30f, Float.NaN, Float.POSITIVE_INFINITY, -1e9f};
      vectors[random().nextInt(size)][random().nextInt(5)] = bad[random().nextInt(bad.length)];
    }
    assertArrayEquals(
        filled(5, 7), center(vectors, VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT), 0.6f);
  }

  public void testIntegersHaveTheCenterOfBytes() throws IOException {
    int size = 30 + random().nextInt(2000);
    float[][] vectors = vectors(size, 4, () -> random().nextInt(256));
    vectors[0][random().nextInt(4)] *= 1_000;
    vectors[size / 2][random().nextInt(4)] += 0.5f;
    float[] center = center(vectors, VectorSimilarityFunction.EUCLIDEAN);
    assertArrayEquals(filled(4, 128), center, 0);
    assertArrayEquals(center, center(vectors, VectorSimilarityFunction.EUCLIDEAN), 0);
  }

  public void testVectorsOfLengthOneForTheCosine() throws IOException {
    float[][] vectors = vectors(100, 3, () -> (float) Math.exp(20 * random().nextDouble()));
    for (float[] vector : vectors) {
      vector[1] = vector[0];
      vector[2] = 0;
    }
    vectors[3] = new float[3];
    float half = (float) Math.sqrt(0.5);
    assertArrayEquals(
        new float[] {half, half, 0}, center(vectors, VectorSimilarityFunction.COSINE), 1e-6f);
  }

  public void testVectorsOfNoNumbers() throws IOException {
    float[][] vectors = vectors(50, 2, () -> Float.NaN);
    assertArrayEquals(new float[2], center(vectors, VectorSimilarityFunction.EUCLIDEAN), 0);
  }
}
