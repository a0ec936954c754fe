package dev.vamana.graph;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Adjacency rows under construction, on the heap, with the distance of each neighbour.
 *
 * <p>A row has a few more slots than the max degree, so that a full row is pruned once for several
 * added edges. Rows are written under a lock and read without one: a reader racing with a writer
 * may see a mixture of two versions of a row, whose entries are all valid ordinals.
 */
final class GraphRows implements EditableRows {

  // G1 rounds arrays of half a region or more (512 KB at the smallest region size) up to whole
  // regions
  private static final int MAX_PAGE_SLOTS = 1 << 16;
  private static final int LOCKS = 1 << 10;

  private final int size;
  private final int rowLength;
  private final int pageBits;
  private final int pageMask;
  private final int[][] neighbors;
  private final float[][] distances;
  private final short[] degrees;
  private final ReentrantLock[] locks;

  GraphRows(int size, int maxDegree) {
    this.size = size;
    this.rowLength = maxDegree + Math.max(2, maxDegree / 8);
    this.degrees = new short[size];
    this.pageBits = pageBits(rowLength);
    int pageRows = 1 << pageBits;
    this.pageMask = pageRows - 1;
    int pages = (size + pageRows - 1) >>> pageBits;
    this.neighbors = new int[pages][];
    this.distances = new float[pages][];
    for (int page = 0; page < pages; page++) {
      int rows = Math.min(pageRows, size - (page << pageBits));
      neighbors[page] = new int[rows * rowLength];
      distances[page] = new float[rows * rowLength];
    }
    this.locks = new ReentrantLock[LOCKS];
    for (int i = 0; i < LOCKS; i++) {
      locks[i] = new ReentrantLock();
    }
  }

  /** Returns the binary logarithm of the number of rows in a page. */
  static int pageBits(int rowLength) {
    return 31 - Integer.numberOfLeadingZeros(MAX_PAGE_SLOTS / rowLength);
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
    return degrees[ordinal];
  }

  @Override
  public int neighbors(int ordinal, int[] target) {
    int degree = degrees[ordinal];
    System.arraycopy(neighbors[ordinal >>> pageBits], start(ordinal), target, 0, degree);
    return degree;
  }

  @Override
  public int row(int ordinal, int[] targetNeighbors, float[] targetDistances) {
    int degree = neighbors(ordinal, targetNeighbors);
    System.arraycopy(distances[ordinal >>> pageBits], start(ordinal), targetDistances, 0, degree);
    return degree;
  }

  /** Returns the lock for writes to this row. Rows share locks. */
  ReentrantLock lock(int ordinal) {
    return locks[ordinal & (LOCKS - 1)];
  }

  void setRow(int ordinal, int[] newNeighbors, float[] newDistances, int degree) {
    System.arraycopy(newNeighbors, 0, neighbors[ordinal >>> pageBits], start(ordinal), degree);
    System.arraycopy(newDistances, 0, distances[ordinal >>> pageBits], start(ordinal), degree);
    degrees[ordinal] = (short) degree;
  }

  @Override
  public void append(int ordinal, int neighbor, float distance) {
    int at = degrees[ordinal];
    neighbors[ordinal >>> pageBits][start(ordinal) + at] = neighbor;
    distances[ordinal >>> pageBits][start(ordinal) + at] = distance;
    degrees[ordinal] = (short) (at + 1);
  }

  boolean contains(int ordinal, int neighbor) {
    int[] page = neighbors[ordinal >>> pageBits];
    int start = start(ordinal);
    for (int i = start, end = start + degrees[ordinal]; i < end; i++) {
      if (page[i] == neighbor) {
        return true;
      }
    }
    return false;
  }

  @Override
  public void replace(int ordinal, int index, int neighbor, float distance) {
    neighbors[ordinal >>> pageBits][start(ordinal) + index] = neighbor;
    distances[ordinal >>> pageBits][start(ordinal) + index] = distance;
  }

  @Override
  public Adjacency copy() {
    return this;
  }

  private int start(int ordinal) {
    return (ordinal & pageMask) * rowLength;
  }
}
