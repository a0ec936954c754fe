package dev.vamana.graph;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import com.sun.management.ThreadMXBean;
import dev.vamana.vectors.PairDistances;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import org.junit.Test;

/** Searches for nodes that cannot be reached, and the memory that they take. */
public class ReachabilityTests extends RandomizedTest {

  private static final int SIZE = 50_000;
  private static final int DEGREE = 16;
  private static final int MISSING = 20;

  private final MemoryBudget budget = MemoryBudget.halfOfHeap();

  /** Random edges in arrays, except that no row leads to the last nodes. */
  private static final class Rows implements EditableRows {
    private final int[][] rows = new int[SIZE][DEGREE];
    private final int[] degrees = new int[SIZE];

    Rows() {
      for (int node = 0; node < SIZE; node++) {
        append(node, (node + 1) % (SIZE - MISSING), 1);
        for (int edge = 1; edge < DEGREE - 1; edge++) {
          append(node, randomInt(SIZE - MISSING - 1), 1);
        }
      }
    }

    @Override
    public int size() {
      return SIZE;
    }

    @Override
    public int maxDegree() {
      return DEGREE;
    }

    @Override
    public int degree(int ordinal) {
      return degrees[ordinal];
    }

    @Override
    public int neighbors(int ordinal, int[] target) {
      System.arraycopy(rows[ordinal], 0, target, 0, degrees[ordinal]);
      return degrees[ordinal];
    }

    @Override
    public int row(int ordinal, int[] neighbors, float[] distances) {
      return neighbors(ordinal, neighbors);
    }

    @Override
    public void append(int ordinal, int neighbor, float distance) {
      rows[ordinal][degrees[ordinal]++] = neighbor;
    }

    @Override
    public void replace(int ordinal, int index, int neighbor, float distance) {
      rows[ordinal][index] = neighbor;
    }

    @Override
    public Adjacency copy() {
      return this;
    }

    @Override
    public void close() {}
  }

  private Reachability reachability(EditableRows rows, PairDistances distances) {
    return new Reachability(
        rows, new BuildParameters(DEGREE, 32, 1.2f, 0), 0, distances, budget, AbortCheck.NEVER);
  }

  /** What has to be remembered of each node lies outside the heap. */
  @Test
  public void testHeap() throws IOException {
    GraphTestVectors vectors = GraphTestVectors.gaussian(getRandom(), SIZE, 4);
    PairDistances distances = vectors.distances().create();
    try (Rows rows = new Rows()) {
      // classes are loaded meanwhile
      assertEquals(MISSING, reachability(rows, distances).repair());
      Reachability again = reachability(rows, distances);
      ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      long before = threads.getCurrentThreadAllocatedBytes();
      assertEquals(0, again.repair());
      long allocated = threads.getCurrentThreadAllocatedBytes() - before;
      assertTrue(allocated + " bytes", allocated < SIZE);
    }
  }
}
