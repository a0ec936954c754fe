package dev.vamana.cuda.exact;

import dev.vamana.cuda.memory.PinnedBuffer;
import dev.vamana.work.Workers;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Some queries of a batch on their way, and the memory that is theirs until they are answered. Two
 * take turns, so that the host writes one while the device works on the other.
 */
final class Slice {

  private final Scratch scratch;
  private final QueryStage stage;
  private final FoundLists found;
  private final PinnedBuffer redo;
  private final long done;
  private int first;
  private int count;

  Slice(Scratch scratch, Workers workers) {
    this.scratch = scratch;
    stage = new QueryStage(scratch, workers);
    found = new FoundLists(scratch);
    redo = scratch.pinned();
    done = scratch.event();
  }

  /** Becomes some queries of a batch; what it was before has been read. */
  void begin(int firstQuery, int queryCount, int k, int tiles) {
    first = firstQuery;
    count = queryCount;
    found.begin(queryCount, k, tiles);
    redo.ensure((long) queryCount * Integer.BYTES);
    redo.segment().asSlice(0, (long) queryCount * Integer.BYTES).fill((byte) 0);
  }

  /** Stages the queries; returns where kernels of the stream find them. */
  long stage(ExactRows rows, ExactBatch batch, long stream) {
    return stage.stage(rows, batch, first, count, stream);
  }

  int count() {
    return count;
  }

  FoundLists found() {
    return found;
  }

  /** Where queries are marked that have to be asked again. */
  long redo() {
    return redo.address();
  }

  /** Ends the launches of this slice. */
  void end(long stream) {
    found.end(stream);
    scratch.driver().record(done, stream);
  }

  /**
   * Waits for the answers and reads them.
   *
   * @param again receives the queries that have to be asked again
   */
  void read(ExactHits hits, int k, List<Integer> again) {
    scratch.await(done);
    hits.read(found.keys(), first, count, k);
    MemorySegment marks = redo.segment();
    for (int q = 0; q < count; q++) {
      if (marks.getAtIndex(ValueLayout.JAVA_INT, q) != 0) {
        again.add(first + q);
      }
    }
  }

  /** A list for {@link #read}. */
  static List<Integer> none() {
    return new ArrayList<>();
  }
}
