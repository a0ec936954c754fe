package dev.vamana.pq;

import java.io.IOException;

/** Vectors by number, which several threads read at once, each through a reader of its own. */
@FunctionalInterface
public interface RowSource {

  /** A reader for the calling thread. */
  Reader open() throws IOException;

  /** Reads vectors, for one thread. */
  @FunctionalInterface
  interface Reader {
    /** Copies vector {@code row} into the first elements of {@code target}. */
    void read(int row, float[] target) throws IOException;
  }
}
