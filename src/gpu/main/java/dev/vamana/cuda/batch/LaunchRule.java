package dev.vamana.cuda.batch;

import dev.vamana.cuda.kernel.ListSearchShape;
import dev.vamana.cuda.lists.ListBatches;
import dev.vamana.ivf.ListShape;
import java.util.Collection;
import java.util.Queue;
import java.util.function.Supplier;

/**
 * When queued items are launched. An idle device takes whatever waits, and a few launches more do
 * so beside it. A few more start with enough items to fill the device, or when many calls wait; the
 * rest start only with hundreds of items. Only the thread of a {@link WalkLane} uses it.
 */
final class LaunchRule {

  // so many calls start beside others in flight, however few their items are: callers that have
  // one item each would wait for a launch to end
  private static final int OVERLAP_CALLS = 6;

  // beside so many launches others start only with many items: small launches would take the slots
  // that callers of thousands keep the device busy with
  private static final int LAUNCHES_OF_FEW = 8;
  private static final int MANY_ITEMS = 512;

  private final Supplier<BatchOptions> options;
  private final ListBatches together;
  private long idleSince = System.nanoTime();

  /**
   * Makes the rule of a lane whose device is idle.
   *
   * @param options current options
   * @param together searches lists by many items together
   */
  LaunchRule(Supplier<BatchOptions> options, ListBatches together) {
    this.options = options;
    this.together = together;
  }

  /**
   * Says that all launches have ended.
   *
   * @param now {@link System#nanoTime}
   */
  void idle(long now) {
    idleSince = now;
  }

  /**
   * Whether to launch queued items of one shape.
   *
   * @param queue the items' chunks, oldest first, at least one
   * @param running launches in flight
   * @param last whether nothing more will be queued
   */
  boolean mayLaunch(Queue<Chunk> queue, int running, boolean last) {
    boolean idle = running == 0;
    BatchOptions now = options.get();
    if (idle && lingered(queue.peek().since(), now.lingerNanos())) {
      return true;
    }
    boolean share = willShare(queue, now);
    int most = share ? mostTogether(queue, now) : now.maxBatch();
    // the steps of a launch before would keep items waiting on the device: meanwhile more come, and
    // all share the lists that are read
    boolean full = idle || (share && together.running());
    int enough = full ? most : Math.min(besideOthers(queue.size(), running, now), most);
    int items = 0;
    for (Chunk chunk : queue) {
      items += chunk.count();
      if (items >= enough) {
        return true;
      }
    }
    return last && idle;
  }

  /**
   * Returns the most items of a launch of queued items of one shape.
   *
   * @param queue the items' chunks, at least one
   */
  int most(Queue<Chunk> queue) {
    BatchOptions now = options.get();
    return willShare(queue, now) ? mostTogether(queue, now) : now.maxBatch();
  }

  /** Returns the most items of a launch that searches queued items together. */
  private int mostTogether(Queue<Chunk> queue, BatchOptions now) {
    return together.gainsBySize(lists(queue)) ? now.maxTogether() : now.maxBatch();
  }

  private static ListShape lists(Queue<Chunk> queue) {
    return queue.peek().segments().get(0).view().lists().shape();
  }

  /** Whether queued items will be searched together. */
  private static boolean willShare(Queue<Chunk> queue, BatchOptions now) {
    if (!(queue.peek().shape instanceof ListSearchShape)) {
      return false;
    }
    ListShape shape = lists(queue);
    int sharing = now.tuning().listSharing();
    return ListBatches.wanted(expected(queue), shape.size(), shape.lists(), sharing);
  }

  /** Returns the number of items that are queued, or will be once their calls have packed all. */
  private static int expected(Collection<Chunk> queue) {
    int items = 0;
    int expected = 0;
    for (Chunk chunk : queue) {
      items += chunk.count();
      expected = Math.max(expected, Math.max(items, chunk.together));
    }
    return expected;
  }

  /** Returns the queued items that start beside others in flight. */
  private static int besideOthers(int waiting, int running, BatchOptions now) {
    // who lets an idle device wait for more items wants few launches
    if (now.lingerNanos() > 0) {
      return BatchOptions.OVERLAP;
    }
    if (running >= LAUNCHES_OF_FEW) {
      return Math.max(BatchOptions.OVERLAP, MANY_ITEMS);
    }
    return running < BatchOptions.EAGER || waiting >= OVERLAP_CALLS ? 1 : BatchOptions.OVERLAP;
  }

  /**
   * Whether an idle device has waited long enough for more items. Items that queued while the
   * device was busy wait too, because the callers that were just answered may send their next items
   * and would miss the launch otherwise.
   */
  private boolean lingered(long submitted, long linger) {
    if (linger == 0) {
      return true;
    }
    long now = System.nanoTime();
    return now - submitted >= linger && now - idleSince >= linger;
  }
}
