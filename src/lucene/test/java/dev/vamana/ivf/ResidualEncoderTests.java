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
