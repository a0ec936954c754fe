package dev.vamana.tools.gpu;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.util.Map;
import org.apache.lucene.index.VectorEncoding;

/**
 * The distances and bytes of one query of a walk. Counts come from the device; bytes are computed
 * from the file layout and ignore caches.
 *
 * @param distances distances computed
 * @param steps steps of the walk
 * @param graphBytes bytes of adjacency rows
 * @param distanceBytes bytes of the vectors or codes, in device memory, used for distances
 * @param rerankBytes bytes of the raw vectors scored at the end
 * @param mapped whether graph and raw vectors are in mapped files rather than in device memory
 */
record WorkOfWalk(
    double distances,
    double steps,
    double graphBytes,
    double distanceBytes,
    double rerankBytes,
    boolean mapped) {

  static WorkOfWalk of(
      SegmentView view, Placement placement, WalkParameters walk, Gpu.Counts counts)
      throws IOException {
    double queries = Math.max(1, counts.answered());
    double distances = counts.distances() / queries;
    double steps = counts.steps() / queries;
    double graph =
        steps * walk.parents() * StoredAdjacency.stride(view.maxDegree()) * Integer.BYTES;
    int component = view.encoding() == VectorEncoding.FLOAT32 ? Float.BYTES : 1;
    int raw = view.dimension() * component;
    double reranked =
        walk.rerankDepth() == WalkParameters.RERANK_EXPANDED
            ? steps * walk.parents()
            : Math.min(walk.beamWidth(), walk.rerankDepth(BenchStage.K));
    int code = view.codebook() == null ? 0 : view.codebook().layout().count();
    int compared =
        switch (placement) {
          case EXACT -> raw;
          case EXACT_FLOAT16 -> view.dimension() * Short.BYTES;
          case EXACT_INT8 -> view.dimension();
          case IN_MEMORY, MAPPED_GRAPH, HOST_FETCH -> code;
        };
    return new WorkOfWalk(
        distances,
        steps,
        graph,
        distances * compared,
        placement == Placement.EXACT ? 0 : reranked * raw,
        placement == Placement.MAPPED_GRAPH || placement == Placement.HOST_FETCH);
  }

  /** Returns the bytes read from device memory. */
  double deviceBytes() {
    return distanceBytes + (mapped ? 0 : graphBytes + rerankBytes);
  }

  /** Returns the bytes read from mapped files. */
  double hostBytes() {
    return mapped ? graphBytes + rerankBytes : 0;
  }

  /** Adds totals over all stages to a row. */
  void addTo(Map<String, Object> row) {
    row.put("distances", Samples.round(distances, 1));
    row.put("steps", Samples.round(steps, 1));
    row.put("device_bytes", Samples.round(deviceBytes(), 0));
    row.put("host_bytes", Samples.round(hostBytes(), 0));
  }

  /** Adds the bytes of each stage to a row. */
  void addStagesTo(Map<String, Object> row) {
    row.put("graph_bytes", Samples.round(graphBytes, 0));
    row.put("distance_bytes", Samples.round(distanceBytes, 0));
    row.put("rerank_bytes", Samples.round(rerankBytes, 0));
  }
}
