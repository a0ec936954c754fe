package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.kernel.Limits;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import org.apache.lucene.index.VectorEncoding;

/**
 * The properties that items must share to be walked together.
 *
 * @param encoding type of the components
 * @param dimension components of a vector
 * @param subspaces subspaces of a code
 * @param stride slots of an adjacency row
 * @param parents nodes expanded in a step
 */
public record FetchShape(
    VectorEncoding encoding, int dimension, int subspaces, int stride, int parents) {

  private static final int MAX_FRESH = Limits.MAX_DEGREE * Limits.MAX_PARENTS;

  /** Returns the shape of an item, or null if the kernels do not support it. */
  public static FetchShape of(WorkItem item) throws IOException {
    SegmentView view = item.segment();
    if (view.hasGraph() == false || view.codebook() == null) {
      return null;
    }
    int stride = StoredAdjacency.stride(view.maxDegree());
    int subspaces = view.codebook().layout().count();
    if (stride > Limits.MAX_DEGREE
        || subspaces > Limits.MAX_SUBSPACES
        || view.dimension() > Limits.MAX_DIMENSION
        || item.entryPoints().length >= MAX_FRESH) {
      return null;
    }
    return new FetchShape(
        view.encoding(), view.dimension(), subspaces, stride, item.walk().parents());
  }

  /** Ordinals of all rows of one step. */
  int rowStride() {
    return stride * parents;
  }
}
