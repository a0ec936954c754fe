package dev.vamana.cuda.memory;

import dev.vamana.cuda.kernel.ListLayouts.ListsLayout;
import dev.vamana.cuda.kernel.ListMemory;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.ivf.ListShape;
import dev.vamana.ivf.Rotation;
import dev.vamana.vectors.ArrayCopy;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Brings the inverted lists of a segment to the device: the bytes of the file as they are, where
 * each list starts, the signs of the rotation, and a {@code vamana::Lists} through which kernels
 * find them.
 */
final class ListUpload {

  private final BlockWriter writer;
  private final PlacementPlan plan;
  private final long block;

  /**
   * Prepares an upload.
   *
   * @param block device address of the plan's block
   */
  ListUpload(BlockWriter writer, PlacementPlan plan, long block) {
    this.writer = writer;
    this.plan = plan;
    this.block = block;
  }

  /** Copies everything. */
  void run(InvertedLists lists) throws IOException {
    PlacementPlan.ListParts parts = plan.lists();
    writer.put(parts.file(), lists.region());
    int[] groups = lists.groups();
    writer.put(
        parts.starts(),
        (long) groups.length * Integer.BYTES,
        target -> ArrayCopy.toMemory(groups, 0, target, 0, groups.length));
    if (lists.shape().kind().isRabitq()) {
      copySigns(lists.rotation(), parts.rotation());
    }
    writer.put(
        ListMemory.LISTS_OFFSET, ListsLayout.BYTES, target -> writeDescriptor(target, lists));
  }

  private void copySigns(Rotation rotation, long offset) {
    for (int round = 0; round < rotation.rounds(); round++) {
      float[] signs = rotation.signs(round);
      long bytes = (long) signs.length * Float.BYTES;
      writer.put(
          offset + round * bytes,
          bytes,
          target -> ArrayCopy.toMemory(signs, 0, target, 0, signs.length));
    }
  }

  private void writeDescriptor(MemorySegment target, InvertedLists lists) {
    ListShape shape = lists.shape();
    long file = block + plan.lists().file();
    target.fill((byte) 0);
    setLong(target, ListsLayout.CENTROIDS, file);
    setLong(target, ListsLayout.FACTS, file + shape.tableOffset());
    setLong(target, ListsLayout.STARTS, block + plan.lists().starts());
    setLong(target, ListsLayout.NUMBERS, file + shape.numbersOffset());
    setLong(target, ListsLayout.ENTRIES, file + shape.listsOffset());
    setInt(target, ListsLayout.LISTS, shape.lists());
    setInt(target, ListsLayout.PADDED, shape.padded());
    setInt(target, ListsLayout.BITS, shape.kind().bits());
    setInt(target, ListsLayout.ESTIMATES, ListsLayout.estimates(lists.estimates()));
    setFloat(target, ListsLayout.SPREAD, lists.facts().spread());
    setFloat(target, ListsLayout.QUANTILE, lists.facts().errorQuantile());
    setInt(target, ListsLayout.HEAD_BYTES, shape.headBytes());
    setInt(target, ListsLayout.TAIL_BYTES, shape.tailBytes());
    if (shape.kind().isRabitq()) {
      setLong(target, ListsLayout.SIGNS, block + plan.lists().rotation());
      setInt(target, ListsLayout.ROUNDS, lists.rotation().rounds());
      setInt(target, ListsLayout.TRANSFORMED, lists.rotation().transformed());
    }
  }

  private static void setLong(MemorySegment target, long offset, long value) {
    target.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
  }

  private static void setFloat(MemorySegment target, long offset, float value) {
    target.set(ValueLayout.JAVA_FLOAT_UNALIGNED, offset, value);
  }

  private static void setInt(MemorySegment target, long offset, int value) {
    target.set(ValueLayout.JAVA_INT_UNALIGNED, offset, value);
  }
}
