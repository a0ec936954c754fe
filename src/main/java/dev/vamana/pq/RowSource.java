package dev.vamana.pq;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Vectors by number, which several threads read at once, each through a reader of its own. */
@FunctionalInterface
public interface RowSource {

  /** A reader for the calling thread. */
  Reader open() throws IOException;

  /** Vectors on the heap, which are not copied. */
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
            MemorySegment.copy(own, 0, target, ValueLayout.JAVA_FLOAT, at, own.length);
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
     * Copies vector {@code row} into native memory, as floats of this machine's byte order.
     *
     * @param scratch as many floats as a vector has, overwritten with anything
     * @param at byte of {@code target} where the vector begins
     */
    default void read(int row, float[] scratch, MemorySegment target, long at) throws IOException {
      read(row, scratch);
      MemorySegment.copy(scratch, 0, target, ValueLayout.JAVA_FLOAT, at, scratch.length);
    }
  }
}
