package dev.vamana.cuda.build;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.BuildSizes;
import dev.vamana.cuda.kernel.WalkLayouts.ItemLayout;
import dev.vamana.cuda.kernel.WalkLayouts.SegmentLayout;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.training.Block;

/**
 * The memory of a build: one allocation on the device, divided into arrays. {@link DeviceBuild}
 * allocates it, {@link BuildKernels} passes it on.
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

  /**
   * Allocates everything.
   *
   * @throws GpuException if there is no room
   */
  BuildMemory(CudaDriver driver, DeviceBudget budget, BuildPlan plan) {
    long size = plan.size();
    long batch = plan.mostNodes();
    long edges = batch * plan.maxDegree();
    this.nodeBytes = size * Integer.BYTES;
    this.graphBytes = size * plan.rowBytes();
    long[] sizes = {
      SegmentLayout.BYTES,
      size * plan.vectorStride(),
      graphBytes,
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
    this.block = new Block(driver, budget, total);
    int next = 0;
    this.segment = block.take(sizes[next++]);
    this.vectors = block.take(sizes[next++]);
    this.graph = block.take(sizes[next++]);
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
  }

  /** Frees everything. Nothing may be in use. */
  @Override
  public void close() {
    block.close();
  }
}
