package dev.vamana.elasticsearch.codebook.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * This node's samples by codebook. Processors feed the samples but do not own them, since
 * Elasticsearch makes new processors at every change of any pipeline. Thread-safe.
 *
 * <p>Samples are only on the heap; a restart of the node begins them anew.
 */
public final class Samples {
  private final Map<String, Sample> samples = new ConcurrentHashMap<>();
  private final SampleMemory memory;
  private final LongSupplier seeds;
  private final Predicate<String> ready;
  private volatile boolean closed;

  /**
   * Makes an instance without samples.
   *
   * @param memory limit of all samples together
   * @param seeds gives a seed for each sample
   * @param ready whether a codebook exists, in which case nothing is sampled for it
   */
  public Samples(SampleMemory memory, LongSupplier seeds, Predicate<String> ready) {
    this.memory = memory;
    this.seeds = seeds;
    this.ready = ready;
  }

  /** Limit of all samples together. */
  public SampleMemory memory() {
    return memory;
  }

  /** Whether to sample documents for a codebook; false once the codebook is ready. */
  public boolean wanted(String name) {
    return !closed && !ready.test(name);
  }

  /** Offers a vector in its stored form, see {@link VectorSpace#prepare}. */
  public void offer(String name, SampleOptions options, float[] vector) {
    Sample sample = of(name, options);
    if (sample.options().equals(options)) {
      sample.offer(vector);
    } else {
      sample.countConflict();
    }
  }

  /** Counts a document without the field. */
  public void countMissing(String name, SampleOptions options) {
    of(name, options).countMissing();
  }

  /** Counts a document whose value is not a valid vector for the codebook. */
  public void countRejected(String name, SampleOptions options) {
    of(name, options).countRejected();
  }

  private Sample of(String name, SampleOptions options) {
    return samples.computeIfAbsent(
        name, key -> new Sample(key, options, memory, seeds.getAsLong()));
  }

  /** The state of each sample. */
  public List<SampleStatus> status() {
    List<SampleStatus> all = new ArrayList<>();
    samples.values().forEach(sample -> all.add(sample.status()));
    return all;
  }

  /**
   * Seals a sample and returns some of its rows.
   *
   * @param seed determines the order of the rows, which is the same until the sample is unsealed
   * @return rows {@code from} to {@code to - 1} as far as they exist; none if there is no such
   *     sample
   */
  public List<float[]> collect(String name, SampleOptions options, long seed, int from, int to) {
    Sample sample = samples.get(name);
    return sample == null || !sample.options().equals(options)
        ? List.of()
        : sample.collect(seed, from, to);
  }

  /** Lets a sample accept vectors again. */
  public void unseal(String name) {
    Sample sample = samples.get(name);
    if (sample != null) {
      sample.unseal();
    }
  }

  /** Drops a sample. */
  public void drop(String name) {
    Sample sample = samples.remove(name);
    if (sample != null) {
      sample.release();
    }
  }

  /** Drops all samples, and accepts no more vectors. */
  public void close() {
    closed = true;
    samples.keySet().forEach(this::drop);
  }

  /**
   * Drops samples that no pipeline feeds any more.
   *
   * @param fed the options of each codebook in the stored pipelines
   */
  public void keepOnly(Map<String, Set<SampleOptions>> fed) {
    samples.forEach(
        (name, sample) -> {
          if (!fed.getOrDefault(name, Set.of()).contains(sample.options())) {
            drop(name);
          }
        });
  }
}
