package dev.vamana.cuda.build;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.kernel.WalkShape;
import dev.vamana.cuda.kernel.WalkShape.Reads;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.tools.gpu.Gpu;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import org.apache.lucene.tests.util.LuceneTestCase;

/**
 * Kernels that build graphs, among 100 million nodes: a few nodes far apart become the same graph
 * as the same nodes side by side. Their rows and vectors lie beyond 2^32 bytes and their rows
 * beyond 2^32 slots, too. On a GPU if there is one; the simulated device has files with holes.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class LargeOffsetsTests extends LuceneTestCase {

  private static final int SIZE = 100_000_000;
  private static final int NODES = 400;
  private static final int DIMENSION = 36;
  private static final int DEGREE = 64;
  private static final int SLOTS = 72;
  private static final int BEAM = 64;
  private static final float ALPHA = 1.2f;
  private static final long NEEDED = 50L << 30;

  private static CudaDriver open() {
    return Gpu.missing() == null
        ? Gpu.openDriver()
        : new SimulatedDriver(SimtKernels.load(), 64L << 30, true);
  }

  private static BuildPlan plan(int size) {
    WalkShape shape =
        WalkShape.of(
            Reads.FLOAT32,
            DIMENSION,
            0,
            BEAM,
            StoredAdjacency.stride(SLOTS),
            BuildPlan.PARENTS,
            0,
            false);
    return new BuildPlan(size, DIMENSION, DEGREE, SLOTS, BEAM, BEAM, shape, false);
  }

  /** The first and the last node, nodes on both sides of every border, and others. */
  private static int[] farApart() {
    TreeSet<Integer> nodes = new TreeSet<>(List.of(0, SIZE - 1));
    long row = plan(SIZE).rowBytes();
    long vector = plan(SIZE).vectorStride();
    for (long border : new long[] {1L << 31, 1L << 32, 1L << 33, 1L << 34}) {
      for (long bytes : new long[] {row, vector, Integer.BYTES, row / Integer.BYTES}) {
        if (border / bytes < SIZE - 2) {
          nodes.addAll(List.of((int) (border / bytes) - 1, (int) (border / bytes) + 1));
          nodes.add((int) (border / bytes));
        }
      }
    }
    while (nodes.size() < NODES) {
      nodes.add(random().nextInt(SIZE));
    }
    return nodes.stream().mapToInt(Integer::intValue).toArray();
  }

  public void testNodesFarApart() {
    float[][] vectors = new float[NODES][DIMENSION];
    for (float[] vector : vectors) {
      float center = random().nextInt(8);
      for (int d = 0; d < DIMENSION; d++) {
        vector[d] = center + (float) random().nextGaussian();
      }
    }
    List<Integer> order = new ArrayList<>();
    for (int i = 1; i < NODES; i++) {
      order.add(i);
    }
    Collections.shuffle(order, random());
    int[] sideBySide = new int[NODES];
    Arrays.setAll(sideBySide, i -> i);
    int[][] rows;
    int[][] others;
    try (CudaDriver driver = open()) {
      driver.bind();
      assumeTrue("not enough device memory", driver.freeBytes() > NEEDED);
      others = build(driver, NODES, sideBySide, vectors, order);
      rows = build(driver, SIZE, farApart(), vectors, order);
    }
    for (int i = 0; i < NODES; i++) {
      assertTrue("node " + i + " has no neighbours", others[i].length > 0);
      assertArrayEquals("node " + i, others[i], rows[i]);
    }
  }

  /** Returns the neighbours of each node, by their place among the nodes. */
  private static int[][] build(
      CudaDriver driver, int size, int[] nodes, float[][] vectors, List<Integer> order) {
    BuildPlan plan = plan(size);
    long stream = driver.createStream(CudaDriver.Urgency.BACKGROUND);
    try (Arena arena = Arena.ofConfined();
        BuildMemory memory = new BuildMemory(driver, DeviceBudget.UNLIMITED, plan);
        BuildKernels kernels =
            new BuildKernels(driver, plan, memory, stream, new RecentSearches(() -> 0))) {
      MemorySegment row = arena.allocate(plan.rowBytes(), Long.BYTES);
      MemorySegment zero = arena.allocate(ValueLayout.JAVA_INT);
      for (int i = 0; i < nodes.length; i++) {
        long node = nodes[i];
        MemorySegment vector = arena.allocateFrom(ValueLayout.JAVA_FLOAT, vectors[i]);
        driver.copyToDevice(memory.vectors + node * plan.vectorStride(), vector, stream);
        driver.copyToDevice(
            memory.graph + node * plan.rowBytes(), row.fill((byte) StoredAdjacency.UNUSED), stream);
        driver.copyToDevice(memory.arrivals + node * Integer.BYTES, zero, stream);
      }
      int[] inserted = order.stream().mapToInt(i -> nodes[i]).toArray();
      driver.copyToDevice(memory.nodes, arena.allocateFrom(ValueLayout.JAVA_INT, inserted), stream);
      DeviceBuild.sendSegment(driver, plan, memory, nodes[0], stream);
      for (int pass = 0; pass < 2; pass++) {
        for (int done = 0; done < inserted.length; ) {
          int in = pass == 0 ? 1 + done : nodes.length;
          int batch = Math.min(Math.min(in, 128), inserted.length - done);
          kernels.insert(done, batch, BEAM, ALPHA);
          done += batch;
        }
      }
      for (int node : nodes) {
        kernels.trim(node, 1, ALPHA);
      }
      driver.synchronize(stream);
      int[][] rows = new int[nodes.length][];
      for (int i = 0; i < nodes.length; i++) {
        driver.copyFromDevice(row, memory.graph + (long) nodes[i] * plan.rowBytes(), stream);
        driver.synchronize(stream);
        rows[i] =
            Arrays.stream(row.toArray(ValueLayout.JAVA_INT))
                .filter(neighbor -> neighbor != StoredAdjacency.UNUSED)
                .map(neighbor -> Arrays.binarySearch(nodes, neighbor))
                .toArray();
      }
      return rows;
    } finally {
      driver.destroyStream(stream);
    }
  }
}
