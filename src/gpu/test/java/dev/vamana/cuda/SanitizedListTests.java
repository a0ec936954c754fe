package dev.vamana.cuda;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.cuda.kernel.ListCodes;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.lists.ListKernels;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.tools.gpu.Gpu;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.FixedBitSet;

/** Every kernel that searches inverted lists, on few vectors: for tools that slow kernels down. */
public class SanitizedListTests extends DeviceTestCase {

  private static final int SIZE = 700;
  private static final int K = 10;

  public void testLists() throws Exception {
    for (VectorEncoding encoding : VectorEncoding.values()) {
      for (CodeKind codes : List.of(CodeKind.RABITQ1, CodeKind.RABITQ4, CodeKind.PQ)) {
        try (DeviceSegment segment = segment(encoding, codes)) {
          ListCodes kernels = codes == CodeKind.PQ ? ListCodes.TABLE : ListCodes.BITS;
          if (codes == CodeKind.RABITQ1) {
            search(segment, Tuning.DEFAULT.withListSharing(1));
          }
          for (int warps : ListKernels.tuned(kernels)) {
            // several blocks for each item, where blocks search in waves
            search(segment, Tuning.DEFAULT.withWarps(warps).withTeam(2 + random().nextInt(7)));
            search(segment, Tuning.DEFAULT.withWarps(warps).withTeam(1));
            if (codes == CodeKind.PQ) {
              search(segment, Tuning.DEFAULT.withWarps(warps).withTable(Policy.TABLE_GLOBAL));
            }
          }
        }
      }
    }
  }

  private static DeviceSegment segment(VectorEncoding encoding, CodeKind codes) throws Exception {
    VectorSimilarityFunction similarity = VectorSimilarityFunction.EUCLIDEAN;
    return DeviceSegment.of(
        createTempDir(),
        DeviceSegment.clustered(new Random(random().nextLong()), SIZE, 20, encoding, similarity),
        similarity,
        VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, codes),
        workers());
  }

  private static void search(DeviceSegment segment, Tuning tuning) throws Exception {
    FixedBitSet accepted = new FixedBitSet(SIZE);
    for (int i = 0; i < SIZE; i++) {
      if (random().nextInt(8) > 0) {
        accepted.set(i);
      }
    }
    try (Gpu gpu = open(Placement.EXACT, tuning)) {
      serve(gpu, segment.view());
      Gpu.Counts before = gpu.counts();
      List<WorkItem> together = new ArrayList<>();
      for (int width : List.of(K, 40, 300)) {
        together.addAll(
            items(segment, segment.vectors().subList(0, 3), K, WalkParameters.exact(width)));
      }
      Parity parity = new Parity(workers());
      parity.add(gpu.executor(), together);
      parity.add(
          gpu.executor(),
          List.of(
              item(
                  segment.view(),
                  segment.vectors().get(random().nextInt(SIZE)),
                  K,
                  WalkParameters.exact(20),
                  accepted,
                  accepted.cardinality(),
                  Long.MAX_VALUE,
                  new int[0])));
      assertNoFallback(gpu, before);
      parity.assertShare("lists, " + tuning, Parity.HALF_TABLES);
      gpu.executor().closing(segment.view());
    }
  }
}
