package dev.vamana.elasticsearch.codebook.sample;

import java.util.concurrent.atomic.AtomicLong;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.common.breaker.NoopCircuitBreaker;

/**
 * Counts the heap of all vectors that this node keeps for codebooks: against a limit of their own,
 * and by the node's request breaker. Thread-safe.
 */
public final class SampleMemory {
  private static final String LABEL = "<vamana_codebook_sample>";

  private final long limit;
  private final AtomicLong used = new AtomicLong();
  private volatile CircuitBreaker breaker = new NoopCircuitBreaker(CircuitBreaker.REQUEST);

  /** Makes a limit of {@code limit} bytes, 0 or more, that no breaker counts yet. */
  public SampleMemory(long limit) {
    this.limit = limit;
  }

  /** Sets the breaker that counts what is kept from now on. Called before anything is kept. */
  public void countBy(CircuitBreaker breaker) {
    this.breaker = breaker;
  }

  /** Most bytes that can be kept. */
  public long limit() {
    return limit;
  }

  /** Bytes kept now. */
  public long used() {
    return used.get();
  }

  /** Heap of a vector in bytes: its components, plus the overhead of the array and the list. */
  static long rowBytes(int dims) {
    return Float.BYTES * (long) dims + 24;
  }

  /**
   * Returns how many vectors a training may draw, at least the smallest sample.
   *
   * @param rows vectors wanted
   * @param dims dimension of the vectors
   * @throws CircuitBreakingException if the limit leaves no room for the smallest sample
   */
  public int fitting(int rows, int dims) {
    int fitting = (int) Math.min(rows, Math.max(0, limit - used.get()) / rowBytes(dims));
    if (fitting < SampleOptions.MIN_SAMPLE_SIZE) {
      throw refusal(SampleOptions.MIN_SAMPLE_SIZE * rowBytes(dims));
    }
    return fitting;
  }

  boolean hasRoom(long bytes) {
    return limit - used.get() >= bytes;
  }

  /** Counts bytes before they are kept; throws CircuitBreakingException if they must not be. */
  void take(long bytes) {
    breaker.addEstimateBytesAndMaybeBreak(bytes, LABEL);
    if (used.addAndGet(bytes) > limit) {
      give(bytes);
      throw refusal(bytes);
    }
  }

  void give(long bytes) {
    used.addAndGet(-bytes);
    breaker.addWithoutBreaking(-bytes);
  }

  private CircuitBreakingException refusal(long bytes) {
    return new CircuitBreakingException(
        "no memory for "
            + bytes
            + " bytes of vectors: [vamana.codebook.sample.memory] is "
            + limit
            + " bytes, of which "
            + used.get()
            + " are in use",
        bytes,
        limit,
        CircuitBreaker.Durability.TRANSIENT);
  }
}
