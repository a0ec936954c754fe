package dev.vamana.ivf;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.SubspaceLayout;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;

/**
 * The product quantizer of residuals. Immutable.
 *
 * @param codebook codebook of residuals, of the field's dimension
 * @param errorQuantile how much of the product of error and length of a query's residual the error
 *     of an estimate has, rarely exceeded; 0 to 1
 */
record ResidualQuantizer(Codebook codebook, float errorQuantile) {

  private static final int TOGETHER = 1 << 14;

  /** Returns the layout of the codes of vectors. */
  static SubspaceLayout layout(int dimension) {
    return new SubspaceLayout(dimension, SubspaceLayout.defaultSubspaces(dimension));
  }

  /** Returns the bytes of the codebook in the file. */
  static long bytes(int dimension) {
    return (long) Codebook.CENTROIDS * dimension * Float.BYTES;
  }

  /** Writes the codebook. */
  void write(IndexOutput out) throws IOException {
    float[] floats = codebook.centroids();
    ByteBuffer buffer = ByteBuffer.allocate(TOGETHER * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int from = 0; from < floats.length; from += TOGETHER) {
      int count = Math.min(TOGETHER, floats.length - from);
      buffer.asFloatBuffer().put(floats, from, count);
      out.writeBytes(buffer.array(), count * Float.BYTES);
    }
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @param id identity of the centroids, which is the codebook's too
   */
  static ResidualQuantizer read(IndexInput in, int dimension, CentroidsId id, float errorQuantile)
      throws IOException {
    SubspaceLayout layout = layout(dimension);
    float[] centroids = new float[Codebook.CENTROIDS * dimension];
    in.readFloats(centroids, 0, centroids.length);
    return new ResidualQuantizer(
        new Codebook(new CodebookId(id.bytes(), "", 1), layout, centroids), errorQuantile);
  }
}
