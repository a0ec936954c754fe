package dev.vamana.cuda;

import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.util.ArrayList;
import java.util.List;

/** Tests of calls whose items arrive at the device in several chunks. */
public class SlicedCallTests extends GpuTestCase {

  private static GpuExecutor open(TestIndex index) {
    assumeTrue("needs kernels of the host", kernels != null);
    return GpuExecutor.open(
        WALKS.withBatches(BATCHES),
        GpuTestCase::driver,
        everything(Placement.EXACT, true),
        new QuietListener());
  }

  private static WorkItem item(TestIndex index, int parents) throws Exception {
    return new WorkItem(
        index.views().get(0),
        index.vector(),
        5,
        new WalkParameters(20, WalkParameters.Distances.EXACT, parents, 0),
        null,
        index.size,
        Long.MAX_VALUE,
        () -> false,
        new int[0]);
  }

  /** Items of two shapes in turns, so that there are chunks of both. */
  public void testEveryItemGetsItsAnswer() throws Exception {
    try (TestIndex index = TestIndex.any(600, 1);
        GpuExecutor executor = open(index)) {
      List<WorkItem> items = new ArrayList<>();
      while (items.size() < 1_500) {
        items.add(item(index, random().nextInt(4) == 0 ? 4 : 1));
      }
      List<WorkResult> results = executor.search(items);
      assertSame(onCpu(items), results, 0.98);
    }
  }
}
