package dev.vamana.pq;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.search.TaskExecutor;
import org.apache.lucene.util.IOUtils;

/**
 * Trains codebooks with an independent k-means in every subspace.
 *
 * <p>A subspace is trained by one thread with its own random generator, so the same sample, layout
 * and seed give bit-equal centroids for any number of threads. Each thread holds the sub-vectors of
 * one subspace on the heap, {@code sample.size() * layout.maxLength() * 4} bytes, plus 5 bytes per
 * sample vector.
 */
public final class PqTrainer {

  private static final int SAMPLE_ROWS = 20_000;
  private static final long SAMPLE_HEAP_BYTES = 16 << 20;

  private PqTrainer() {}

  /**
   * Returns how many vectors to train on: 20,000, or fewer if the sub-vectors of the longest
   * subspace would take more than 16 MiB of heap. More vectors lower the error by a few percent
   * (docs/internals/pq.md).
   *
   * @param layout subspaces
   * @param available number of available vectors, 0 or more
   * @return a sample size of at most {@code available}
   */
  public static int sampleSize(SubspaceLayout layout, int available) {
    long fitting = SAMPLE_HEAP_BYTES / (Float.BYTES * (long) layout.maxLength());
    return (int) Math.min(available, Math.min(SAMPLE_ROWS, fitting));
  }

  /**
   * Options of training.
   *
   * @param seed seed of all random choices
   * @param iterations most iterations of Lloyd's algorithm over the whole sample, at least 1
   * @param levelIterations most iterations over each smaller prefix before that, at least 1
   * @param tolerance an iteration that lowers the error by less than this fraction is the last, 0
   *     &lt;= tolerance &lt; 1
   */
  public record Options(long seed, int iterations, int levelIterations, double tolerance) {

    /** Checks the ranges. */
    public Options {
      checkAtLeastOne("iterations", iterations);
      checkAtLeastOne("levelIterations", levelIterations);
      if (!(tolerance >= 0 && tolerance < 1)) {
        throw new IllegalArgumentException(
            "tolerance must be at least 0 and below 1, got " + tolerance);
      }
    }

    /** Returns the measured defaults (docs/internals/pq.md), with the given seed. */
    public static Options defaults(long seed) {
      return new Options(seed, 2, 2, 0.001);
    }

    private static void checkAtLeastOne(String name, int value) {
      if (value < 1) {
        throw new IllegalArgumentException(name + " must be at least 1, got " + value);
      }
    }
  }

  /**
   * Trains in the calling thread.
   *
   * @see #train(TrainingSample, SubspaceLayout, CodebookId, Options, Executor, int, AbortCheck)
   */
  public static Codebook train(
      TrainingSample sample,
      SubspaceLayout layout,
      CodebookId id,
      Options options,
      AbortCheck abort)
      throws IOException {
    return train(sample, layout, id, options, Runnable::run, 1, abort);
  }

  /**
   * Trains with several threads, including the calling one.
   *
   * @param sample vectors to train on, possibly none; if there are fewer distinct sub-vectors than
   *     centroids, the remaining centroids repeat another one
   * @param layout subspaces, of the sample's dimension
   * @param id identity of the new codebook
   * @param options see {@link Options}
   * @param executor runs the tasks beyond the first; if it has no free thread, or rejects, the
   *     calling thread does their work
   * @param threads most threads to use, at least 1
   * @param abort called by every thread at short intervals
   * @return the codebook
   * @throws IOException from {@code sample} or {@code abort}, unchanged
   * @throws IllegalArgumentException if dimensions differ or {@code threads} is below 1
   */
  public static Codebook train(
      TrainingSample sample,
      SubspaceLayout layout,
      CodebookId id,
      Options options,
      Executor executor,
      int threads,
      AbortCheck abort)
      throws IOException {
    if (sample.dims() != layout.dims()) {
      throw new IllegalArgumentException(
          "sample must have " + layout.dims() + " dims, got " + sample.dims());
    }
    Options.checkAtLeastOne("threads", threads);
    float[] centroids = new float[Codebook.CENTROIDS * layout.dims()];
    AtomicInteger nextSubspace = new AtomicInteger();
    // The first failure stops the other threads at their next check. Tasks report it here instead
    // of throwing, since several of them may catch the same exception object.
    AtomicReference<Throwable> failure = new AtomicReference<>();
    AbortCheck check =
        () -> {
          if (failure.get() != null) {
            throw new IOException("training failed in another thread");
          }
          abort.check();
        };
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int t = 0; t < Math.min(threads, layout.count()); t++) {
      TrainingSample own = t == 0 ? sample : sample.copy();
      tasks.add(
          () -> {
            try {
              trainSubspaces(own, layout, options, nextSubspace, centroids, check);
            } catch (Throwable e) {
              failure.compareAndSet(null, e);
            }
            return null;
          });
    }
    new TaskExecutor(executor).invokeAll(tasks);
    if (failure.get() != null) {
      throw IOUtils.rethrowAlways(failure.get());
    }
    return new Codebook(id, layout, centroids);
  }

  /**
   * Trains with an engine, or with several threads if it declines.
   *
   * @see #train(TrainingSample, SubspaceLayout, CodebookId, Options, Executor, int, AbortCheck)
   */
  public static Codebook train(
      PqEngine engine,
      TrainingSample sample,
      SubspaceLayout layout,
      CodebookId id,
      Options options,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    float[] centroids =
        sample.dims() == layout.dims()
            ? engine.train(sample, layout, options, workers, abort)
            : null;
    return centroids != null
        ? new Codebook(id, layout, centroids)
        : train(sample, layout, id, options, workers.executor(), workers.threads(), abort);
  }

  private static void trainSubspaces(
      TrainingSample sample,
      SubspaceLayout layout,
      Options options,
      AtomicInteger nextSubspace,
      float[] centroids,
      AbortCheck abort)
      throws IOException {
    int n = sample.size();
    float[] rows = new float[Math.multiplyExact(n, layout.maxLength())];
    KMeans kMeans = new KMeans(layout.maxLength(), options, abort);
    int s;
    while ((s = nextSubspace.getAndIncrement()) < layout.count()) {
      abort.check();
      int from = layout.offset(s);
      int length = layout.length(s);
      sample.subspace(from, length, rows);
      long seed = TrainingSchedule.seed(options.seed(), s);
      kMeans.train(rows, n, length, seed, centroids, Codebook.CENTROIDS * from);
    }
  }
}
