package dev.vamana.pq;

import dev.vamana.vectors.ArrayCopy;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** Vectors by row number. Several threads may read at once, each through its own reader. */
@FunctionalInterface
public interface RowSource {

  /** Makes a reader for the calling thread. */
  Reader open() throws IOException;

  /** Returns a source of vectors on the heap, which are not copied. */
  static RowSource of(float[][] rows) {
    Reader reader =
        new Reader() {
          @Override
          public void read(int row, float[] target) {
            System.arraycopy(rows[row], 0, target, 0, rows[row].length);
          }

          @Override
          public void read(int row, float[] scratch, MemorySegment target, long at) {
            float[] own = rows[row];
            ArrayCopy.toMemory(own, 0, target, at, own.length);
          }
        };
    return () -> reader;
  }

  /** Reads vectors, for one thread. */
  @FunctionalInterface
  interface Reader {
    /** Copies vector {@code row} into the first elements of {@code target}. */
    void read(int row, float[] target) throws IOException;

    /**
     * Copies vector {@code row} into native memory, as floats in native byte order.
     *
     * @param scratch as many floats as a vector has; overwritten
     * @param at byte offset of the vector in {@code target}
     */
    default void read(int row, float[] scratch, MemorySegment target, long at) throws IOException {
      read(row, scratch);
      ArrayCopy.toMemory(scratch, 0, target, at, scratch.length);
    }
  }
}
