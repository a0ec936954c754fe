package dev.vamana.cuda.call;

import dev.vamana.cuda.batch.Chunk;
import dev.vamana.cuda.batch.Share;
import dev.vamana.cuda.batch.WalkLane;
import dev.vamana.cuda.lane.DeviceResult;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.session.ExecutorCounters;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the results of a chunk into those of its call. The caller reads what the device has written
 * while other walks of the chunk go on, and the rest when they have ended: reading 1,000 results
 * takes as long as a third of a short walk.
 */
final class ChunkReading {

  private static final int READ = -1;

  private final Chunk chunk;
  private final List<WorkItem> batch;
  private final Decision[] decisions;
  private final WorkResult[] results;
  private final boolean[] cancelled;
  // the items whose results have not been read
  private final int[] unread;
  private int left;
  private final Tally all = new Tally();

  /** What was read, to be counted when the chunk has ended well. */
  private static final class Tally {
    private final Map<Placement, Integer> answered = new EnumMap<>(Placement.class);
    private Placement last;
    private int answeredLast;
    private long visited;
    private long steps;

    private void answered(Placement placement) {
      // most items of a chunk search one segment
      if (placement != last) {
        flush();
        last = placement;
      }
      answeredLast++;
    }

    private void flush() {
      if (answeredLast > 0) {
        answered.merge(last, answeredLast, Integer::sum);
        answeredLast = 0;
      }
    }

    private synchronized void add(Tally other) {
      other.flush();
      visited += other.visited;
      steps += other.steps;
      other.answered.forEach((placement, count) -> answered.merge(placement, count, Integer::sum));
    }
  }

  /**
   * Makes a reading of which nothing has been read.
   *
   * @param results receives the results of the chunk's items, but for those that need more than
   *     reading
   * @param cancelled whether an item was cancelled, so that its result is not complete
   */
  ChunkReading(
      Chunk chunk,
      List<WorkItem> batch,
      Decision[] decisions,
      WorkResult[] results,
      boolean[] cancelled) {
    this.chunk = chunk;
    this.batch = batch;
    this.decisions = decisions;
    this.results = results;
    this.cancelled = cancelled;
    this.left = chunk.count();
    this.unread = new int[left];
    for (int i = 0; i < left; i++) {
      unread[i] = i;
    }
  }

  /** Reads what the device has written so far, with the help of threads that are awake. */
  void readWritten(WalkLane lane) {
    read(lane, false);
  }

  /** Reads the rest of a chunk that has ended well, and counts all. */
  void finish(WalkLane lane, ExecutorCounters counters) {
    read(lane, true);
    // once for all items: counting each takes as long as reading it
    counters.batches.walked(all.visited, all.steps);
    all.flush();
    all.answered.forEach(counters::answered);
  }

  /** Reads all that is left, or what has been written of it. */
  private void read(WalkLane lane, boolean ended) {
    Share share =
        (from, to) -> {
          Tally own = null;
          for (int j = from; j < to; j++) {
            if (ended || chunk.written(unread[j])) {
              own = own == null ? new Tally() : own;
              store(unread[j], own);
              unread[j] = READ;
            }
          }
          if (own != null) {
            all.add(own);
          }
        };
    if (lane.read(left, share) == false) {
      share.take(0, left);
    }
    int still = 0;
    for (int j = 0; j < left; j++) {
      if (unread[j] != READ) {
        unread[still++] = unread[j];
      }
    }
    left = still;
  }

  /** Takes back what was read of a chunk that has failed. */
  void drop() {
    for (int i = 0; i < chunk.count(); i++) {
      results[chunk.item(i)] = null;
    }
  }

  private void store(int i, Tally tally) {
    int index = chunk.item(i);
    DeviceResult found = chunk.result(i);
    if (found.fault() != null || found.approximate()) {
      return;
    }
    WorkResult result = result(found, cancelled[index]);
    if (decisions[index].choice().plan() == Plan.GRAPH
        && CpuExecutor.mayMissHits(batch.get(index), result)) {
      return;
    }
    results[index] = result;
    tally.visited += found.visited();
    tally.steps += found.iterations();
    tally.answered(decisions[index].segment().placement());
  }

  /** Returns the result of an item as the device found it. */
  static WorkResult result(DeviceResult found, boolean cancelled) {
    return new WorkResult(
        found.ordinals(), found.scores(), found.visited(), found.complete() && cancelled == false);
  }
}
