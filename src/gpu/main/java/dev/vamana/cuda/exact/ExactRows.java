package dev.vamana.cuda.exact;

import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * The vectors to search: rows of floats or signed bytes, in device memory or in registered host
 * memory, which must not change or move while this object is used.
 *
 * @param address device address of the first row, a multiple of 16
 * @param stride bytes between rows, a multiple of 16
 * @param size number of rows
 * @param dimension components of a row, 1 to 4,096
 * @param similarity the similarity whose scores are computed
 * @param encoding floats, or signed bytes, whose scores Lucene defines differently
 * @param facts what searches have found out about the rows
 */
public record ExactRows(
    long address,
    int stride,
    int size,
    int dimension,
    VectorSimilarityFunction similarity,
    VectorEncoding encoding,
    AtomicReference<ProductFormat.Facts> facts) {

  /** Describes rows of which nothing is known yet. */
  public static ExactRows resident(
      long address,
      int stride,
      int size,
      int dimension,
      VectorSimilarityFunction similarity,
      VectorEncoding encoding) {
    return new ExactRows(
        address, stride, size, dimension, similarity, encoding, new AtomicReference<>());
  }

  /** Bytes between queries over these rows, which are floats. */
  int queryStride() {
    return (dimension + 3) / 4 * 16;
  }
}
