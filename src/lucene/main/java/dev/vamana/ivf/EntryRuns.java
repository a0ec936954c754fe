package dev.vamana.ivf;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.store.IndexOutput;

/**
 * Writes the entries of all lists. While the calling thread writes a run of entries, the other
 * threads make the entries of the next run. Only the calling thread writes, because Lucene slows
 * merges down in the thread that merges.
 */
final class EntryRuns {

  /** Bytes of a run, unless one group of places takes more. Two runs are in memory. */
  private static final int RUN_BYTES = 2 << 20;

  private final IndexOutput out;
  private final ListShape shape;
  private final ListAssignment lists;
  private final EntryMaker.Source makers;
  private final Workers workers;
  private final AbortCheck abort;
  private final int most;
  private final Queue<EntryMaker> idle = new ConcurrentLinkedQueue<>();
  // the buffers of the run that is written and of the one that is made
  private byte[] front = {};
  private byte[] back = {};
  private EntryRun pending;

  /**
   * Prepares to write.
   *
   * @param makers makes what each thread needs
   */
  EntryRuns(
      IndexOutput out,
      ListShape shape,
      ListAssignment lists,
      EntryMaker.Source makers,
      Workers workers,
      AbortCheck abort) {
    this.out = out;
    this.shape = shape;
    this.lists = lists;
    this.makers = makers;
    this.workers = workers;
    this.abort = abort;
    int blocks = RUN_BYTES / (ListShape.BLOCK * (shape.headBytes() + shape.tailBytes()));
    this.most = ListShape.BLOCK * Math.max(1, blocks);
  }

  /** Writes everything. */
  void write() throws IOException {
    int from = 0;
    while (from < shape.lists()) {
      int to = from;
      int places = 0;
      while (to < shape.lists() && places + ListShape.places(lists.count(to)) <= most) {
        places += ListShape.places(lists.count(to));
        to++;
      }
      if (to > from) {
        take(EntryRun.ofLists(shape, lists, from, to));
        from = to;
      } else {
        takeParts(from, EntryRun.Part.HEADS);
        if (shape.tailBytes() > 0) {
          takeParts(from, EntryRun.Part.TAILS);
        }
        from++;
      }
    }
    writePending();
  }

  /** Takes the heads or the tails of a list that is too long for one run. */
  private void takeParts(int list, EntryRun.Part part) throws IOException {
    int places = ListShape.places(lists.count(list));
    for (int start = 0; start < places; start += most) {
      take(EntryRun.ofPart(shape, lists, list, start, Math.min(places, start + most), part));
    }
  }

  /** Makes a run, and meanwhile writes the one before. */
  private void take(EntryRun run) throws IOException {
    byte[] buffer = back.length >= run.bytes() ? back : new byte[run.bytes()];
    run.into(buffer);
    AtomicInteger next = new AtomicInteger();
    Thread caller = Thread.currentThread();
    workers.together(
        run.pieces(),
        () -> {
          if (caller.equals(Thread.currentThread())) {
            writePending();
          }
          EntryMaker maker = null;
          int piece;
          while ((piece = next.getAndIncrement()) < run.pieces()) {
            abort.check();
            if (maker == null) {
              maker = idle.poll();
              maker = maker == null ? makers.open() : maker;
            }
            maker.make(run, piece);
          }
          if (maker != null) {
            idle.add(maker);
          }
        });
    writePending();
    back = front;
    front = buffer;
    pending = run;
  }

  private void writePending() throws IOException {
    EntryRun run = pending;
    if (run != null) {
      pending = null;
      out.writeBytes(front, run.bytes());
    }
  }
}
