package dev.vamana.pq;

import dev.vamana.vectors.FloatVectors;
import dev.vamana.vectors.MappedRows;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Reads vectors of a field as quantization and devices need them: as floats, and scaled to unit
 * length for COSINE. For one thread.
 */
public final class StoredRows implements RowSource.Reader {

  private final FloatVectors floats;
  private final int[] ordinals;
  // the stored vectors if they need no conversion, else null
  private final MemorySegment mapped;
  private final int dimension;

  /**
   * Makes a reader.
   *
   * @param values the field's vectors, used by this reader alone
   * @param ordinals the ordinal of each row; null if rows are ordinals
   */
  public StoredRows(KnnVectorValues values, VectorSimilarityFunction similarity, int[] ordinals)
      throws IOException {
    this.floats = new FloatVectors(values, similarity);
    this.ordinals = ordinals;
    // components lie in the file as the memory is to have them, on all but a few machines
    boolean same =
        similarity != VectorSimilarityFunction.COSINE
            && ByteOrder.nativeOrder() == MappedRows.COMPONENT.order();
    this.mapped = same ? MappedRows.of(values) : null;
    this.dimension = values.dimension();
  }

  @Override
  public void read(int row, float[] target) throws IOException {
    floats.read(ordinal(row), target);
  }

  @Override
  public void read(int row, float[] scratch, MemorySegment target, long at) throws IOException {
    if (mapped == null) {
      RowSource.Reader.super.read(row, scratch, target, at);
      return;
    }
    long from = (long) ordinal(row) * dimension * Float.BYTES;
    MemorySegment.copy(mapped, from, target, at, (long) dimension * Float.BYTES);
  }

  private int ordinal(int row) {
    return ordinals == null ? row : ordinals[row];
  }
}
