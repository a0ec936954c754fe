package dev.vamana.elasticsearch.search;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Makes the calls of a batched search wait until few others are on their way: to the same node, and
 * in bytes to all nodes together. Thread-safe.
 *
 * <p>Calls start in their order, but one that has to wait lets those pass that need not. A call of
 * more bytes than all calls may have starts when no other with bytes is on its way.
 */
final class ShardTurns {

  private final int mostOfNode;
  private final long mostBytes;
  private final Queue<Turn> waiting = new ArrayDeque<>();
  private final Map<String, Integer> running = new HashMap<>();
  private final AtomicInteger toStart = new AtomicInteger();
  private long bytesRunning;

  /**
   * A call that waits.
   *
   * @param call starts it; told what to run, once, when it has ended
   */
  private record Turn(String node, long bytes, Consumer<Runnable> call) {}

  /**
   * Makes turns of no calls yet.
   *
   * @param mostOfNode most calls to a node at a time, at least 1
   * @param mostBytes most bytes of all calls at a time
   */
  ShardTurns(int mostOfNode, long mostBytes) {
    this.mostOfNode = mostOfNode;
    this.mostBytes = mostBytes;
  }

  /**
   * Starts a call at once, or when others have ended.
   *
   * @param bytes memory that the call takes until it has ended; 0 for calls that take none
   * @param call starts the call on the calling thread or on one that ends another, throws nothing,
   *     and has what it receives run when the call has ended
   */
  void take(String node, long bytes, Consumer<Runnable> call) {
    synchronized (this) {
      waiting.add(new Turn(node, bytes, call));
    }
    startNext();
  }

  /** Not recursive, however many calls end before they return. */
  private void startNext() {
    if (toStart.getAndIncrement() > 0) {
      return;
    }
    do {
      for (Turn turn = next(); turn != null; turn = next()) {
        Turn started = turn;
        AtomicBoolean ended = new AtomicBoolean();
        started
            .call()
            .accept(
                () -> {
                  if (ended.compareAndSet(false, true)) {
                    end(started);
                  }
                });
      }
    } while (toStart.decrementAndGet() > 0);
  }

  /** Takes the first call that may start, or returns null. */
  private synchronized Turn next() {
    for (Iterator<Turn> turns = waiting.iterator(); turns.hasNext(); ) {
      Turn turn = turns.next();
      boolean fits =
          turn.bytes() == 0 || bytesRunning == 0 || bytesRunning + turn.bytes() <= mostBytes;
      if (fits && running.getOrDefault(turn.node(), 0) < mostOfNode) {
        turns.remove();
        running.merge(turn.node(), 1, Integer::sum);
        bytesRunning += turn.bytes();
        return turn;
      }
    }
    return null;
  }

  private void end(Turn turn) {
    synchronized (this) {
      running.merge(turn.node(), -1, Integer::sum);
      bytesRunning -= turn.bytes();
    }
    startNext();
  }
}
