package dev.vamana.cuda.scan;

import dev.vamana.cuda.driver.GpuException;
import java.util.concurrent.locks.LockSupport;

/** A submitted {@link ScanJob}, through which its caller waits for the result. */
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

  /** Returns the job. */
  public ScanJob job() {
    return job;
  }

  /** Whether the job has ended, after success or failure. */
  public boolean done() {
    return done;
  }

  /** Gives up waiting. The job is skipped if it has not begun. */
  public void abandon() {
    abandoned = true;
  }

  boolean abandoned() {
    return abandoned;
  }

  /** Returns the ordinals of a query's hits, best first. Valid once done without failure. */
  public int[] ordinals(int query) {
    return ordinals[query];
  }

  /** Returns the scores of a query's hits. */
  public float[] scores(int query) {
    return scores[query];
  }

  /** Returns why the device failed, or null. Valid once done. */
  public GpuException failure() {
    return failure;
  }

  /** Whether the segment was closed, or its closing has begun, before the job was done. */
  public boolean closed() {
    return closed;
  }

  /** Returns the nanoseconds from submission to end. Valid once done. */
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

  /** Ends a job that has not begun and will not begin. */
  void close() {
    closed = true;
    end();
  }

  /** Releases the waiting thread from a job that is running. */
  void closing() {
    closed = true;
    LockSupport.unpark(waiter);
  }

  /** Ends the job. Releases the segment first, so that the caller can close it afterwards. */
  private void end() {
    job.segment().release();
    ended = System.nanoTime();
    done = true;
    LockSupport.unpark(waiter);
  }
}
