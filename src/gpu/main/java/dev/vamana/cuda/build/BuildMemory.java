package dev.vamana.cuda.build;

import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.BuildSizes;
import dev.vamana.cuda.kernel.WalkLayouts.ItemLayout;
import dev.vamana.cuda.kernel.WalkLayouts.SegmentLayout;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.PinnedBuffer;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.cuda.training.Block;
import java.lang.foreign.MemorySegment;

/**
 * The memory of a build: one allocation on the device, divided into arrays. Rows for which the
 * device has no room lie in pinned memory of the host, which the kernels read and write in place; a
 * walk reads a row for many vectors. {@link DeviceBuild} allocates it, {@link BuildKernels} passes
 * it on.
 */
final class BuildMemory implements AutoCloseable {

  // addresses of the arrays that the fields of the same names in BuildLayout point to
  final long segment;
  final long vectors;
  final long graph;
  final long nodes;
  final long found;
  final long items;
  final long addresses;
  final long counters;
  final long arrivals;
  final long starts;
  final long runs;
  final long sources;
  final long inverseNorms;

  /** Bytes of the rows of the graph. */
  final long graphBytes;

  /** Bytes of an array of a number for each node. */
  final long nodeBytes;

  private final Block block;
  private final PinnedBuffer hostRows;

  /**
   * Allocates everything on the device, or with rows in host memory.
   *
   * @param hostMemory counts pinned memory
   * @throws GpuException if there is no room for either
   */
  static BuildMemory allocate(
      CudaDriver driver, DeviceBudget budget, SessionHostMemory hostMemory, BuildPlan plan) {
    try {
      return new BuildMemory(driver, budget, hostMemory, plan, false);
    } catch (GpuException e) {
      if (e.kind() != GpuException.Kind.OUT_OF_MEMORY) {
        throw e;
      }
      return new BuildMemory(driver, budget, hostMemory, plan, true);
    }
  }

  private BuildMemory(
      CudaDriver driver,
      DeviceBudget budget,
      SessionHostMemory hostMemory,
      BuildPlan plan,
      boolean rowsOnHost) {
    long size = plan.size();
    long batch = plan.mostNodes();
    long edges = batch * plan.maxDegree();
    this.nodeBytes = size * Integer.BYTES;
    this.graphBytes = size * plan.rowBytes();
    long[] sizes = {
      SegmentLayout.BYTES,
      size * plan.vectorStride(),
      rowsOnHost ? 0 : graphBytes,
      nodeBytes,
      batch * BuildSizes.resultBytes(plan.beam()),
      batch * ItemLayout.BYTES,
      batch * Long.BYTES,
      BuildSizes.COUNTER_BYTES,
      nodeBytes,
      nodeBytes,
      Math.min(size, edges) * BuildSizes.RUN_BYTES,
      edges * Integer.BYTES,
      plan.products() ? size * Float.BYTES : 0
    };
    long total = 0;
    for (long bytes : sizes) {
      total += Block.padded(bytes);
    }
    this.hostRows = rowsOnHost ? new PinnedBuffer(driver, hostMemory) : null;
    this.block = new Block(driver, budget, total);
    boolean done = false;
    try {
      int next = 0;
      this.segment = block.take(sizes[next++]);
      this.vectors = block.take(sizes[next++]);
      long deviceRows = block.take(sizes[next++]);
      if (rowsOnHost) {
        hostRows.ensure(graphBytes);
      }
      this.graph = rowsOnHost ? hostRows.address() : deviceRows;
      this.nodes = block.take(sizes[next++]);
      this.found = block.take(sizes[next++]);
      this.items = block.take(sizes[next++]);
      this.addresses = block.take(sizes[next++]);
      this.counters = block.take(sizes[next++]);
      this.arrivals = block.take(sizes[next++]);
      this.starts = block.take(sizes[next++]);
      this.runs = block.take(sizes[next++]);
      this.sources = block.take(sizes[next++]);
      this.inverseNorms = plan.products() ? block.take(sizes[next]) : 0;
      done = true;
    } finally {
      if (done == false) {
        close();
      }
    }
  }

  /** Returns the rows in host memory, or null if they lie on the device. */
  MemorySegment hostRows() {
    return hostRows == null ? null : hostRows.segment();
  }

  /** Frees everything. Nothing may be in use. */
  @Override
  public void close() {
    Cleanup.all(
        () -> {
          if (hostRows != null) {
            hostRows.free();
          }
        },
        block::close);
  }
}
