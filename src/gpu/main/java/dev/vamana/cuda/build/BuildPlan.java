package dev.vamana.cuda.build;

import dev.vamana.cuda.kernel.BuildSizes;
import dev.vamana.cuda.kernel.ChunkSizes;
import dev.vamana.cuda.kernel.Limits;
import dev.vamana.cuda.kernel.SharedLayout;
import dev.vamana.cuda.kernel.WalkShape;
import dev.vamana.cuda.kernel.WalkShape.Reads;
import dev.vamana.graph.BuildParameters;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.StoredAdjacency;
import java.io.IOException;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * The sizes of a build on the device. {@link DeviceBuilder} makes it, and leaves to the CPU what
 * does not fit.
 *
 * @param size number of vectors
 * @param dimension components of a vector
 * @param maxDegree most neighbours of a finished row
 * @param slots neighbours of a row beyond which it is pruned during the build
 * @param firstBeam nodes that a search of the first of two passes keeps, at most {@code beam}
 * @param beam nodes that a search of the second or only pass keeps
 * @param shape the shape of these searches
 * @param products whether vectors are compared by inner products, and not by squared distances
 */
record BuildPlan(
    int size,
    int dimension,
    int maxDegree,
    int slots,
    int firstBeam,
    int beam,
    WalkShape shape,
    boolean products) {

  /** Nodes that a search expands in a step. */
  static final int PARENTS = 4;

  // Below, a batch has as many nodes as are in, so that the first nodes are no star.
  private static final int FULL_BATCH = 512;

  // A batch has this part of the nodes that are in: its nodes do not find each other in the first
  // pass, and the fewer do not, the better is the graph.
  private static final int PART = 16;

  // Enough to fill a device several times over. A search waits some milliseconds for such a batch.
  private static final int MOST_NODES = 1 << 14;

  /** Plans a task, or returns null if no kernel supports it. */
  static BuildPlan of(GraphTask task) throws IOException {
    BuildParameters parameters = task.parameters();
    int degree = parameters.maxDegree();
    // as many spare slots as on the CPU, within a row that the walk kernels can read
    int slots = Math.min(Limits.MAX_DEGREE, degree + Math.max(2, degree / 8));
    int firstBeam = parameters.passBeamWidth();
    int beam = parameters.passes() > 1 ? firstBeam * 9 / 8 : firstBeam;
    WalkShape shape =
        WalkShape.of(
            Reads.FLOAT32,
            task.dimension(),
            0,
            beam,
            StoredAdjacency.stride(slots),
            PARENTS,
            0,
            false);
    return shape == null
        ? null
        : new BuildPlan(
            task.size(), task.dimension(), degree, slots, firstBeam, beam, shape, byProducts(task));
  }

  /**
   * Returns the factor of robust prune in the first of two passes. Its rows are the way to what the
   * second pass chooses from: shorter ones lead there with fewer distances, and leave it more room.
   */
  static float firstAlpha() {
    return BuildParameters.MIN_ALPHA;
  }

  private static boolean byProducts(GraphTask task) throws IOException {
    VectorSimilarityFunction similarity = task.similarity();
    return similarity == VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT
        || (similarity == VectorSimilarityFunction.DOT_PRODUCT
            && task.vectors().getEncoding() == VectorEncoding.BYTE);
  }

  /** Slots of a row on the device. */
  int stride() {
    return StoredAdjacency.stride(slots);
  }

  /** Bytes of a row on the device. */
  int rowBytes() {
    return stride() * Integer.BYTES;
  }

  /** Bytes between vectors on the device. */
  int vectorStride() {
    return SharedLayout.up16(dimension * Float.BYTES);
  }

  /** Candidates of a node that is inserted: what its search finds, and its row. */
  int candidates(int found) {
    return found + stride();
  }

  /** Candidates of a row that edges come to. */
  int mergeCandidates() {
    return 2 * BuildSizes.CHUNK;
  }

  /** The memory that searches need that keep so many nodes. */
  ChunkSizes walkSizes(int kept) {
    return new ChunkSizes(kept, WalkShape.fresh(stride(), PARENTS, 0), dimension, 0, 0, false);
  }

  /** Most nodes of a batch. */
  int mostNodes() {
    return Math.min(size, Math.min(MOST_NODES, Math.max(FULL_BATCH, size / PART)));
  }

  /**
   * Returns the number of nodes of the next batch.
   *
   * @param present nodes that have a row or are the entry point, at least 1
   * @param left nodes that are still to be inserted, at least 1
   */
  int batch(int present, int left) {
    int wanted = Math.min(present, Math.max(FULL_BATCH, present / PART));
    return Math.min(left, Math.min(wanted, mostNodes()));
  }
}
