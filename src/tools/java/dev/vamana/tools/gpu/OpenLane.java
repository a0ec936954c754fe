package dev.vamana.tools.gpu;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;

/**
 * An executor that serves some segments.
 *
 * @param executor the executor to measure
 * @param gpu its GPU; null for the CPU
 */
record OpenLane(SearchExecutor executor, Gpu gpu) implements Closeable {

  static OpenLane gpu(
      Stage.Context context, Placement placement, BatchOptions batches, List<SegmentView> segments)
      throws IOException, InterruptedException {
    Gpu gpu =
        OpenGpu.open(
            ListSteps.drivers(context.options(), Gpu::openDriver),
            placement,
            batches,
            Gpu.WALKS,
            OpenGpu.memoryFor(placement, segments));
    context.fragment().set("device", gpu.device());
    context.fragment().set("driver", gpu.driver());
    segments.forEach(gpu.executor()::opened);
    gpu.await(segments);
    return new OpenLane(gpu.executor(), gpu);
  }

  /** Throws if the CPU answered items of the GPU. */
  void check() {
    if (gpu != null && gpu.counts().fallbacks() > 0) {
      throw new IllegalStateException("the CPU answered items: " + gpu.counts());
    }
  }

  @Override
  public void close() throws IOException {
    if (gpu == null) {
      executor.close();
    } else {
      gpu.close();
    }
  }
}
