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
    if (shape.kind() == CodeKind.PQ) {
      out.writeVInt(shape.subspaces());
      out.writeInt(Float.floatToIntBits(facts.errorQuantile()));
    }
    out.writeVInt(shape.lists());
    out.writeBytes(facts.id().bytes(), CentroidsId.BYTES);
    out.writeLong(facts.seed());
    out.writeInt(Float.floatToIntBits(facts.spread()));
    out.writeVLong(facts.places());
    out.writeVLong(offset);
    out.writeVLong(length);
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws CorruptIndexException if values are out of range or contradict each other
   */
  static ListMetadata read(IndexInput in, int size, int dimension) throws IOException {
    int bits = in.readByte();
    CodeKind kind = CodeKind.ofBits(bits).orElse(null);
    boolean quantized = kind == CodeKind.PQ;
    int subspaces = quantized ? in.readVInt() : 0;
    float errorQuantile = quantized ? Float.intBitsToFloat(in.readInt()) : 0;
    int lists = in.readVInt();
    byte[] id = new byte[CentroidsId.BYTES];
    in.readBytes(id, 0, id.length);
    long seed = in.readLong();
    float spread = Float.intBitsToFloat(in.readInt());
    long places = in.readVLong();
    long offset = in.readVLong();
    long length = in.readVLong();
    boolean valid =
        kind != null
            && errorQuantile >= 0
            && errorQuantile <= 1
            && lists >= 1
            && lists <= Math.min(size, ListShape.MAX_LISTS)
            && spread >= 0
            && spread <= 1
            && places >= size
            && places <= size + (long) lists * ListShape.GROUP;
    if (valid) {
      ListShape shape = new ListShape(size, dimension, lists, kind);
      if (subspaces == shape.subspaces() && length == shape.length(places)) {
        return new ListMetadata(
            shape,
            new InvertedLists.Facts(new CentroidsId(id), seed, spread, errorQuantile, places),
            offset,
            length);
      }
    }
    throw new CorruptIndexException(
        "invalid lists of "
            + size
            + " vectors: bits="
            + bits
            + ", subspaces="
            + subspaces
            + ", errorQuantile="
            + errorQuantile
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
