package dev.vamana.elasticsearch.batch;

import java.util.concurrent.atomic.AtomicLong;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.core.Releasable;

/**
 * What one batch has charged the request breaker, which counts for the parent breaker too. Closing
 * gives all of it back. Thread-safe.
 */
final class BreakerCharge implements Releasable {

  private static final String LABEL = "<vamana_batch_search>";

  private final CircuitBreaker breaker;
  private final AtomicLong charged = new AtomicLong();

  BreakerCharge(CircuitBreaker breaker) {
    this.breaker = breaker;
  }

  /**
   * Charges memory that is about to be used.
   *
   * @throws CircuitBreakingException if there is not enough; what was charged before stays charged
   */
  void add(long bytes) {
    breaker.addEstimateBytesAndMaybeBreak(bytes, LABEL);
    charged.addAndGet(bytes);
  }

  /** Gives back some of what was charged, for memory that is not used any more. */
  void release(long bytes) {
    charged.addAndGet(-bytes);
    breaker.addWithoutBreaking(-bytes);
  }

  @Override
  public void close() {
    long bytes = charged.getAndSet(0);
    if (bytes > 0) {
      breaker.addWithoutBreaking(-bytes);
    }
  }
}
