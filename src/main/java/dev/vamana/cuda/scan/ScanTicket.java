package dev.vamana.cuda.scan;

import dev.vamana.cuda.driver.GpuException;
import java.util.concurrent.locks.LockSupport;

/** A job on its way; what it was handed over for. */
public final class ScanTicket {

  private final ScanJob job;
  private final long submitted = System.nanoTime();
  private final Thread waiter = Thread.currentThread();
  private int[][] ordinals;
  private float[][] scores;
  private GpuException failure;
  private volatile boolean closed;
  private long ended;
  private volatile boolean abandoned;
  private volatile boolean done;

  ScanTicket(ScanJob job) {
    this.job = job;
  }

  /** The job. */
  public ScanJob job() {
    return job;
  }

  /** Whether it has ended, well or not. */
  public boolean done() {
    return done;
  }

  /** Nobody waits any more: it is left out if it has not begun. */
  public void abandon() {
    abandoned = true;
  }

  boolean abandoned() {
    return abandoned;
  }

  /** Ordinals of a query's hits, best first; once done without a failure. */
  public int[] ordinals(int query) {
    return ordinals[query];
  }

  /** Scores of a query's hits. */
  public float[] scores(int query) {
    return scores[query];
  }

  /** Why the device could not do it, or null; once done. */
  public GpuException failure() {
    return failure;
  }

  /** Whether the segment was closed, or is about to be, before it was done. */
  public boolean closed() {
    return closed;
  }

  /** Nanoseconds from the hand-over to the end; once done. */
  public long nanos() {
    return ended - submitted;
  }

  void succeed(int[][] ownOrdinals, float[][] ownScores) {
    ordinals = ownOrdinals;
    scores = ownScores;
    end();
  }

  void fail(GpuException e) {
    failure = e;
    end();
  }

  /** It has not begun, and will not. */
  void close() {
    closed = true;
    end();
  }

  /** Nobody is to wait any more for what the device is at. */
  void closing() {
    closed = true;
    LockSupport.unpark(waiter);
  }

  /** Lets go of the segment before anybody hears of the end, so that it can be closed then. */
  private void end() {
    job.segment().release();
    ended = System.nanoTime();
    done = true;
    LockSupport.unpark(waiter);
  }
}
