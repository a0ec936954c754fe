package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ListLayouts.ListsLayout;
import dev.vamana.cuda.kernel.ListMemory;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.ivf.ListShape;
import dev.vamana.ivf.Rotation;
import dev.vamana.vectors.ArrayCopy;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Brings the inverted lists of a segment to the device: the bytes of the file as they are, where
 * each list starts, the signs of the rotation, and a {@code vamana::Lists} through which kernels
 * find them.
 */
final class ListUpload {

  private final CudaDriver driver;
  private final PlacementPlan plan;
  private final BounceBuffers buffers;
  private final Runnable abort;
  private final long block;
  private long copied;

  /**
   * Prepares an upload.
   *
   * @param block device address of the plan's block
   * @param abort throws when the upload should stop; called every few megabytes
   */
  ListUpload(
      CudaDriver driver, PlacementPlan plan, long block, BounceBuffers buffers, Runnable abort) {
    this.driver = driver;
    this.plan = plan;
    this.block = block;
    this.buffers = buffers;
    this.abort = abort;
  }

  /** Returns the bytes copied so far. */
  long copiedBytes() {
    return copied;
  }

  /** Copies everything. */
  void run(InvertedLists lists) throws IOException {
    PlacementPlan.ListParts parts = plan.lists();
    copyFile(lists.region(), parts.file());
    copyNumbers(lists.groups(), parts.starts());
    if (lists.shape().kind().isRabitq()) {
      copySigns(lists.rotation(), parts.rotation());
    }
    copyDescriptor(lists);
  }

  private void copySigns(Rotation rotation, long offset) {
    for (int round = 0; round < rotation.rounds(); round++) {
      long row = (long) round * rotation.padded() * Float.BYTES;
      copyFloats(rotation.signs(round), offset + row);
    }
  }

  private void copyFile(FileRegion region, long offset) throws IOException {
    RowReader reader = new RowReader(region);
    for (long at = 0; at < region.length(); ) {
      long bytes = Math.min(BounceBuffers.BYTES, region.length() - at);
      BounceBuffers.Buffer buffer = buffers.next();
      reader.read(buffer.memory().asSlice(0, bytes));
      copy(buffer, offset + at, bytes);
      at += bytes;
    }
  }

  private void copyNumbers(int[] numbers, long offset) {
    int most = BounceBuffers.BYTES / Integer.BYTES;
    for (int from = 0; from < numbers.length; from += most) {
      int count = Math.min(most, numbers.length - from);
      BounceBuffers.Buffer buffer = buffers.next();
      ArrayCopy.toMemory(numbers, from, buffer.memory(), 0, count);
      copy(buffer, offset + (long) from * Integer.BYTES, (long) count * Integer.BYTES);
    }
  }

  private void copyFloats(float[] floats, long offset) {
    BounceBuffers.Buffer buffer = buffers.next();
    ArrayCopy.toMemory(floats, 0, buffer.memory(), 0, floats.length);
    copy(buffer, offset, (long) floats.length * Float.BYTES);
  }

  private void copyDescriptor(InvertedLists lists) {
    ListShape shape = lists.shape();
    long file = block + plan.lists().file();
    BounceBuffers.Buffer buffer = buffers.next();
    MemorySegment target = buffer.memory().asSlice(0, ListsLayout.BYTES);
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
    copy(buffer, ListMemory.LISTS_OFFSET, ListsLayout.BYTES);
  }

  private void copy(BounceBuffers.Buffer buffer, long offset, long bytes) {
    abort.run();
    driver.copyToDevice(block + offset, buffer.memory().asSlice(0, bytes), buffer.stream());
    copied += bytes;
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
