package dev.vamana.ivf;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.DistanceTable;
import dev.vamana.pq.SubspaceLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** Entries of product quantization codes: the estimates that they give, and their errors. */
public class ResidualEncoderTests extends IvfTestCase {

  private static BlockRotation identity(SubspaceLayout layout) {
    float[] matrices = new float[BlockRotation.floats(layout)];
    int[] starts = BlockRotation.starts(layout);
    int at = 0;
    for (int block = 1; block < starts.length; block++) {
      int length = starts[block] - starts[block - 1];
      for (int d = 0; d < length; d++) {
        matrices[at + d * (length + 1)] = 1;
      }
      at += length * length;
    }
    return new BlockRotation(layout, matrices);
  }

  public void testBlocksCoverAllComponents() {
    for (int i = 0; i < 50; i++) {
      int dimension = 1 + random().nextInt(SubspaceLayout.MAX_DIMS);
      int[] starts = BlockRotation.starts(ResidualQuantizer.layout(dimension));
      assertEquals(0, starts[0]);
      assertEquals(dimension, starts[starts.length - 1]);
      for (int block = 1; block < starts.length; block++) {
        int length = starts[block] - starts[block - 1];
        assertTrue(dimension + ": " + length, length > 0 && length <= BlockRotation.MOST);
      }
    }
  }

  public void testIdentity() {
    int dimension = 1 + random().nextInt(500);
    float[] vector = gaussian(dimension);
    float[] rotated = new float[Rotation.padded(dimension)];
    BlockRotation rotation = identity(ResidualQuantizer.layout(dimension));
    rotation.apply(vector, rotated);
    for (int d = 0; d < rotated.length; d++) {
      assertEquals(d < dimension ? vector[d] : 0, rotated[d], 0);
    }
    float[] back = new float[dimension];
    rotation.invert(rotated, back);
    assertArrayEquals(vector, back, 0);
  }

  /** What a component is the sum of, as devices read it. */
  public void testComponents() {
    int dimension = 1 + random().nextInt(500);
    SubspaceLayout layout = ResidualQuantizer.layout(dimension);
    float[] matrices = gaussian(BlockRotation.floats(layout));
    BlockRotation rotation = new BlockRotation(layout, matrices);
    assertEquals(dimension, rotation.dimension());
    float[] vector = gaussian(dimension);
    float[] rotated = new float[Rotation.padded(dimension)];
    rotation.apply(vector, rotated);
    for (int d = 0; d < dimension; d++) {
      float sum = 0;
      for (int i = 0; i < rotation.length(d); i++) {
        sum += vector[rotation.first(d) + i] * matrices[rotation.at(d) + i * rotation.length(d)];
      }
      assertEquals(rotated[d], sum, 1e-3f);
    }
  }

  /**
   * The estimate of an entry differs from the distance by at most error and length of the query's
   * residual, and not at all for a query in the direction of the residual.
   */
  public void testErrorIsABound() throws IOException {
    for (boolean products : new boolean[] {false, true}) {
      int dimension = 2 + random().nextInt(200);
      ListShape shape = new ListShape(1, dimension, 1, CodeKind.PQ);
      SubspaceLayout layout = ResidualQuantizer.layout(dimension);
      float[] centers = gaussian(Codebook.CENTROIDS * dimension);
      Codebook codebook = new Codebook(CodebookId.random(), layout, centers);
      float[] centroid = padded(gaussian(dimension), shape);
      float[] residual = padded(gaussian(dimension), shape);
      ByteBuffer head = ByteBuffer.allocate(shape.headBytes()).order(ByteOrder.LITTLE_ENDIAN);
      new ResidualEncoder(shape, codebook, products)
          .encode(7, residual, centroid, head, 0, null, -1);
      assertEquals(7, head.getInt(0));
      float[] vector = sum(centroid, residual, 1);
      for (int i = 0; i < 20; i++) {
        boolean along = i == 0;
        float[] query = along ? sum(centroid, residual, 3) : padded(gaussian(dimension), shape);
        float[] difference = sum(query, centroid, -1);
        double base = products ? -product(query, centroid) : product(difference, difference);
        float[] away = sum(query, vector, -1);
        double distance = products ? -product(query, vector) : product(away, away);
        double estimate = base + head.getFloat(4) - head.getFloat(8) * sum(codebook, query, head);
        double error = head.getFloat(12) * Math.sqrt(product(difference, difference));
        double rounding = 1e-4 * (1 + Math.abs(distance) + Math.abs(base));
        assertEquals(distance, estimate, error + rounding);
        if (along && head.getFloat(8) != (products ? -1 : -2)) {
          assertEquals(distance, estimate, rounding);
        }
      }
    }
  }

  private static double sum(Codebook codebook, float[] query, ByteBuffer head) {
    float[] own = Arrays.copyOf(query, codebook.layout().dims());
    byte[] code = new byte[codebook.layout().count()];
    head.get(16, code);
    return new DistanceTable(codebook, DistanceTable.Metric.NEGATED_INNER_PRODUCT, own)
        .distance(code, 0);
  }

  private static float[] padded(float[] vector, ListShape shape) {
    return Arrays.copyOf(vector, shape.padded());
  }

  private static float[] sum(float[] one, float[] other, float times) {
    float[] sum = new float[one.length];
    for (int d = 0; d < sum.length; d++) {
      sum[d] = one[d] + times * other[d];
    }
    return sum;
  }
}
