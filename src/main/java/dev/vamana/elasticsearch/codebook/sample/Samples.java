package dev.vamana.elasticsearch.codebook.sample;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

/**
 * This node's samples by codebook. They live here and not in the processors that feed them, since
 * processors are made anew at every change of any pipeline. Thread-safe.
 *
 * <p>Samples are on the heap alone: a restart of the node begins them again.
 */
public final class Samples {
  private final Map<String, Sample> samples = new ConcurrentHashMap<>();
  private final SampleMemory memory;
  private final LongSupplier seeds;
  private final Predicate<String> ready;

  /**
   * No samples yet.
   *
   * @param memory bounds them all together
   * @param seeds gives a seed for each sample
   * @param ready whether a codebook is there already, so that nothing is sampled for it
   */
  public Samples(SampleMemory memory, LongSupplier seeds, Predicate<String> ready) {
    this.memory = memory;
    this.seeds = seeds;
    this.ready = ready;
  }

  /** The bound of all samples together. */
  public SampleMemory memory() {
    return memory;
  }

  /** Whether documents are to be looked at: not once the codebook is ready. */
  public boolean wanted(String name) {
    return !ready.test(name);
  }

  /** Offers a vector in the form in which it is stored. */
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

  /** Counts a document whose value is no vector of the right kind. */
  public void countRejected(String name, SampleOptions options) {
    of(name, options).countRejected();
  }

  private Sample of(String name, SampleOptions options) {
    return samples.computeIfAbsent(
        name, key -> Sample.create(key, options, memory, seeds.getAsLong()));
  }

  /** How far each sample is. */
  public List<SampleStatus> status() {
    List<SampleStatus> all = new ArrayList<>();
    samples.values().forEach(sample -> all.add(sample.status()));
    return all;
  }

  /**
   * Seals a sample and reads some of it.
   *
   * @param seed decides the order of rows, which is the same until the sample is unsealed
   * @return rows {@code from} to {@code to - 1}, or those of them that exist; none without a sample
   */
  public List<float[]> collect(String name, SampleOptions options, long seed, int from, int to) {
    Sample sample = samples.get(name);
    return sample == null || !sample.options().equals(options)
        ? List.of()
        : sample.collect(seed, from, to);
  }

  /** Lets a sample grow again. */
  public void unseal(String name) {
    Sample sample = samples.get(name);
    if (sample != null) {
      sample.unseal();
    }
  }

  /** Forgets a sample. */
  public void drop(String name) {
    Sample sample = samples.remove(name);
    if (sample != null) {
      sample.release();
    }
  }

  /**
   * Forgets samples that no pipeline feeds any more.
   *
   * @param fed the options that pipelines have for each codebook
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
