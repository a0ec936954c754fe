package dev.vamana.cuda.batch;

import dev.vamana.cuda.kernel.ResultLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What the device found for an item.
 *
 * @param ordinals best first, or candidates if the result is approximate
 * @param scores one an ordinal
 * @param visited nodes that got a distance
 * @param iterations steps of the walk
 * @param flags of {@link ResultLayout}
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

  /** Whether the walk ended by itself. */
  public boolean complete() {
    return (flags & ResultLayout.FLAG_COMPLETE) != 0;
  }

  /** Whether something out of range was read. */
  public boolean corrupt() {
    return (flags & ResultLayout.FLAG_CORRUPT) != 0;
  }

  /** Whether more nodes were expanded than there was room for. */
  public boolean overflow() {
    return (flags & ResultLayout.FLAG_OVERFLOW) != 0;
  }

  /** Whether the caller has to compute exact scores. */
  public boolean approximate() {
    return (flags & ResultLayout.FLAG_APPROXIMATE) != 0;
  }
}
