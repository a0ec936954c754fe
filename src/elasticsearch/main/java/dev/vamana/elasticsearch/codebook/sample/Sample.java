package dev.vamana.elasticsearch.codebook.sample;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.lucene.util.StringHelper;
import org.elasticsearch.core.Releasable;

/**
 * A uniform sample of a stream of unknown length: every vector offered so far is in the sample with
 * the same probability. The memory of the vectors is counted until the sample is closed.
 * Thread-safe.
 */
public final class Sample implements Releasable {
  private final SampleOptions options;
  private final SampleMemory memory;
  private final long rowBytes;
  private final SplittableRandom random;
  private final List<float[]> rows = new ArrayList<>();
  private int capacity;
  private long seen;
  private long rejected;
  private long missed;

  /**
   * Makes an empty sample.
   *
   * @param memory counts the vectors
   * @param seed determines which vectors are kept, see {@link #freshSeed}
   */
  public Sample(SampleOptions options, SampleMemory memory, long seed) {
    this.options = options;
    this.memory = memory;
    capacity = options.sampleSize();
    rowBytes = SampleMemory.rowBytes(options.space().dims());
    random = new SplittableRandom(seed);
  }

  /** Returns a seed that is practically unique. */
  public static long freshSeed() {
    return ByteBuffer.wrap(StringHelper.randomId()).getLong(StringHelper.ID_LENGTH - Long.BYTES);
  }

  /** How the vectors are sampled. */
  public SampleOptions options() {
    return options;
  }

  /**
   * Offers a vector in its stored form, see {@link VectorSpace#prepare}. The array is not copied
   * and must not change. A sample that meets the limit of all samples stays at its size if that is
   * enough to train on. One that the breaker refuses may grow later.
   *
   * @throws org.elasticsearch.common.breaker.CircuitBreakingException if there is no memory for it;
   *     the vector then does not count as seen
   */
  public synchronized void offer(float[] vector) {
    if (rows.size() < capacity) {
      if (memory.hasRoom(rowBytes) || rows.size() < SampleOptions.MIN_SAMPLE_SIZE) {
        memory.take(rowBytes);
        rows.add(vector);
        seen++;
        return;
      }
      capacity = rows.size();
    }
    seen++;
    long at = random.nextLong(seen);
    if (at < capacity) {
      rows.set((int) at, vector);
    }
  }

  synchronized void countRejected() {
    rejected++;
  }

  synchronized void countMissed() {
    missed++;
  }

  /** Copies the list of the vectors; callers must not change them. */
  public synchronized List<float[]> rows() {
    return List.copyOf(rows);
  }

  synchronized SampleStatus status(String name) {
    return new SampleStatus(name, seen, rows.size(), rejected, missed);
  }

  /** Drops the vectors and gives their memory back. The sample then keeps no more vectors. */
  @Override
  public synchronized void close() {
    memory.give(rows.size() * rowBytes);
    rows.clear();
    capacity = 0;
  }
}
