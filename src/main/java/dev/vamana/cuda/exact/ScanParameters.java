package dev.vamana.cuda.exact;

import dev.vamana.cuda.kernel.ExactScanLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.apache.lucene.index.VectorEncoding;

/** The parameter block of the exact-search kernels, set field by field. */
final class ScanParameters {

  private final MemorySegment block = Arena.ofAuto().allocate(ExactScanLayout.BYTES, Long.BYTES);

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

  /** Clears all fields and sets those that depend only on the rows and the batch. */
  @SuppressWarnings("EnumOrdinal") // kernels use the ordinals of Lucene's similarities
  ScanParameters begin(ExactRows rows, ExactBatch batch) {
    return clear()
        .number(ExactScanLayout.DIMENSION, rows.dimension())
        .number(ExactScanLayout.SIMILARITY, rows.similarity().ordinal())
        .number(ExactScanLayout.BYTE_SCORING, rows.encoding() == VectorEncoding.BYTE ? 1 : 0)
        .number(ExactScanLayout.K, batch.k())
        .address(ExactScanLayout.ACCEPTED, batch.acceptedBits());
  }

  /** Sets the rows and candidates of a tile. */
  ScanParameters tile(Tile tile) {
    return address(ExactScanLayout.ROWS, tile.rows())
        .address(ExactScanLayout.ORDINALS, tile.ordinals())
        .number(ExactScanLayout.ROW_STRIDE, tile.stride())
        .number(ExactScanLayout.SIZE, tile.size())
        .number(ExactScanLayout.FIRST_ORDINAL, tile.firstOrdinal())
        .number(ExactScanLayout.CANDIDATES, tile.candidates())
        .number(ExactScanLayout.PACKED, tile.packed() ? 1 : 0);
  }
}
