package dev.vamana.cuda.exact;

import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import dev.vamana.work.Workers;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Some queries of a batch during their search, with their memory. Two slices alternate, so that the
 * host writes the queries of one while the device searches the other.
 */
final class Slice {

  private final DriverObjects objects;
  private final QueryStage stage;
  private final FoundLists found;
  private final PinnedBuffer redo;
  private final long done;
  private int first;
  private int count;

  Slice(DriverObjects objects, Workers workers) {
    this.objects = objects;
    stage = new QueryStage(objects, workers);
    found = new FoundLists(objects);
    redo = objects.pinned();
    done = objects.event();
  }

  /** Assigns queries of a batch. The results of the earlier ones have been read. */
  void begin(int firstQuery, int queryCount, int k, int tiles) {
    first = firstQuery;
    count = queryCount;
    found.begin(queryCount, k, tiles);
    redo.ensure((long) queryCount * Integer.BYTES);
    redo.segment().asSlice(0, (long) queryCount * Integer.BYTES).fill((byte) 0);
  }

  /** Stages the queries and returns their device address, for kernels of the stream. */
  long stage(ExactRows rows, ExactBatch batch, long stream) {
    return stage.stage(rows, batch, first, count, stream);
  }

  int count() {
    return count;
  }

  FoundLists found() {
    return found;
  }

  /** Returns the address of the marks for queries that have to be searched again. */
  long redo() {
    return redo.address();
  }

  /** Marks the end of the slice's launches. */
  void end(long stream) {
    found.end(stream);
    objects.driver().record(done, stream);
  }

  /**
   * Waits for the results and reads them.
   *
   * @param again receives the queries that have to be searched again
   */
  void read(ExactHits hits, int k, List<Integer> again) {
    objects.await(done);
    hits.read(found.keys(), first, count, k);
    MemorySegment marks = redo.segment();
    for (int q = 0; q < count; q++) {
      if (marks.getAtIndex(ValueLayout.JAVA_INT, q) != 0) {
        again.add(first + q);
      }
    }
  }

  /** Makes an empty list for {@link #read}. */
  static List<Integer> none() {
    return new ArrayList<>();
  }
}
