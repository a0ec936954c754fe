package dev.vamana.elasticsearch.gpu;

import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.common.util.concurrent.EsRejectedExecutionException;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.threadpool.ThreadPool;

/** Waits until the uploads of a shard's segments have ended, without blocking a thread. */
final class UploadWait implements Runnable {

  private static final TimeValue POLL = TimeValue.timeValueMillis(25);

  private final ThreadPool threads;
  private final Executor executor;
  private final ShardSegments segments;
  private final long end;
  private final BooleanSupplier stop;
  private final ActionListener<Boolean> listener;

  /**
   * Starts to wait, and returns.
   *
   * @param segments segments of a reader that stays open until the listener is called
   * @param stop polled; true ends the wait, and an exception fails it
   * @param listener receives whether the timeout ended the wait; called once, by a thread of {@code
   *     executor} or by the calling thread
   */
  static void begin(
      ThreadPool threads,
      Executor executor,
      ShardSegments segments,
      TimeValue timeout,
      BooleanSupplier stop,
      ActionListener<Boolean> listener) {
    new UploadWait(threads, executor, segments, timeout, stop, listener).run();
  }

  private UploadWait(
      ThreadPool threads,
      Executor executor,
      ShardSegments segments,
      TimeValue timeout,
      BooleanSupplier stop,
      ActionListener<Boolean> listener) {
    this.threads = threads;
    this.executor = executor;
    this.segments = segments;
    this.end = System.nanoTime() + timeout.nanos();
    this.stop = stop;
    this.listener = listener;
  }

  @Override
  public void run() {
    boolean waiting;
    boolean over;
    try {
      waiting = stop.getAsBoolean() == false && segments.waiting();
      over = waiting && System.nanoTime() - end >= 0;
      if (waiting && over == false) {
        threads.schedule(this, POLL, executor);
        return;
      }
    } catch (EsRejectedExecutionException e) {
      // the node is stopping
      over = true;
    } catch (RuntimeException e) {
      listener.onFailure(e);
      return;
    }
    listener.onResponse(over);
  }
}
