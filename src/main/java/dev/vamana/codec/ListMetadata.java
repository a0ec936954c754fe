package dev.vamana.codec;

import dev.vamana.ivf.CentroidsId;
import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.ivf.ListShape;
import java.io.IOException;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.DataOutput;
import org.apache.lucene.store.IndexInput;

/**
 * A field's inverted lists, as the .vem file describes them. {@link VamanaVectorsFormat} documents
 * the layout.
 *
 * @param offset where they start in .vex
 * @param length bytes of centroids, table, numbers of lists, and lists
 */
record ListMetadata(ListShape shape, InvertedLists.Facts facts, long offset, long length) {

  void write(DataOutput out) throws IOException {
    out.writeByte((byte) shape.kind().bits());
    out.writeVInt(shape.lists());
    out.writeBytes(facts.id().bytes(), CentroidsId.BYTES);
    out.writeLong(facts.seed());
    out.writeInt(Float.floatToIntBits(facts.spread()));
    out.writeVLong(facts.places());
    out.writeVLong(offset);
    out.writeVLong(length);
  }

  static ListMetadata read(IndexInput in, int size, int dimension) throws IOException {
    int bits = in.readByte();
    int lists = in.readVInt();
    byte[] id = new byte[CentroidsId.BYTES];
    in.readBytes(id, 0, id.length);
    long seed = in.readLong();
    float spread = Float.intBitsToFloat(in.readInt());
    long places = in.readVLong();
    long offset = in.readVLong();
    long length = in.readVLong();
    CodeKind kind = CodeKind.ofBits(bits).orElse(null);
    boolean valid =
        kind != null
            && lists >= 1
            && lists <= Math.min(size, ListShape.MAX_LISTS)
            && spread >= 0
            && spread <= 1
            && places >= size
            && places <= size + (long) lists * ListShape.GROUP;
    if (valid) {
      ListShape shape = new ListShape(size, dimension, lists, kind);
      if (length == shape.length(places)) {
        return new ListMetadata(
            shape,
            new InvertedLists.Facts(new CentroidsId(id), seed, spread, places),
            offset,
            length);
      }
    }
    throw new CorruptIndexException(
        "invalid lists of "
            + size
            + " vectors: bits="
            + bits
            + ", lists="
            + lists
            + ", spread="
            + spread
            + ", places="
            + places
            + ", length="
            + length,
        in);
  }
}
