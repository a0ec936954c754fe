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
 * The product quantizer of residuals: a rotation and a codebook that were trained together.
 * Immutable.
 *
 * @param rotation rotation of vectors and centroids
 * @param codebook codebook of rotated residuals, of the field's dimension
 * @param errorQuantile how much of the product of error and length of a query's residual the error
 *     of an estimate has, rarely exceeded; 0 to 1
 */
record ResidualQuantizer(BlockRotation rotation, Codebook codebook, float errorQuantile) {

  private static final int TOGETHER = 1 << 14;

  /** Returns the layout of the codes of vectors. */
  static SubspaceLayout layout(int dimension) {
    return new SubspaceLayout(dimension, SubspaceLayout.defaultSubspaces(dimension));
  }

  /** Returns the bytes of codebook and rotation in the file. */
  static long bytes(int dimension) {
    long floats = (long) Codebook.CENTROIDS * dimension + BlockRotation.floats(layout(dimension));
    return floats * Float.BYTES;
  }

  /** Writes codebook and rotation. */
  void write(IndexOutput out) throws IOException {
    write(out, codebook.centroids());
    write(out, rotation.matrices());
  }

  private static void write(IndexOutput out, float[] floats) throws IOException {
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
    float[] matrices = new float[BlockRotation.floats(layout)];
    in.readFloats(matrices, 0, matrices.length);
    return new ResidualQuantizer(
        new BlockRotation(layout, matrices),
        new Codebook(new CodebookId(id.bytes(), "", 1), layout, centroids),
        errorQuantile);
  }
}
