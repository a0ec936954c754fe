package dev.vamana.cuda.exact;

import dev.vamana.cuda.kernel.ScanLayouts.ExactScanLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.apache.lucene.index.VectorEncoding;

/** The parameter block of the exact-search kernels, set field by field, and what it is about. */
final class ScanParameters {

  private final MemorySegment block = Arena.ofAuto().allocate(ExactScanLayout.BYTES, Long.BYTES);
  ExactRows rows;
  ExactBatch batch;
  TileSource.Tile tile;
  // device address of some queries of the batch, and bytes between them
  long queries;
  int queryStride;
  int count;
  // receives k keys for each of these queries
  long found;

  MemorySegment block() {
    return block;
  }

  /** Sets an address or another 64-bit field. */
  ScanParameters address(long field, long value) {
    block.set(ValueLayout.JAVA_LONG, field, value);
    return this;
  }

  /** Sets a 32-bit field. */
  ScanParameters number(long field, int value) {
    block.set(ValueLayout.JAVA_INT, field, value);
    return this;
  }

  /** Sets a float field. */
  ScanParameters real(long field, float value) {
    block.set(ValueLayout.JAVA_FLOAT, field, value);
    return this;
  }

  ScanParameters clear() {
    block.fill((byte) 0);
    return this;
  }

  /**
   * Clears all fields and sets the fields that depend only on the rows and some queries of the
   * batch.
   */
  @SuppressWarnings("EnumOrdinal") // kernels use the ordinals of Lucene's similarities
  void begin(ExactRows of, ExactBatch searched, long address, int queryCount) {
    rows = of;
    batch = searched;
    queries = address;
    queryStride = rows.queryStride();
    count = queryCount;
    clear()
        .number(ExactScanLayout.QUERY_STRIDE, queryStride)
        .number(ExactScanLayout.DIMENSION, rows.dimension())
        .number(ExactScanLayout.SIMILARITY, rows.similarity().ordinal())
        .number(ExactScanLayout.BYTE_SCORING, rows.encoding() == VectorEncoding.BYTE ? 1 : 0)
        .number(ExactScanLayout.K, batch.k())
        .address(ExactScanLayout.ACCEPTED, batch.acceptedBits());
  }

  /** Sets the rows and candidates of a tile, and where its hits go. */
  void tile(TileSource.Tile next, long target) {
    tile = next;
    found = target;
    address(ExactScanLayout.ROWS, tile.rows())
        .address(ExactScanLayout.ORDINALS, tile.ordinals())
        .number(ExactScanLayout.ROW_STRIDE, tile.stride())
        .number(ExactScanLayout.SIZE, tile.size())
        .number(ExactScanLayout.FIRST_ORDINAL, tile.firstOrdinal())
        .number(ExactScanLayout.CANDIDATES, tile.candidates());
  }

  /** Sets some of the queries, and where their hits go. */
  ScanParameters part(int first, int queryCount) {
    return address(ExactScanLayout.QUERIES, queries + (long) first * queryStride)
        .address(ExactScanLayout.FOUND, found + (long) first * batch.k() * Long.BYTES)
        .number(ExactScanLayout.QUERY_COUNT, queryCount);
  }
}
