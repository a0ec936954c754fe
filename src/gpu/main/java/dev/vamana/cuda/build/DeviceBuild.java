package dev.vamana.cuda.build;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.WalkLayouts.SegmentLayout;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.training.DeviceRows;
import dev.vamana.cuda.training.TrainingDevice;
import dev.vamana.graph.GraphAssembly;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.NodeOrder;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.StoredRows;
import dev.vamana.vectors.ArrayCopy;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * One graph that is being built on the device. For one thread, bound to the context. {@link
 * DeviceBuilder} makes one for each graph.
 */
final class DeviceBuild implements AutoCloseable {

  // Nodes that are inserted before the host waits for the device: a few milliseconds of work, since
  // an aborted merge has to end soon.
  private static final int NODES_UNDER_WAY = 1 << 13;

  // rows that are pruned before the host waits
  private static final int ROWS_UNDER_WAY = 1 << 18;

  private final CudaDriver driver;
  private final TrainingDevice transfers;
  private final GraphTask task;
  private final BuildPlan plan;
  private final BuildMemory memory;
  private final RecentSearches searches;
  private long stream;
  private BuildKernels kernels;

  /**
   * Allocates memory.
   *
   * @param transfers copies between host and device
   * @param searches that the build leaves room for
   * @throws dev.vamana.cuda.driver.GpuException if there is not enough
   */
  DeviceBuild(
      CudaDriver driver,
      TrainingDevice transfers,
      DeviceBudget budget,
      GraphTask task,
      BuildPlan plan,
      RecentSearches searches) {
    this.searches = searches;
    this.driver = driver;
    this.transfers = transfers;
    this.task = task;
    this.plan = plan;
    this.memory = new BuildMemory(driver, budget, plan);
  }

  /** Builds the rows of the graph. */
  void run(BuiltRows rows) throws IOException {
    stream = driver.createStream(CudaDriver.Urgency.BACKGROUND);
    kernels = new BuildKernels(driver, plan, memory, stream, searches);
    driver.fill(memory.graph, (byte) StoredAdjacency.UNUSED, memory.graphBytes, stream);
    driver.fill(memory.arrivals, (byte) 0, memory.nodeBytes, stream);
    driver.synchronize(stream);
    bringVectors();
    GraphAssembly assembly = rows.assembly();
    sendRows(assembly);
    sendSegment(driver, plan, memory, assembly.entryPoint(), stream);
    float alpha = task.parameters().alpha();
    NodeOrder order = assembly.order(0);
    boolean twice = task.parameters().passes() > 1;
    assembly.allocateRows();
    int present = plan.size() - order.count();
    if (twice) {
      insert(order, present, plan.firstBeam(), BuildPlan.firstAlpha());
    } else {
      insert(order, present, plan.beam(), alpha);
    }
    if (twice) {
      insert(assembly.order(1), plan.size(), plan.beam(), alpha);
    }
    trim(alpha);
    reach(rows);
  }

  /** Finds out which nodes can be reached, and fetches the rows. */
  private void reach(BuiltRows rows) throws IOException {
    rows.reached(
        new SearchTree(driver, plan, memory, kernels, stream)
            .grow(task.medoid(), transfers, task.memory(), task.abort()));
    GraphAssembly assembly = rows.assembly();
    assembly.awaitRows();
    transfers.fetch(
        memory.graph,
        plan.rowBytes(),
        plan.size(),
        (part, first, count) -> assembly.set(first, count, part, plan.rowBytes()),
        task.abort());
  }

  private void sendRows(GraphAssembly assembly) throws IOException {
    GraphAssembly.RowReader rows = assembly.existing();
    if (rows == null) {
      return;
    }
    int[] row = new int[plan.stride()];
    TrainingDevice.Part filler =
        (part, first, count) -> {
          for (int i = 0; i < count; i++) {
            int degree = rows.read(first + i, row);
            Arrays.fill(row, degree, row.length, StoredAdjacency.UNUSED);
            ArrayCopy.toMemory(row, 0, part, (long) i * plan.rowBytes(), row.length);
          }
        };
    transfers.send(memory.graph, plan.rowBytes(), plan.size(), filler, task.abort());
    assembly.forgetExisting();
  }

