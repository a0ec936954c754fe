package dev.vamana.cuda.call;

import dev.vamana.cuda.exact.ExactScans;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidentRows;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.cuda.plan.Workload;
import dev.vamana.cuda.scan.ScanLane;
import dev.vamana.ivf.ListShape;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import org.apache.lucene.index.VectorEncoding;

/** Describes work items as {@link Workload}s for the cost model. */
public final class Workloads {

  /** Steps of a walk before its worklist is full, as measured. */
  private static final int APPROACH_STEPS = 6;

  private static final Workload.Walk NO_WALK =
      new Workload.Walk(Workload.Graph.NONE, 1, 0, 1, 0, 0);
  private static final int ALIGNMENT = 16;

  private Workloads() {}

  /**
   * Whether an exact search on the device can answer the item, provided the device can read the
   * rows.
   */
  public static boolean exactFits(WorkItem item) {
    return item.k() <= ScanLane.MAX_K && item.visitLimit() > item.acceptedCount();
  }

  /** Returns where the device reads exact vectors of an item's segment, for few queries. */
  public static Workload.Rows inPlace(WorkItem item, ResidentSegment segment) {
    ResidentRows rows = segment.rows();
    if (exactFits(item) == false || ScanLane.reads(rows) == false) {
      return Workload.Rows.NONE;
    }
    return rows.onDevice() ? Workload.Rows.DEVICE : Workload.Rows.HOST;
  }

  /**
   * Returns where the device reads exact vectors of an item's segment. A batch of many queries
   * would read rows in host memory over the bus many times, so it does not.
   *
   * @param batch number of items compared with the vectors together
   */
  public static Workload.Rows rows(WorkItem item, ResidentSegment segment, int batch) {
    Workload.Rows rows = inPlace(item, segment);
    return rows == Workload.Rows.HOST && ExactScans.few(batch, item.k()) == false
        ? Workload.Rows.NONE
        : rows;
  }

  /**
   * Describes a scan that is known only by segment, k and number of accepted vectors.
   *
   * @param cpuRounds as {@link Workload.Cpu#rounds}
   */
  public static Workload scan(
      SegmentView view, int k, int accepted, int batch, Workload.Rows rows, double cpuRounds) {
    int size = view.size();
    int own = Math.max(0, Math.min(accepted, size));
    return new Workload(
        size,
        view.dimension(),
        rowBytes(view),
        rows,
        own,
        own < size,
        Math.max(1, Math.min(k, size)),
        batch,
        1,
        NO_WALK,
        new Workload.Cpu(true, cpuRounds, own));
  }

  /**
   * Describes items that differ only in their query.
   *
   * @param scans whether the CPU would scan rather than walk
   * @param batch number of items compared with the vectors together
   * @param walk result of {@link #walk}, or null if the device cannot walk the segment
   */
  public static Workload of(
      WorkItem item,
      boolean scans,
      Workload.Rows rows,
      int batch,
      Workload.Walk walk,
      double cpuRounds) {
    SegmentView view = item.segment();
    int accepted = Math.max(0, Math.min(item.acceptedCount(), view.size()));
    return new Workload(
        view.size(),
        view.dimension(),
        rowBytes(view),
        rows,
        accepted,
        item.acceptedOrdinals() != null,
        Math.min(item.k(), view.size()),
        batch,
        1,
        walk == null ? NO_WALK : walk,
        new Workload.Cpu(scans, cpuRounds, scans ? accepted : CpuExecutor.expectedVisits(item)));
  }

  /**
   * Describes the walk of an item.
   *
   * @param batch number of items that walk at the same time
   */
  public static Workload.Walk walk(WorkItem item, Placement placement, int batch)
      throws IOException {
    Workload.Graph graph =
        switch (placement) {
          case EXACT, EXACT_FLOAT16, EXACT_INT8, IN_MEMORY -> Workload.Graph.DEVICE;
          case MAPPED_GRAPH -> Workload.Graph.MAPPED;
          case HOST_FETCH -> Workload.Graph.FETCHED;
        };
    int parents = item.walk().parents();
    return new Workload.Walk(
        graph,
        batch,
        APPROACH_STEPS + item.effectiveBeamWidth() / (double) parents,
        parents,
        CpuExecutor.expectedVisits(item),
        walkBytes(item, placement));
  }

  /**
   * Describes the search of an item over inverted lists: as many as {@link
   * CpuExecutor#expectedLists} says, of mean length. Its steps are lists, its distances entries.
   *
   * @param batch number of items that are searched at the same time
   */
  public static Workload.Walk lists(WorkItem item, int batch) {
    ListShape shape = item.segment().lists().shape();
    double searched = CpuExecutor.expectedLists(item);
    double entries = searched * shape.size() / shape.lists();
    return new Workload.Walk(
        Workload.Graph.LISTS, batch, searched, 1, entries, shape.words() * Long.BYTES);
  }

  private static int walkBytes(WorkItem item, Placement placement) throws IOException {
    SegmentView view = item.segment();
    return aligned(
        switch (placement) {
          case EXACT -> view.dimension() * view.encoding().byteSize;
          case EXACT_FLOAT16 -> view.dimension() * Short.BYTES;
          case EXACT_INT8 -> view.dimension();
          case IN_MEMORY, MAPPED_GRAPH, HOST_FETCH -> view.codebook().layout().count();
        });
  }

  private static int rowBytes(SegmentView view) {
    return aligned(view.dimension() * (view.encoding() == VectorEncoding.BYTE ? 1 : Float.BYTES));
  }

  private static int aligned(int bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
}
