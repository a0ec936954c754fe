package dev.vamana.codec;

import dev.vamana.graph.StoredAdjacency;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.vectors.ScalarCodes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.DataOutput;
import org.apache.lucene.store.IndexInput;

/**
 * One field's entry in the .vem file. {@link VamanaVectorsFormat} documents the layout.
 *
 * @param size number of vectors
 * @param graph the field's graph, or null
 * @param lists the field's inverted lists, or null
 * @param quantization the field's codes, or null
 * @param labels the graphs of the filter field's values, or null
 */
record FieldMetadata(
    VectorEncoding encoding,
    VectorSimilarityFunction similarity,
    int dimension,
    int size,
    GraphMetadata graph,
    ListMetadata lists,
    QuantizationMetadata quantization,
    LabelMetadata labels) {

  // the file stores positions in these lists, so their order must never change
  private static final List<VectorEncoding> ENCODINGS =
      List.of(VectorEncoding.BYTE, VectorEncoding.FLOAT32);
  private static final List<VectorSimilarityFunction> SIMILARITIES =
      List.of(
          VectorSimilarityFunction.EUCLIDEAN,
          VectorSimilarityFunction.DOT_PRODUCT,
          VectorSimilarityFunction.COSINE,
          VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT);

  // most UTF-8 bytes of one UTF-16 unit
  private static final int UTF8_BYTES = 3;

  /** Metadata of a field without graph, lists and codes. */
  static FieldMetadata flat(FieldInfo info, int size) {
    return of(info, size, null, null, null);
  }

  static FieldMetadata of(
      FieldInfo info,
      int size,
      GraphMetadata graph,
      ListMetadata lists,
      QuantizationMetadata quantization) {
    return new FieldMetadata(
        info.getVectorEncoding(),
        info.getVectorSimilarityFunction(),
        info.getVectorDimension(),
        size,
        graph,
        lists,
        quantization,
        null);
  }

  FieldMetadata with(LabelMetadata ofLabels) {
    return new FieldMetadata(
        encoding, similarity, dimension, size, graph, lists, quantization, ofLabels);
  }

  /** Writes the entry. */
  void write(DataOutput out) throws IOException {
    out.writeInt(ENCODINGS.indexOf(encoding));
    out.writeInt(SIMILARITIES.indexOf(similarity));
    out.writeVInt(dimension);
    out.writeInt(size);
    out.writeByte((byte) (graph == null ? 0 : 1));
    if (graph != null) {
      graph.write(out);
      out.writeByte((byte) (graph.scalars == null ? 0 : 1));
      if (graph.scalars != null) {
        graph.scalars.write(out);
      }
    }
    out.writeByte((byte) (lists == null ? 0 : 1));
    if (lists != null) {
      lists.write(out);
    }
    out.writeByte((byte) (quantization == null ? 0 : 1));
    if (quantization != null) {
      quantization.write(out);
    }
    out.writeByte((byte) (labels == null ? 0 : 1));
    if (labels != null) {
      labels.write(out);
    }
  }

  /**
   * Reads what {@link #write} wrote.
   *
   * @throws CorruptIndexException if the values contradict each other or the field's description
   */
  static FieldMetadata read(IndexInput in, FieldInfo info) throws IOException {
    VectorEncoding encoding = element(in, "encoding", ENCODINGS);
    VectorSimilarityFunction similarity = element(in, "similarity", SIMILARITIES);
    int dimension = in.readVInt();
    int size = in.readInt();
    boolean matches =
        encoding == info.getVectorEncoding()
            && similarity == info.getVectorSimilarityFunction()
            && dimension == info.getVectorDimension();
    if (matches == false || size < 0) {
      throw new CorruptIndexException(
          "metadata of field "
              + info.name
              + " does not match its description: "
              + encoding
              + " "
              + similarity
              + " "
              + dimension
              + " "
              + size,
          in);
    }
    GraphMetadata graph = flag(in) ? GraphMetadata.read(in, size) : null;
    if (graph != null && flag(in)) {
      graph = graph.with(ScalarMetadata.read(in, size, dimension));
    }
    ListMetadata lists = flag(in) ? ListMetadata.read(in, size, dimension) : null;
    QuantizationMetadata quantization =
        flag(in) ? QuantizationMetadata.read(in, size, dimension) : null;
    LabelMetadata labels = flag(in) ? LabelMetadata.read(in, size) : null;
    return new FieldMetadata(
        encoding, similarity, dimension, size, graph, lists, quantization, labels);
  }

  private static <T> T element(IndexInput in, String what, List<T> values) throws IOException {
    int index = in.readInt();
    if (index < 0 || index >= values.size()) {
      throw new CorruptIndexException("invalid " + what + ": " + index, in);
    }
    return values.get(index);
  }

  private static boolean flag(IndexInput in) throws IOException {
    byte flag = in.readByte();
    if (flag != 0 && flag != 1) {
      throw new CorruptIndexException("invalid flag: " + flag, in);
    }
    return flag == 1;
  }

  /**
   * A field's graph.
   *
   * @param stride slots of a row
   * @param passes how often each node was inserted
   * @param edges number of edges of the graph
   * @param offset where the rows start in .vex
   * @param length bytes of all rows
   * @param scalars the scalar codes that lie behind the rows, or null
   */
  record GraphMetadata(
      int maxDegree,
      int stride,
      int beamWidth,
      float alpha,
      int passes,
      int medoid,
      long edges,
      long offset,
      long length,
      ScalarMetadata scalars) {

    GraphMetadata with(ScalarMetadata ofScalars) {
      return new GraphMetadata(
          maxDegree, stride, beamWidth, alpha, passes, medoid, edges, offset, length, ofScalars);
    }

    void write(DataOutput out) throws IOException {
      out.writeVInt(maxDegree);
      out.writeVInt(stride);
      out.writeVInt(beamWidth);
      out.writeInt(Float.floatToIntBits(alpha));
      out.writeVInt(passes);
      out.writeInt(medoid);
      out.writeVLong(edges);
      out.writeVLong(offset);
      out.writeVLong(length);
    }

    static GraphMetadata read(IndexInput in, int size) throws IOException {
      GraphMetadata graph =
          new GraphMetadata(
              in.readVInt(),
              in.readVInt(),
              in.readVInt(),
              Float.intBitsToFloat(in.readInt()),
              in.readVInt(),
              in.readInt(),
              in.readVLong(),
              in.readVLong(),
              in.readVLong(),
              null);
      boolean valid =
          graph.maxDegree > 0
              && graph.stride == StoredAdjacency.stride(graph.maxDegree)
              && graph.medoid >= 0
              && graph.medoid < size
              && graph.edges >= 0
              && graph.edges <= (long) size * graph.maxDegree
              && graph.length == (long) size * graph.stride * Integer.BYTES;
      if (valid == false) {
        throw new CorruptIndexException("invalid graph of " + size + " vectors: " + graph, in);
      }
      return graph;
    }
  }

  /** A field's {@link ScalarCodes}, and their place in .vex. */
  record ScalarMetadata(long offset, long length, float deviation) {

    void write(DataOutput out) throws IOException {
      out.writeVLong(offset);
      out.writeVLong(length);
      out.writeInt(Float.floatToIntBits(deviation));
    }

    static ScalarMetadata read(IndexInput in, int size, int dimension) throws IOException {
      ScalarMetadata scalars =
          new ScalarMetadata(in.readVLong(), in.readVLong(), Float.intBitsToFloat(in.readInt()));
      boolean valid =
          scalars.length == ScalarCodes.length(size, dimension)
              && Float.isFinite(scalars.deviation)
              && scalars.deviation >= 0;
      if (valid == false) {
        throw new CorruptIndexException(
            "invalid scalar codes of " + size + " vectors: " + scalars, in);
      }
      return scalars;
    }
  }

  /** A field's codes, and their place in .veq. */
  record QuantizationMetadata(
      int subspaces,
      long codesOffset,
      long codesLength,
      long codebookOffset,
      long codebookLength,
      CodebookId codebookId) {

    void write(DataOutput out) throws IOException {
      out.writeVInt(subspaces);
      out.writeVLong(codesOffset);
      out.writeVLong(codesLength);
      out.writeVLong(codebookOffset);
      out.writeVLong(codebookLength);
      out.writeBytes(codebookId.id(), CodebookId.ID_BYTES);
      out.writeString(codebookId.name());
      out.writeVInt(codebookId.version());
    }

    static QuantizationMetadata read(IndexInput in, int size, int dimension) throws IOException {
      int subspaces = in.readVInt();
      long codesOffset = in.readVLong();
      long codesLength = in.readVLong();
      long codebookOffset = in.readVLong();
      long codebookLength = in.readVLong();
      byte[] id = new byte[CodebookId.ID_BYTES];
      in.readBytes(id, 0, id.length);
      String name = readName(in);
      int version = in.readVInt();
      boolean valid =
          subspaces >= 1
              && subspaces <= Math.min(dimension, SubspaceLayout.MAX_SUBSPACES)
              && codesLength == (long) size * subspaces
              && codebookLength == (long) Codebook.CENTROIDS * dimension * Float.BYTES
              && version >= 1;
      if (valid == false) {
        throw new CorruptIndexException(
            "invalid codes of "
                + size
                + " vectors: subspaces="
                + subspaces
                + ", codes="
                + codesLength
                + ", codebook="
                + codebookLength
                + ", name="
                + name
                + ", version="
                + version,
            in);
      }
      return new QuantizationMetadata(
          subspaces,
          codesOffset,
          codesLength,
          codebookOffset,
          codebookLength,
          new CodebookId(id, name, version));
    }

    /** Reads a string. Checks its length before allocating memory for it. */
    private static String readName(IndexInput in) throws IOException {
      int length = in.readVInt();
      if (length < 0 || length > CodebookId.MAX_NAME_LENGTH * UTF8_BYTES) {
        throw new CorruptIndexException("invalid length of a codebook's name: " + length, in);
      }
      byte[] utf8 = new byte[length];
      in.readBytes(utf8, 0, length);
      String name = new String(utf8, StandardCharsets.UTF_8);
      if (name.length() > CodebookId.MAX_NAME_LENGTH) {
        throw new CorruptIndexException("invalid name of a codebook: " + name, in);
      }
      return name;
    }
  }
}
