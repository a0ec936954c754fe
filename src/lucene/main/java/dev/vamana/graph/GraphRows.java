package dev.vamana.graph;

import dev.vamana.vectors.ArrayCopy;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Adjacency rows under construction, in {@link RowMemory}, with the distance of each neighbour.
 *
 * <p>A row has a few more slots than the max degree, so that a full row is pruned once for several
 * added edges. Rows are written under a lock and read without one: a reader racing with a writer
 * may see a mixture of two versions of a row, whose entries are all valid ordinals, since fresh
 * memory is 0.
 *
 * <p>A row is a word of two counts, its neighbours and their distances, four bytes each. The word's
 * low half is the degree. Its high half counts the first neighbours that are settled: a robust
 * prune has compared them with each other and kept all of them, so that another prune need not.
 */
final class GraphRows implements EditableRows {

  private static final int LOCKS = 1 << 10;
  private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
  private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;
  private static final long SLOT = Integer.BYTES;
  private static final int DEGREE_BITS = 16;
  private static final int DEGREE_MASK = (1 << DEGREE_BITS) - 1;

  private final int size;
  private final int rowLength;
  private final long rowBytes;
  private final long distancesOffset;
  private final RowMemory allocation;
  private final MemorySegment memory;
  private final ReentrantLock[] locks;

  GraphRows(int size, int maxDegree, MemoryBudget budget, AbortCheck abort) throws IOException {
    this.size = size;
    this.rowLength = maxDegree + Math.max(2, maxDegree / 8);
    this.distancesOffset = (1 + rowLength) * SLOT;
    this.rowBytes = distancesOffset + rowLength * SLOT;
    this.locks = new ReentrantLock[LOCKS];
    for (int i = 0; i < LOCKS; i++) {
      locks[i] = new ReentrantLock();
    }
    this.allocation = new RowMemory(size * rowBytes, budget, abort);
    this.memory = allocation.segment();
  }

  @Override
  public int size() {
    return size;
  }

  /** Returns the slots of a row, including the spare ones. */
  @Override
  public int maxDegree() {
    return rowLength;
  }

  @Override
  public int degree(int ordinal) {
    return memory.get(INT, start(ordinal)) & DEGREE_MASK;
  }

  /** Returns how many of a row's first neighbours are settled. */
  int settled(int ordinal) {
    return memory.get(INT, start(ordinal)) >>> DEGREE_BITS;
  }

  @Override
  public int neighbors(int ordinal, int[] target) {
    long start = start(ordinal);
    int degree = memory.get(INT, start) & DEGREE_MASK;
    ArrayCopy.toArray(memory, start + SLOT, target, 0, degree);
    return degree;
  }

  @Override
  public int row(int ordinal, int[] targetNeighbors, float[] targetDistances) {
    int degree = neighbors(ordinal, targetNeighbors);
    ArrayCopy.toArray(memory, start(ordinal) + distancesOffset, targetDistances, 0, degree);
    return degree;
  }

  /** Returns the lock for writes to this row. Rows share locks. */
  ReentrantLock lock(int ordinal) {
    return locks[ordinal & (LOCKS - 1)];
  }

  /** Sets a row to what a robust prune has kept: all of it is settled. */
  void setRow(int ordinal, int[] newNeighbors, float[] newDistances, int degree) {
    long start = start(ordinal);
    ArrayCopy.toMemory(newNeighbors, 0, memory, start + SLOT, degree);
    ArrayCopy.toMemory(newDistances, 0, memory, start + distancesOffset, degree);
    memory.set(INT, start, degree << DEGREE_BITS | degree);
  }

  @Override
  public void append(int ordinal, int neighbor, float distance) {
    long start = start(ordinal);
    int word = memory.get(INT, start);
    setSlot(start, word & DEGREE_MASK, neighbor, distance);
    memory.set(INT, start, word + 1);
  }

  boolean contains(int ordinal, int neighbor) {
    long start = start(ordinal);
    for (int i = degree(ordinal); i > 0; i--) {
      if (memory.get(INT, start + i * SLOT) == neighbor) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void replace(int ordinal, int index, int neighbor, float distance) {
    long start = start(ordinal);
    setSlot(start, index, neighbor, distance);
    int settled = Math.min(index, settled(ordinal));
    memory.set(INT, start, settled << DEGREE_BITS | degree(ordinal));
  }

  private void setSlot(long start, int index, int neighbor, float distance) {
    memory.set(INT, start + (1 + index) * SLOT, neighbor);
    memory.set(FLOAT, start + distancesOffset + index * SLOT, distance);
  }

  @Override
  public Adjacency copy() {
    return this;
  }

  /** Frees the memory. No thread may use the rows any more. */
  @Override
  public void close() {
    allocation.close();
  }

  private long start(int ordinal) {
    return ordinal * rowBytes;
  }
}