  private void bringVectors() throws IOException {
    RowSource source = () -> new StoredRows(task.vectors(), task.similarity(), null);
    int stride = plan.vectorStride();
    if (stride != plan.dimension() * Float.BYTES) {
      // walks read the queries in 16-byte chunks
      driver.fill(memory.vectors, (byte) 0, (long) plan.size() * stride, stream);
      driver.synchronize(stream);
    }
    DeviceRows rows = new DeviceRows(memory.vectors, stride, plan.size(), plan.dimension());
    transfers.bring(source, rows, task.workers(), task.abort());
    if (plan.products()) {
      kernels.norms();
      driver.synchronize(stream);
    }
  }

  /** Sends what the walks know of the graph. They compare vectors of floats. */
  static void sendSegment(
      CudaDriver driver, BuildPlan plan, BuildMemory memory, int entryPoint, long stream) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment segment = arena.allocate(SegmentLayout.BYTES, Long.BYTES);
      segment.set(ValueLayout.JAVA_LONG, SegmentLayout.GRAPH, memory.graph);
      segment.set(ValueLayout.JAVA_LONG, SegmentLayout.VECTORS, memory.vectors);
      segment.set(ValueLayout.JAVA_INT, SegmentLayout.SIZE, plan.size());
      segment.set(ValueLayout.JAVA_INT, SegmentLayout.DIMENSION, plan.dimension());
      segment.set(ValueLayout.JAVA_INT, SegmentLayout.GRAPH_STRIDE, plan.stride());
      segment.set(ValueLayout.JAVA_INT, SegmentLayout.MEDOID, entryPoint);
      segment.set(ValueLayout.JAVA_INT, SegmentLayout.VECTOR_STRIDE, plan.vectorStride());
      segment.set(ValueLayout.JAVA_INT, SegmentLayout.VECTOR_FORMAT, SegmentLayout.FORMAT_FLOAT32);
      VectorSimilarityFunction compared =
          plan.products()
              ? VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT
              : VectorSimilarityFunction.EUCLIDEAN;
      segment.set(
          ValueLayout.JAVA_INT, SegmentLayout.SIMILARITY, SegmentLayout.similarity(compared));
      driver.copyToDevice(memory.segment, segment, stream);
      driver.synchronize(stream);
    }
  }

  /**
   * Inserts nodes in batches.
   *
   * @param present nodes that are in the graph already, the entry point included
   * @param beam nodes that a search keeps
   * @param alpha factor of robust prune
   */
  private void insert(NodeOrder order, int present, int beam, float alpha) throws IOException {
    int nodes = order.count();
    transfers.send(
        memory.nodes,
        Integer.BYTES,
        nodes,
        (part, first, count) -> order.read(part, count),
        task.abort());
    int done = 0;
    int waiting = 0;
    while (done < nodes) {
      task.abort().check();
      int in = Math.min(plan.size(), Math.max(1, present) + done);
      int batch = plan.batch(in, nodes - done);
      kernels.insert(done, batch, beam, alpha);
      done += batch;
      waiting += batch;
      if (waiting >= NODES_UNDER_WAY) {
        driver.synchronize(stream);
        waiting = 0;
      }
    }
    driver.synchronize(stream);
  }

  private void trim(float alpha) throws IOException {
    for (long first = 0; first < plan.size(); first += ROWS_UNDER_WAY) {
      task.abort().check();
      kernels.trim((int) first, (int) Math.min(ROWS_UNDER_WAY, plan.size() - first), alpha);
      driver.synchronize(stream);
    }
  }

  /**
   * Waits for the device and frees everything.
   *
   * @throws dev.vamana.cuda.driver.GpuException if that fails; only closing the context frees the
   *     memory then
   */
  @Override
  public void close() {
    if (kernels != null) {
      kernels.close();
    }
    try {
      if (stream != 0) {
        driver.synchronize(stream);
        driver.destroyStream(stream);
      }
    } finally {
      memory.close();
    }
  }
}
