package dev.vamana.cuda;

import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.tools.gpu.Gpu;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.util.FixedBitSet;

/**
 * Runs every walk kernel on few vectors, so that compute-sanitizer, which slows kernels down a lot,
 * takes only seconds: long and short worklists, one and several parents per step, single items and
 * batches, filters, and re-ranking of all expanded nodes.
 */
public class SanitizedWalkTests extends DeviceTestCase {

  private static final int SIZE = 600;
  private static final int K = 10;

  /** racecheck reports false races in some walks (docs/internals/gpu-suite.md#the-sanitizer). */
  private static final boolean RACECHECK =
      "racecheck".equals(System.getProperty("tests.sanitizer"));

  public void testWalksOnVectors() throws Exception {
    try (DeviceSegment segment = smallSegment(SIZE)) {
      for (Placement placement :
          List.of(Placement.EXACT, Placement.EXACT_FLOAT16, Placement.EXACT_INT8)) {
        for (int warps : Tuning.WARPS) {
          walk(segment, placement, Tuning.DEFAULT.withWarps(warps));
        }
      }
    }
  }

  public void testWalksOnCodes() throws Exception {
    try (DeviceSegment segment = smallSegment(SIZE)) {
      for (Policy table : List.of(Policy.TABLE_HALF, Policy.TABLE_FLOAT, Policy.TABLE_GLOBAL)) {
        for (int warps : Tuning.WARPS) {
          walk(segment, Placement.IN_MEMORY, Tuning.DEFAULT.withTable(table).withWarps(warps));
        }
      }
      walk(segment, Placement.MAPPED_GRAPH, Tuning.DEFAULT);
      walk(segment, Placement.HOST_FETCH, Tuning.DEFAULT);
    }
  }

  private static void walk(DeviceSegment segment, Placement placement, Tuning tuning)
      throws IOException, InterruptedException {
    boolean codes = QUANTIZED_WALKS.contains(placement);
    boolean copies = codes == false && placement != Placement.EXACT;
    try (Gpu gpu = open(placement, tuning)) {
      serve(gpu, segment.view());
      Gpu.Counts before = gpu.counts();
      Parity parity = new Parity(workers());
      for (WalkParameters walk : walks(codes)) {
        if (RACECHECK && codes == false && walk.parents() == 1 && tuning.warps() > 1) {
          continue;
        }
        List<WorkItem> together = items(segment, segment.vectors().subList(0, 9), K, walk);
        List<WorkItem> alone = List.of(filtered(segment, walk));
        if (copies) {
          // walks of their own; other tests compare their results
          gpu.executor().search(together);
          gpu.executor().search(alone);
        } else {
          parity.add(gpu.executor(), together);
          parity.add(gpu.executor(), alone);
        }
      }
      assertNoFallback(gpu, before);
      if (copies == false) {
        parity.assertShare(placement + " " + tuning, Parity.HALF_TABLES);
      }
      gpu.executor().closing(segment.view());
    }
  }

  private static List<WalkParameters> walks(boolean codes) {
    WalkParameters.Distances distances =
        codes ? WalkParameters.Distances.QUANTIZED : WalkParameters.Distances.EXACT;
    List<WalkParameters> walks = new ArrayList<>();
    walks.add(new WalkParameters(20, distances, 1, 0));
    walks.add(new WalkParameters(100, distances, 4, 0));
    if (codes) {
      walks.add(new WalkParameters(30, distances, 2, WalkParameters.RERANK_EXPANDED));
    }
    return walks;
  }

  private static WorkItem filtered(DeviceSegment segment, WalkParameters walk) {
    FixedBitSet accepted = new FixedBitSet(segment.view().size());
    for (int i = 0; i < accepted.length(); i++) {
      if (random().nextInt(4) > 0) {
        accepted.set(i);
      }
    }
    return item(
        segment.view(),
        segment.vectors().get(random().nextInt(SIZE)),
        K,
        walk,
        accepted,
        accepted.cardinality(),
        Long.MAX_VALUE,
        new int[] {1, 2, 3});
  }
}
