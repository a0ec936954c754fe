package dev.vamana.cuda.memory;

import dev.vamana.cuda.kernel.WalkLayouts.SegmentLayout;
import dev.vamana.search.SegmentView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Writes the {@code vamana::Segment} struct of a plan, through which kernels find the segment's
 * parts.
 */
final class SegmentDescriptor {

  private SegmentDescriptor() {}

  /**
   * Writes a descriptor.
   *
   * @param target {@link SegmentLayout#BYTES} bytes
   * @param block device address of the plan's block
   * @param graph device address of the adjacency rows, or 0
   * @param raw device address of the raw vectors, or 0
   * @param whole as of {@link SegmentLayout#WHOLE_COPIES}
   */
  static void write(
      MemorySegment target,
      SegmentView view,
      PlacementPlan plan,
      long block,
      long graph,
      long raw,
      boolean whole) {
    SegmentShape shape = plan.shape();
    target.fill((byte) 0);
    setLong(target, SegmentLayout.GRAPH, graph);
    setLong(target, SegmentLayout.VECTORS, address(block, plan.vectors()));
    setLong(target, SegmentLayout.RAW, raw);
    setLong(target, SegmentLayout.CODES, address(block, plan.codes()));
    setLong(target, SegmentLayout.COLUMNS, address(block, plan.columns()));
    setLong(target, SegmentLayout.CENTROID_NORMS, address(block, plan.norms()));
    setInt(target, SegmentLayout.SIZE, shape.size());
    setInt(target, SegmentLayout.DIMENSION, shape.dimension());
    setInt(target, SegmentLayout.GRAPH_STRIDE, shape.graphStride());
    setInt(target, SegmentLayout.MEDOID, view.medoid());
    setInt(target, SegmentLayout.VECTOR_STRIDE, plan.vectorStride());
    setInt(target, SegmentLayout.RAW_STRIDE, plan.rawStride());
    setInt(target, SegmentLayout.CODE_STRIDE, plan.codeStride());
    setInt(target, SegmentLayout.SUBSPACES, plan.subspaces());
    setInt(target, SegmentLayout.SIMILARITY, SegmentLayout.similarity(view.similarity()));
    int rawFormat = shape.floats() ? SegmentLayout.FORMAT_FLOAT32 : SegmentLayout.FORMAT_BYTE;
    setInt(target, SegmentLayout.VECTOR_FORMAT, vectorFormat(plan.placement(), rawFormat));
    setInt(target, SegmentLayout.RAW_FORMAT, rawFormat);
    setInt(target, SegmentLayout.BYTE_SCORING, shape.floats() ? 0 : 1);
    setLong(target, SegmentLayout.VECTOR_FACTS, address(block, plan.facts()));
    setLong(target, SegmentLayout.VECTOR_CENTER, address(block, plan.center()));
    setInt(target, SegmentLayout.WHOLE_COPIES, whole ? 1 : 0);
  }

  private static int vectorFormat(Placement placement, int rawFormat) {
    return switch (placement) {
      case EXACT_FLOAT16 -> SegmentLayout.FORMAT_FLOAT16;
      case EXACT_INT8 -> SegmentLayout.FORMAT_BYTE;
      default -> rawFormat;
    };
  }

  private static long address(long block, long offset) {
    return offset == PlacementPlan.NONE ? 0 : block + offset;
  }

  private static void setLong(MemorySegment target, long offset, long value) {
    target.set(ValueLayout.JAVA_LONG_UNALIGNED, offset, value);
  }

  private static void setInt(MemorySegment target, long offset, int value) {
    target.set(ValueLayout.JAVA_INT_UNALIGNED, offset, value);
  }
}
