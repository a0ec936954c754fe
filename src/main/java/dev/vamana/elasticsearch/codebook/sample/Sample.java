package dev.vamana.elasticsearch.codebook.sample;

import java.util.List;

/**
 * One codebook's sample on this node. Thread-safe.
 *
 * <p>A training seals the sample when it collects it, so that several reads see the same rows. A
 * sealed sample only counts new vectors as missed.
 */
final class Sample {
  private final String name;
  private final SampleOptions options;
  private final SampleMemory memory;
  private final Reservoir reservoir;
  private long missing;
  private long rejected;
  private long conflicts;
  private long missed;
  private boolean sealed;
  private boolean released;

  private Sample(String name, SampleOptions options, SampleMemory memory, int rows, long seed) {
    this.name = name;
    this.options = options;
    this.memory = memory;
    this.reservoir = new Reservoir(rows, seed);
  }

  /**
   * Makes a sample of as many vectors as memory allows. If memory does not suffice for the smallest
   * sample, no vectors are kept.
   */
  static Sample create(String name, SampleOptions options, SampleMemory memory, long seed) {
    long rowBytes = rowBytes(options.space().dims());
    int rows = memory.reserveRows(options.sampleSize(), rowBytes);
    if (rows < SampleOptions.MIN_SAMPLE_SIZE) {
      memory.releaseRows(rows, rowBytes);
      rows = 0;
    }
    return new Sample(name, options, memory, rows, seed);
  }

  /** Heap of a vector in bytes: its components, plus the overhead of the array and the list. */
  static long rowBytes(int dims) {
    return Float.BYTES * (long) dims + 24;
  }

  SampleOptions options() {
    return options;
  }

  synchronized void offer(float[] vector) {
    if (sealed || released || reservoir.capacity() == 0) {
      missed++;
    } else {
      reservoir.offer(vector);
    }
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

  /** Returns the memory. The sample then accepts no more vectors. */
  synchronized void release() {
    if (!released) {
      released = true;
      memory.releaseRows(reservoir.capacity(), rowBytes(options.space().dims()));
    }
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
        reservoir.capacity() * rowBytes(options.space().dims()));
  }
}
