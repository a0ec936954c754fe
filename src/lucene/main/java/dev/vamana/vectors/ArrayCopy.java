package dev.vamana.vectors;

import java.lang.foreign.MemorySegment;

/**
 * Copies between arrays and memory outside the heap, in the order of the machine's bytes.
 *
 * <p>{@link MemorySegment} has methods for that, which check the alignment. All their callers in a
 * process share that check, and the compiler decides by the kinds of memory that it has seen there
 * whether it becomes part of its callers. Lucene's mapped files are read through it for each stored
 * field and each row of a graph. Where this project had copied to memory that is not mapped before,
 * the check stayed a virtual call, and searches of other indices on the node had 5 % less
 * throughput. The methods without a check of the alignment, used here, are not Lucene's.
 */
public final class ArrayCopy {

  private ArrayCopy() {}

  /**
   * Copies numbers of an array to memory.
   *
   * @param from index of the first
   * @param at byte of the memory at which they begin
   */
  public static void toMemory(float[] source, int from, MemorySegment target, long at, int count) {
    copy(MemorySegment.ofArray(source), from, target, at, count, Float.BYTES);
  }

  /** As {@link #toMemory(float[], int, MemorySegment, long, int)}. */
  public static void toMemory(int[] source, int from, MemorySegment target, long at, int count) {
    copy(MemorySegment.ofArray(source), from, target, at, count, Integer.BYTES);
  }

  /** As {@link #toMemory(float[], int, MemorySegment, long, int)}. */
  public static void toMemory(long[] source, int from, MemorySegment target, long at, int count) {
    copy(MemorySegment.ofArray(source), from, target, at, count, Long.BYTES);
  }

  /** As {@link #toMemory(float[], int, MemorySegment, long, int)}. */
  public static void toMemory(byte[] source, int from, MemorySegment target, long at, int count) {
    copy(MemorySegment.ofArray(source), from, target, at, count, Byte.BYTES);
  }

  private static void copy(
      MemorySegment source, long from, MemorySegment target, long at, long count, long bytes) {
    MemorySegment.copy(source, from * bytes, target, at, count * bytes);
  }

  /**
   * Copies numbers from memory to an array.
   *
   * @param at byte of the memory at which they begin
   * @param from index of the first in the array
   */
  public static void toArray(MemorySegment source, long at, float[] target, int from, int count) {
    back(source, at, MemorySegment.ofArray(target), from, count, Float.BYTES);
  }

  /** As {@link #toArray(MemorySegment, long, float[], int, int)}. */
  public static void toArray(MemorySegment source, long at, int[] target, int from, int count) {
    back(source, at, MemorySegment.ofArray(target), from, count, Integer.BYTES);
  }

  /** As {@link #toArray(MemorySegment, long, float[], int, int)}. */
  public static void toArray(MemorySegment source, long at, byte[] target, int from, int count) {
    back(source, at, MemorySegment.ofArray(target), from, count, Byte.BYTES);
  }

  private static void back(
      MemorySegment source, long at, MemorySegment target, long from, long count, long bytes) {
    MemorySegment.copy(source, at, target, from * bytes, count * bytes);
  }
}
