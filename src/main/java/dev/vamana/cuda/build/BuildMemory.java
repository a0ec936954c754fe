package dev.vamana.cuda.build;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.BuildSizes;
import dev.vamana.cuda.kernel.ItemLayout;
import dev.vamana.cuda.kernel.SegmentLayout;
import dev.vamana.cuda.training.Block;
import dev.vamana.cuda.training.DeviceBudget;

/** The device memory of a build: one allocation, divided into arrays. */
final class BuildMemory implements AutoCloseable {

  /** Address of the {@link SegmentLayout} that the walks read. */
  final long segment;

  /** Address of the vectors. */
  final long vectors;

  /** Bytes of the rows. */
  final long graphBytes;

  /** Address of the rows. */
  final long graph;

  /** Address of the nodes of a pass, in the order of their insertion. */
  final long nodes;

  /** Address of the results of a batch's walks. */
  final long found;

  /** Address of a batch's work items. */
  final long items;

  /** Address of their addresses. */
  final long addresses;

  /** Address of the counters. */
  final long counters;

  /** Bytes of the array of arrivals. */
  final long nodeBytes;

  /** Address of the number of edges that came to each node. */
  final long arrivals;

  /** Address of the place of each node's edges. */
  final long starts;

  /** Address of the runs of edges. */
  final long runs;

  /** Address of the edges' origins. */
  final long sources;

  private final Block block;

  /**
   * Allocates everything.
   *
   * @throws dev.vamana.cuda.driver.GpuException if the budget or the device has less
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
      edges * Integer.BYTES
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
    this.sources = block.take(sizes[next]);
  }

  /** Frees everything. Nothing may be in use. */
  @Override
  public void close() {
    block.close();
  }
}
