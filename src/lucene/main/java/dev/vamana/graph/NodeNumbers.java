package dev.vamana.graph;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** A number for each node, outside the heap, which has no room for as many as a graph may have. */
public final class NodeNumbers implements AutoCloseable {

  private final int size;
  private final RowMemory allocation;
  private final MemorySegment memory;

  /**
   * Allocates numbers that are 0.
   *
   * @param size number of nodes
   * @param budget bounds the native memory of builds; beyond it the numbers lie in a file
   * @param abort called before the allocation, and regularly during a long one
   * @throws IOException if there is no memory
   */
  public NodeNumbers(int size, MemoryBudget budget, AbortCheck abort) throws IOException {
    this.size = size;
    this.allocation = new RowMemory((long) size * Integer.BYTES, budget, abort);
    this.memory = allocation.segment();
  }

  /** Returns the number of nodes. */
  public int size() {
    return size;
  }

  /** Returns a node's number. */
  public int get(int node) {
    return memory.get(ValueLayout.JAVA_INT, (long) node * Integer.BYTES);
  }

  /** Sets a node's number. */
  public void set(int node, int number) {
    memory.set(ValueLayout.JAVA_INT, (long) node * Integer.BYTES, number);
  }

  /**
   * Sets the numbers of consecutive nodes.
   *
   * @param source one number behind the other, in native order
   */
  public void set(int first, int count, MemorySegment source) {
    MemorySegment.copy(
        source, 0, memory, (long) first * Integer.BYTES, (long) count * Integer.BYTES);
  }

  /** Sets all numbers to one whose bytes are equal, such as 0 or -1. */
  void fill(byte bytes) {
    memory.fill(bytes);
  }

  /** Frees the memory. */
  @Override
  public void close() {
    allocation.close();
  }
}
