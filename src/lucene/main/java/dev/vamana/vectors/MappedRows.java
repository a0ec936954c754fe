package dev.vamana.vectors;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.apache.lucene.codecs.lucene95.HasIndexSlice;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.store.IndexInput;

/** Gives the mapped memory of a field's float vectors: one row after the other, by ordinal. */
public final class MappedRows {

  /** Layout of a component in the file. */
  public static final ValueLayout.OfFloat COMPONENT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private MappedRows() {}

  /** The rows, or null if the vectors are not floats or the directory does not map them. */
  public static MemorySegment of(KnnVectorValues values) throws IOException {
    if (values.getEncoding() == VectorEncoding.FLOAT32
        && values instanceof HasIndexSlice sliced
        && sliced.getSlice() != null) {
      IndexInput slice = sliced.getSlice();
      return FileRegion.of(slice, 0, slice.length()).segment();
    }
    return null;
  }
}
