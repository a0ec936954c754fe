package dev.vamana.cuda.batch;

import dev.vamana.cuda.kernel.ChunkSizes;
import dev.vamana.cuda.kernel.LaunchShape;
import dev.vamana.cuda.kernel.Limits;
import dev.vamana.cuda.kernel.ListSearchShape;
import dev.vamana.cuda.kernel.WalkShape;
import dev.vamana.cuda.kernel.WalkShape.Reads;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.ivf.ListShape;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import org.apache.lucene.index.VectorEncoding;

/**
 * The launch parameters of an item. Items that differ only in their query share a plan. {@code
 * call.CallPlanner} makes it, {@link Packer} writes it into the items.
 *
 * @param segment the resident segment; the plan does not hold it
 * @param shape items of equal shape can share a launch
 * @param k number of hits
 * @param beam capacity of the worklist; hits whose distances decide when a search of lists ends
 * @param rerank number of worklist entries that get exact scores, -1 for all expanded nodes
 * @param visitLimit most distances of the walk, as of {@link Limits#visits}
 * @param capacity number of hits that the result has room for
 * @param sizes memory that the item needs
 */
public record ItemPlan(
    ResidentSegment segment,
    LaunchShape shape,
    int k,
    int beam,
    int rerank,
    int visitLimit,
    int capacity,
    ChunkSizes sizes) {

  private static final int SPARE_EXPANDED = 256;

  /**
   * Plans an item according to its segment's placement. Segments placed with codes are walked on
   * codes and all others on vectors, whatever the item's parameters prefer.
   *
   * @return the plan, or null if no kernel supports the item
   */
  public static ItemPlan of(WorkItem item, ResidentSegment segment) throws IOException {
    SegmentView view = item.segment();
    if (view.hasLists()) {
      return ofLists(item, segment);
    }
    Reads reads = reads(segment.placement(), view.encoding());
    if (reads == null) {
      return null;
    }
    int subspaces = reads == Reads.CODES ? view.codebook().layout().count() : 0;
    int stride = StoredAdjacency.stride(view.maxDegree());
    WalkParameters walk = item.walk();
    int beam = item.effectiveBeamWidth();
    int k = Math.min(item.k(), beam);
    boolean approximate =
        reads != Reads.FLOAT32
            && (reads != Reads.BYTE || view.encoding() == VectorEncoding.FLOAT32);
    boolean expanded = approximate && walk.rerankDepth() == WalkParameters.RERANK_EXPANDED;
    WalkShape shape =
        WalkShape.of(
            reads,
            view.dimension(),
            subspaces,
            beam,
            stride,
            walk.parents(),
            item.entryPoints().length,
            expanded);
    if (shape == null) {
      return null;
    }
    int expandedCapacity = expanded ? (int) Math.min(view.size(), 4L * beam + SPARE_EXPANDED) : 0;
    int rerank = expanded ? -1 : approximate ? Math.min(beam, walk.rerankDepth(k)) : k;
    int capacity =
        segment.reranksOnDevice() || approximate == false
            ? k
            : expanded ? expandedCapacity : rerank;
    int visitLimit = Limits.visits(item.limitWithinReach(), view.size());
    ChunkSizes sizes =
        new ChunkSizes(
            beam,
            WalkShape.fresh(stride, walk.parents(), item.entryPoints().length),
            view.dimension(),
            subspaces,
            expandedCapacity,
            visitLimit != Limits.NO_VISIT_LIMIT);
    return new ItemPlan(segment, shape, k, beam, rerank, visitLimit, capacity, sizes);
  }

  /** Returns this plan for a use of its segment, or for none. */
  public ItemPlan on(ResidentSegment use) {
    return new ItemPlan(use, shape, k, beam, rerank, visitLimit, capacity, sizes);
  }

  /**
   * Plans a search of inverted lists.
   *
   * @return the plan, or null if no kernel supports the item
   */
  private static ItemPlan ofLists(WorkItem item, ResidentSegment segment) {
    SegmentView view = item.segment();
    ListShape lists = view.lists().shape();
    int width = item.listWidth();
    ListSearchShape shape =
        ListSearchShape.of(
            view.encoding() == VectorEncoding.BYTE,
            lists.kind().isRabitq() == false,
            Math.max(1, width),
            view.dimension());
    if (shape == null || segment.reranksOnDevice() == false) {
      return null;
    }
    int k = Math.min(item.k(), width);
    int visitLimit = Limits.visits(item.visitLimit(), view.size());
    ChunkSizes sizes =
        new ChunkSizes(
            width,
            0,
            view.dimension(),
            lists.subspaces(),
            0,
            lists.lists(),
            visitLimit != Limits.NO_VISIT_LIMIT);
    return new ItemPlan(segment, shape, k, width, k, visitLimit, k, sizes);
  }

  private static Reads reads(Placement placement, VectorEncoding encoding) {
    return switch (placement) {
      case EXACT -> encoding == VectorEncoding.BYTE ? Reads.BYTE : Reads.FLOAT32;
      case EXACT_FLOAT16 -> Reads.FLOAT16;
      case EXACT_INT8 -> Reads.BYTE;
      case IN_MEMORY, MAPPED_GRAPH -> Reads.CODES;
      case HOST_FETCH -> null;
    };
  }
}
