package dev.vamana.elasticsearch.search;

import java.util.concurrent.atomic.AtomicLong;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.core.Releasable;

/**
 * The memory that one batch has charged to the request breaker, which counts for the parent
 * breaker, too. Closing returns all of it. Thread-safe.
 */
public final class BreakerCharge implements Releasable {

  private static final String LABEL = "<vamana_batch_search>";

  private final CircuitBreaker breaker;
  private final AtomicLong charged = new AtomicLong();

  /** Makes a charge of nothing yet. */
  public BreakerCharge(CircuitBreaker breaker) {
    this.breaker = breaker;
  }

  /**
   * Charges memory before it is used.
   *
   * @throws CircuitBreakingException if there is not enough memory; earlier charges remain
   */
  public void add(long bytes) {
    breaker.addEstimateBytesAndMaybeBreak(bytes, LABEL);
    charged.addAndGet(bytes);
  }

  /** Gives bytes back to the breaker, for memory that is not used any more. */
  public void release(long bytes) {
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
