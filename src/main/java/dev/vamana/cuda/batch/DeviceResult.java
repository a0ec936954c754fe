package dev.vamana.cuda.batch;

import dev.vamana.cuda.kernel.ResultLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The device's result of one item.
 *
 * @param ordinals hits, best first; candidates for re-ranking if the result is approximate
 * @param scores the score of each ordinal
 * @param visited number of nodes whose distance was computed
 * @param iterations steps of the walk
 * @param flags flags of {@link ResultLayout}
 */
public record DeviceResult(
    int[] ordinals, float[] scores, long visited, int iterations, int flags) {

  static DeviceResult read(Chunk chunk, int i, ItemPlan plan) {
    MemorySegment block = chunk.block.segment();
    long at = chunk.result(i);
    int flags = block.get(ValueLayout.JAVA_INT, at + ResultLayout.FLAGS);
    int count = block.get(ValueLayout.JAVA_INT, at + ResultLayout.COUNT);
    long visited =
        Integer.toUnsignedLong(block.get(ValueLayout.JAVA_INT, at + ResultLayout.VISITED));
    int iterations = block.get(ValueLayout.JAVA_INT, at + ResultLayout.ITERATIONS);
    if (count < 0 || count > plan.capacity()) {
      flags |= ResultLayout.FLAG_CORRUPT;
      count = 0;
    }
    int[] ordinals = new int[count];
    float[] scores = new float[count];
    MemorySegment.copy(
        block, ValueLayout.JAVA_INT, at + ResultLayout.ordinals(), ordinals, 0, count);
    MemorySegment.copy(
        block, ValueLayout.JAVA_FLOAT, at + ResultLayout.scores(plan.capacity()), scores, 0, count);
    int size = plan.segment().view().size();
    for (int ordinal : ordinals) {
      if (ordinal < 0 || ordinal >= size) {
        flags |= ResultLayout.FLAG_CORRUPT;
      }
    }
    return new DeviceResult(ordinals, scores, visited, iterations, flags);
  }

  /** Whether the walk ended before its visit limit. */
  public boolean complete() {
    return (flags & ResultLayout.FLAG_COMPLETE) != 0;
  }

  /** Whether the kernel read a value out of range. */
  public boolean corrupt() {
    return (flags & ResultLayout.FLAG_CORRUPT) != 0;
  }

  /** Whether the walk expanded more nodes than it had room to record. */
  public boolean overflow() {
    return (flags & ResultLayout.FLAG_OVERFLOW) != 0;
  }

  /** Whether the scores are approximate, so that the caller has to re-rank. */
  public boolean approximate() {
    return (flags & ResultLayout.FLAG_APPROXIMATE) != 0;
  }
}
