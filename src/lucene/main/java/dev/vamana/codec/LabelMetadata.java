package dev.vamana.codec;

import dev.vamana.search.LabelGraphs;
import java.io.IOException;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.DataOutput;
import org.apache.lucene.store.IndexInput;

/**
 * A field's {@link LabelGraphs}, and their place in .vex.
 *
 * @param edges number of edges of all graphs
 * @param sizes for each graph the number of its vectors
 * @param entryPoints for each graph the ordinal from which walks start
 */
record LabelMetadata(long edges, long offset, long length, int[] sizes, int[] entryPoints) {

  void write(DataOutput out) throws IOException {
    out.writeVLong(edges);
    out.writeVLong(offset);
    out.writeVLong(length);
    out.writeVInt(sizes.length);
    for (int i = 0; i < sizes.length; i++) {
      out.writeVInt(sizes[i]);
      out.writeInt(entryPoints[i]);
    }
  }

  static LabelMetadata read(IndexInput in, int size) throws IOException {
    long edges = in.readVLong();
    long offset = in.readVLong();
    long length = in.readVLong();
    int count = in.readVInt();
    boolean valid = count >= 1 && count <= size;
    int[] sizes = new int[valid ? count : 0];
    int[] entryPoints = new int[sizes.length];
    long members = 0;
    for (int i = 0; i < sizes.length; i++) {
      sizes[i] = in.readVInt();
      entryPoints[i] = in.readInt();
      members += sizes[i];
      valid &= sizes[i] > 0 && entryPoints[i] >= 0 && entryPoints[i] < size;
    }
    valid &= members <= size && edges >= 0 && edges <= members * LabelGraphs.DEGREE;
    if (valid == false || length != LabelGraphs.bytes(size, sizes)) {
      throw new CorruptIndexException(
          "invalid graphs of values: "
              + count
              + " graphs of "
              + members
              + " vectors of "
              + size
              + " with "
              + edges
              + " edges in "
              + length
              + " bytes",
          in);
    }
    return new LabelMetadata(edges, offset, length, sizes, entryPoints);
  }
}
