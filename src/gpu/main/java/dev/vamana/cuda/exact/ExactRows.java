package dev.vamana.cuda.exact;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * The vectors to search: rows of floats or signed bytes, on the device or in host memory. The
 * memory must not change or move while this object is used.
 *
 * @param address device address of the first row; 0 if the rows are streamed
 * @param host the rows in host memory; null if they are resident
 * @param stride bytes between rows
 * @param size number of rows
 * @param dimension components of a row, 1 to 4,096
 * @param similarity the similarity whose scores are computed
 * @param encoding floats, or signed bytes, whose scores Lucene defines differently
 * @param facts what searches have found out about resident rows
 */
public record ExactRows(
    long address,
    MemorySegment host,
    int stride,
    int size,
    int dimension,
    VectorSimilarityFunction similarity,
    VectorEncoding encoding,
    AtomicReference<ProductFormat.Facts> facts) {

  /**
   * Describes rows in device memory or in registered host memory.
   *
   * @param address device address of the first row, a multiple of 16
   * @param stride bytes between rows, a multiple of 16
   */
  public static ExactRows resident(
      long address,
      int stride,
      int size,
      int dimension,
      VectorSimilarityFunction similarity,
      VectorEncoding encoding) {
    return new ExactRows(
        address, null, stride, size, dimension, similarity, encoding, new AtomicReference<>());
  }

  /**
   * Describes rows in host memory, such as a mapped file. Each search copies them to the device,
   * tile by tile.
   *
   * @param host memory that begins with the first row
   * @param stride bytes between rows
   */
  public static ExactRows streamed(
      MemorySegment host,
      int stride,
      int size,
      int dimension,
      VectorSimilarityFunction similarity,
      VectorEncoding encoding) {
    return new ExactRows(
        0, host, stride, size, dimension, similarity, encoding, new AtomicReference<>());
  }

  /** Whether the device reads the rows in place. */
  public boolean resident() {
    return host == null;
  }

  /** Bytes between queries over these rows, which are floats. */
  int queryStride() {
    return (dimension + 3) / 4 * 16;
  }

  /** Bytes of a row that is packed for the device. */
  int packedStride() {
    return (dimension * encoding.byteSize + 15) / 16 * 16;
  }
}
