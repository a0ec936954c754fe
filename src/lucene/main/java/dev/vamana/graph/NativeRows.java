package dev.vamana.graph;

import dev.vamana.vectors.ArrayCopy;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Finished rows in {@link RowMemory}, nearest neighbour first: one row of {@link
 * StoredAdjacency#stride} slots for each node, unused slots at its end. Different threads may write
 * different rows.
 */
final class NativeRows implements EditableRows {

  private final int size;
  private final int stride;
  private final RowMemory allocation;
  private final MemorySegment memory;

  NativeRows(int size, int maxDegree, MemoryBudget budget, AbortCheck abort) throws IOException {
    this.size = size;
    this.stride = StoredAdjacency.stride(maxDegree);
    this.allocation = new RowMemory((long) size * stride * Integer.BYTES, budget, abort);
    this.memory = allocation.segment();
  }

  private long start(int ordinal) {
    return (long) ordinal * stride * Integer.BYTES;
  }

  /**
   * Copies the first slots of a row from native memory.
   *
   * @param source memory with at least as many slots, unused ones at the end
   * @param at byte offset of the row in {@code source}
   */
  void set(int ordinal, MemorySegment source, long at) {
    MemorySegment.copy(source, at, memory, start(ordinal), (long) stride * Integer.BYTES);
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public int maxDegree() {
    return stride;
  }

  @Override
  public int neighbors(int ordinal, int[] neighbors) {
    ArrayCopy.toArray(memory, start(ordinal), neighbors, 0, stride);
    int degree = 0;
    while (degree < stride && neighbors[degree] != StoredAdjacency.UNUSED) {
      degree++;
    }
    return degree;
  }

  @Override
  public int degree(int ordinal) {
    int degree = 0;
    while (degree < stride && get(ordinal, degree) != StoredAdjacency.UNUSED) {
      degree++;
    }
    return degree;
  }

  private int get(int ordinal, int slot) {
    return memory.get(ValueLayout.JAVA_INT, start(ordinal) + (long) slot * Integer.BYTES);
  }

  /** Copies a row; the order of the neighbours serves as distance. */
  @Override
  public int row(int ordinal, int[] neighbors, float[] distances) {
    int degree = neighbors(ordinal, neighbors);
    for (int i = 0; i < degree; i++) {
      distances[i] = i;
    }
    return degree;
  }

  @Override
  public void append(int ordinal, int neighbor, float distance) {
    replace(ordinal, degree(ordinal), neighbor, distance);
  }

  @Override
  public void replace(int ordinal, int index, int neighbor, float distance) {
    memory.set(ValueLayout.JAVA_INT, start(ordinal) + (long) index * Integer.BYTES, neighbor);
  }

  @Override
  public Adjacency copy() {
    return this;
  }

  /** Frees the memory. */
  @Override
  public void close() {
    allocation.close();
  }
}
