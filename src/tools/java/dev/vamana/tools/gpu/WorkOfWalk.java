package dev.vamana.tools.gpu;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.util.Map;
import org.apache.lucene.index.VectorEncoding;

/**
 * What one query of a walk computes and reads, counted on the device; bytes follow from the layout
 * of the files, without what caches save.
 *
 * @param distances distances computed
 * @param steps steps of the walk
 * @param deviceBytes rows of the graph, and vectors or codes, read from the device's memory
 * @param hostBytes the same, read from mapped files
 */
record WorkOfWalk(double distances, double steps, double deviceBytes, double hostBytes) {

  static WorkOfWalk of(
      SegmentView view, Placement placement, WalkParameters walk, Gpu.Counts counts)
      throws IOException {
    double queries = Math.max(1, counts.answered());
    double distances = counts.distances() / queries;
    double steps = counts.steps() / queries;
    double graph =
        steps * walk.parents() * StoredAdjacency.stride(view.maxDegree()) * Integer.BYTES;
    int component = view.encoding() == VectorEncoding.FLOAT32 ? Float.BYTES : 1;
    double raw = (double) view.dimension() * component;
    double reranked =
        walk.rerankDepth() == WalkParameters.RERANK_EXPANDED
            ? steps * walk.parents()
            : Math.min(walk.beamWidth(), walk.rerankDepth(BenchStage.K));
    int code = view.codebook() == null ? 0 : view.codebook().layout().count();
    return switch (placement) {
      case EXACT -> new WorkOfWalk(distances, steps, graph + distances * raw, 0);
      case EXACT_FLOAT16 ->
          new WorkOfWalk(
              distances,
              steps,
              graph + distances * view.dimension() * Short.BYTES + reranked * raw,
              0);
      case EXACT_INT8 ->
          new WorkOfWalk(
              distances, steps, graph + distances * view.dimension() + reranked * raw, 0);
      case IN_MEMORY ->
          new WorkOfWalk(distances, steps, graph + distances * code + reranked * raw, 0);
      case MAPPED_GRAPH, HOST_FETCH ->
          new WorkOfWalk(distances, steps, distances * code, graph + reranked * raw);
    };
  }

  void addTo(Map<String, Object> row) {
    row.put("distances", Samples.round(distances, 1));
    row.put("steps", Samples.round(steps, 1));
    row.put("device_bytes", Samples.round(deviceBytes, 0));
    row.put("host_bytes", Samples.round(hostBytes, 0));
  }
}
