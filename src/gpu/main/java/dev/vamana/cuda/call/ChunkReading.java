package dev.vamana.cuda.call;

import dev.vamana.cuda.batch.Chunk;
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
 * Reads the results of one chunk of a call. The caller reads results that are written while other
 * walks of the chunk go on, and the rest when all have ended. Reading 1,000 results takes a third
 * of the time of a short walk.
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
  // results of items that need more than reading, by item of the chunk
  private final DeviceResult[] found;
  private final Tally all = new Tally();

  /**
   * Makes a reading of which nothing has been read.
   *
   * @param results the call's results, by item of the call. An item that needs more than reading
   *     stays null here, and is {@link #found}
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
    this.found = new DeviceResult[left];
    for (int i = 0; i < left; i++) {
      unread[i] = i;
    }
  }

  /**
   * Reads the results that the device has written so far. The caller does so alone: few of the
   * results are new, so helpers would look at most of them in vain.
   */
  void readWritten() {
    read(0, left, false);
    forget();
  }

  /**
   * Reads the rest of a chunk that has ended well, with the help of threads that are awake, and
   * counts all.
   */
  void finish(WalkLane lane, ExecutorCounters counters) {
    if (lane.read(left, (from, to, worker) -> read(from, to, true)) == false) {
      read(0, left, true);
    }
    left = 0;
    all.count(counters);
  }

  /** Returns what the device found for an item of the chunk that needs more than reading. */
  DeviceResult found(int i) {
    return found[i];
  }

  /** Reads a range of the unread results: all of it, or only the results that have been written. */
  private void read(int from, int to, boolean ended) {
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
  }

  /** Removes the results that have been read from the unread ones. */
  private void forget() {
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
    DeviceResult read = chunk.result(i);
    WorkResult result = result(read, cancelled[index]);
    if (read.fault() != null
        || read.approximate()
        || (decisions[index].plan() == Plan.GRAPH
            && CpuExecutor.mayMissHits(batch.get(index), result))) {
      found[i] = read;
      return;
    }
    results[index] = result;
    tally.searched(read.visited(), read.iterations());
    tally.answered(decisions[index].segment().placement());
  }

  /** Returns the result of an item as the device found it. */
  static WorkResult result(DeviceResult found, boolean cancelled) {
    return new WorkResult(
        found.ordinals(), found.scores(), found.visited(), found.complete() && cancelled == false);
  }

  /**
   * Adds up the answers of many items, so that the counters are told once: counting each item takes
   * as long as reading it. One thread at a time uses an instance, but several may {@link #add} to
   * one.
   */
  static final class Tally {

    private final Map<Placement, Integer> answered = new EnumMap<>(Placement.class);
    private Placement last;
    private int answeredLast;
    private long visited;
    private long steps;

    /** Adds the work of a search. */
    void searched(long visited, long steps) {
      this.visited += visited;
      this.steps += steps;
    }

    /** Adds an item that the device has answered, over a segment in a placement. */
    void answered(Placement placement) {
      // most items of a ticket search one segment
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

    /** Adds what another tally has. */
    synchronized void add(Tally other) {
      other.flush();
      visited += other.visited;
      steps += other.steps;
      other.answered.forEach((placement, count) -> answered.merge(placement, count, Integer::sum));
    }

    /** Tells the counters. */
    void count(ExecutorCounters counters) {
      flush();
      counters.batches.walked(visited, steps);
      answered.forEach(counters::answered);
    }
  }
}
