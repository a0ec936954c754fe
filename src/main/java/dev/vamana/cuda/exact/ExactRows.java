package dev.vamana.cuda.exact;

import java.lang.foreign.MemorySegment;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * The vectors that are searched: floats or signed bytes, one row after the other. They stay as they
 * are, and where they are, for as long as this object is used; what a search learns about all of
 * them is kept in it for the next.
 */
public final class ExactRows {

  static final int MAX_DIMENSION = 4096;

  private final long address;
  private final MemorySegment host;
  private final int stride;
  private final int size;
  private final int dimension;
  private final VectorSimilarityFunction similarity;
  private final VectorEncoding encoding;
  private volatile RowFacts facts;

  private ExactRows(
      long address,
      MemorySegment host,
      int stride,
      int size,
      int dimension,
      VectorSimilarityFunction similarity,
      VectorEncoding encoding) {
    if (dimension < 1 || dimension > MAX_DIMENSION) {
      throw new IllegalArgumentException(
          "dimension must be 1 to " + MAX_DIMENSION + ", got " + dimension);
    }
    if (size < 0) {
      throw new IllegalArgumentException("size must be at least 0, got " + size);
    }
    if (stride < dimension * encoding.byteSize) {
      throw new IllegalArgumentException(
          "stride of " + stride + " bytes holds no row of " + dimension + " " + encoding);
    }
    this.address = address;
    this.host = host;
    this.stride = stride;
    this.size = size;
    this.dimension = dimension;
    this.similarity = similarity;
    this.encoding = encoding;
  }

  /**
   * Rows in the device's memory, or registered with it.
   *
   * @param address of the first row for the device, a multiple of 16
   * @param stride bytes from one row to the next, a multiple of 16
   * @param size number of rows
   * @param dimension components of a row, 1 to 4,096
   * @param similarity whose scores are wanted
   * @param encoding floats, or signed bytes, which have scores of their own
   */
  public static ExactRows resident(
      long address,
      int stride,
      int size,
      int dimension,
      VectorSimilarityFunction similarity,
      VectorEncoding encoding) {
    if (address % 16 != 0 || stride % 16 != 0) {
      throw new IllegalArgumentException(
          "address and stride of rows must be multiples of 16, got " + address + " and " + stride);
    }
    return new ExactRows(address, null, stride, size, dimension, similarity, encoding);
  }

  /**
   * Rows in the host's memory, such as a mapped file. Each search brings them to the device, tile
   * by tile.
   *
   * @param host begins with the first row
   * @param stride bytes from one row to the next
   * @param size number of rows
   * @param dimension components of a row, 1 to 4,096
   * @param similarity whose scores are wanted
   * @param encoding floats, or signed bytes, which have scores of their own
   */
  public static ExactRows streamed(
      MemorySegment host,
      int stride,
      int size,
      int dimension,
      VectorSimilarityFunction similarity,
      VectorEncoding encoding) {
    long wanted = size == 0 ? 0 : (size - 1L) * stride + (long) dimension * encoding.byteSize;
    if (host.byteSize() < wanted) {
      throw new IllegalArgumentException(
          size + " rows take " + wanted + " bytes, got " + host.byteSize());
    }
    return new ExactRows(0, host, stride, size, dimension, similarity, encoding);
  }

  /** Where the device has the first row; 0 if it has to be brought there. */
  long address() {
    return address;
  }

  /** The rows, or null if the device has them. */
  MemorySegment host() {
    return host;
  }

  /** Whether the device reads the rows where they are. */
  public boolean resident() {
    return host == null;
  }

  /** What was found out about all rows; null if nothing was yet. */
  RowFacts facts() {
    return facts;
  }

  void facts(RowFacts found) {
    facts = found;
  }

  int stride() {
    return stride;
  }

  /** Bytes of a row that is packed for the device. */
  int packedStride() {
    return (dimension * encoding.byteSize + 15) / 16 * 16;
  }

  /** Number of rows. */
  public int size() {
    return size;
  }

  /** Components of a row. */
  public int dimension() {
    return dimension;
  }

  /** Whose scores are found. */
  public VectorSimilarityFunction similarity() {
    return similarity;
  }

  /** What a component is. */
  public VectorEncoding encoding() {
    return encoding;
  }
}
