package dev.vamana.graph;

import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IndexInput;

/**
 * Adjacency rows in a segment file: one row of {@code stride} little-endian 4-byte ordinals per
 * node, in ordinal order. Unused slots are at the end of a row and hold {@link #UNUSED}.
 *
 * <p>Every ordinal is checked against the graph's size when it is read, so a damaged file ends a
 * search with an exception.
 */
public final class StoredAdjacency implements Adjacency {

  /** Value of a slot without a neighbour. */
  public static final int UNUSED = -1;

  private static final ValueLayout.OfInt LITTLE_ENDIAN_INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final FileRegion region;
  private final MemorySegment segment;
  private final IndexInput input;
  private final int size;
  private final int stride;

  /**
   * Makes a view of rows in a file.
   *
   * @param region the rows, {@code size * stride * 4} bytes
   * @param size number of nodes
   * @param stride slots of a row
   */
  public StoredAdjacency(FileRegion region, int size, int stride) throws IOException {
    if (region.length() != (long) size * stride * Integer.BYTES) {
      throw new IllegalArgumentException(
          "a graph of "
              + size
              + " rows of "
              + stride
              + " slots does not take "
              + region.length()
              + " bytes");
    }
    this.region = region;
    this.segment = region.segment();
    this.input = segment == null ? region.open() : null;
    this.size = size;
    this.stride = stride;
  }

  /**
   * Returns the slots of a row in the file for a max degree: a multiple of 4, for 16-byte loads.
   */
  public static int stride(int maxDegree) {
    return (maxDegree + 3) & ~3;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public int maxDegree() {
    return stride;
  }

  @Override
  public int neighbors(int ordinal, int[] neighbors) throws IOException {
    long start = (long) ordinal * stride * Integer.BYTES;
    if (segment != null) {
      try {
        MemorySegment.copy(segment, LITTLE_ENDIAN_INT, start, neighbors, 0, stride);
      } catch (IllegalStateException e) {
        throw new AlreadyClosedException("the graph was closed: " + region, e);
      }
    } else {
      input.seek(start);
      input.readInts(neighbors, 0, stride);
    }
    int degree = 0;
    while (degree < stride && neighbors[degree] != UNUSED) {
      if (neighbors[degree] < 0 || neighbors[degree] >= size) {
        throw new CorruptIndexException(
            "node " + ordinal + " names neighbor " + neighbors[degree] + " of " + size,
            region.toString());
      }
      degree++;
    }
    return degree;
  }

  @Override
  public Adjacency copy() throws IOException {
    return segment != null ? this : new StoredAdjacency(region, size, stride);
  }
}
