package dev.vamana.cuda.build;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.training.TrainingDevice;
import dev.vamana.graph.NodeNumbers;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The search tree from the entry point, which shows the nodes that cannot be reached. It uses the
 * memory of edges back, so nothing can be inserted afterwards.
 */
final class SearchTree {

  private static final byte NONE = (byte) -1;

  // bytes of the counter of reached nodes
  private static final long REACHED = Integer.BYTES;

  private final CudaDriver driver;
  private final BuildPlan plan;
  private final BuildMemory memory;
  private final BuildKernels kernels;
  private final long stream;

  SearchTree(
      CudaDriver driver, BuildPlan plan, BuildMemory memory, BuildKernels kernels, long stream) {
    this.driver = driver;
    this.plan = plan;
    this.memory = memory;
    this.kernels = kernels;
    this.stream = stream;
  }

  /**
   * Grows the tree.
   *
   * @return by node, the node before it, or -1 if it cannot be reached, for the caller to close;
   *     null if all nodes can be reached
   */
  NodeNumbers grow(int entryPoint, TrainingDevice transfers, MemoryBudget budget, AbortCheck abort)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment word = arena.allocate(ValueLayout.JAVA_INT);
      driver.fill(memory.arrivals, NONE, memory.nodeBytes, stream);
      driver.fill(memory.starts, NONE, memory.nodeBytes, stream);
      long at = (long) entryPoint * Integer.BYTES;
      write(memory.arrivals + at, 0, word);
      write(memory.starts + at, entryPoint, word);
      write(memory.counters + REACHED, 1, word);
      int reached = 1;
      int before = 0;
      for (int level = 0; reached > before && reached < plan.size(); level++) {
        abort.check();
        kernels.reach(level);
        // not pinned: the copy itself would wait for the kernel without end
        driver.synchronize(stream);
        driver.copyFromDevice(word, memory.counters + REACHED, stream);
        driver.synchronize(stream);
        before = reached;
        reached = word.get(ValueLayout.JAVA_INT, 0);
      }
      if (reached == plan.size()) {
        return null;
      }
    }
    NodeNumbers tree = new NodeNumbers(plan.size(), budget, abort);
    boolean done = false;
    try {
      transfers.fetch(
          memory.starts,
          Integer.BYTES,
          plan.size(),
          (part, first, count) -> tree.set(first, count, part),
          abort);
      done = true;
      return tree;
    } finally {
      if (done == false) {
        tree.close();
      }
    }
  }

  private void write(long address, int value, MemorySegment word) {
    word.set(ValueLayout.JAVA_INT, 0, value);
    driver.copyToDevice(address, word, stream);
    driver.synchronize(stream);
  }
}
