package dev.vamana.elasticsearch.codebook.sample;

import java.util.List;
import org.elasticsearch.common.breaker.CircuitBreakingException;

/**
 * One codebook's sample on this node. Thread-safe.
 *
 * <p>A training seals the sample when it collects it, so that several reads see the same rows. A
 * sealed sample only counts new vectors as missed.
 */
final class Sample {
  private final String name;
  private final SampleOptions options;
  private final SampleMemory.Rows memory;
  private final Reservoir reservoir;
  private long missing;
  private long rejected;
  private long conflicts;
  private long missed;
  private boolean sealed;
  private boolean released;

  /** Makes an empty sample, which grows as long as there is memory. */
  Sample(String name, SampleOptions options, SampleMemory memory, long seed) {
    this.name = name;
    this.options = options;
    this.memory = memory.rows(options.space().dims());
    reservoir = new Reservoir(options.sampleSize(), seed);
  }

  SampleOptions options() {
    return options;
  }

  synchronized void offer(float[] vector) {
    if (sealed || released || !mayKeep()) {
      missed++;
    } else {
      reservoir.offer(vector);
    }
  }

  /**
   * Whether there is memory for another vector. A sample that meets the limit of all samples stays
   * at its size, or begins again if it is too small to train on. One that the breaker refuses may
   * grow later.
   */
  private boolean mayKeep() {
    if (reservoir.size() == reservoir.capacity()) {
      return true;
    }
    if (memory.fitsOne()) {
      try {
        memory.add(1);
        return true;
      } catch (CircuitBreakingException e) {
        return false;
      }
    }
    if (reservoir.size() >= SampleOptions.MIN_SAMPLE_SIZE) {
      reservoir.stopGrowing();
      return true;
    }
    missed += reservoir.size();
    reservoir.clear();
    memory.close();
    return false;
  }

  synchronized void countMissing() {
    missing++;
  }

  synchronized void countRejected() {
    rejected++;
  }

  synchronized void countConflict() {
    conflicts++;
  }

  /**
   * Seals the sample and returns rows {@code from} to {@code to - 1} in an order that the seed
   * determines.
   */
  synchronized List<float[]> collect(long seed, int from, int to) {
    sealed = true;
    List<float[]> order = reservoir.shuffled(seed);
    return List.copyOf(order.subList(Math.min(from, order.size()), Math.min(to, order.size())));
  }

  synchronized void unseal() {
    sealed = false;
  }

  /** Drops the vectors and returns their memory. The sample then accepts no more vectors. */
  synchronized void release() {
    released = true;
    reservoir.clear();
    memory.close();
  }

  synchronized SampleStatus status() {
    return new SampleStatus(
        name,
        options,
        reservoir.seen(),
        reservoir.size(),
        reservoir.capacity(),
        missing,
        rejected,
        conflicts,
        missed,
        memory.bytes());
  }
}
