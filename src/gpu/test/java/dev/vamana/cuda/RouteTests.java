package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.lucene.util.FixedBitSet;

/** An executor that has planned such items before decides as one that has not. */
public class RouteTests extends PlanTestCase {

  private static final int STEPS = 25;

  public void testWhatWasDecidedBeforeDoesNotDecide() throws IOException {
    // for other callers, too, walks are as good as scans of two segments
    CostModel costs = costs(10, 8, 45, random().nextBoolean() ? 1e9 : 15);
    try (TestIndex index = TestIndex.any(1500, 4);
        GpuExecutor used = open(options(PlanMode.AUTO, costs))) {
      List<SegmentView> views = index.views();
      int open = 1;
      used.opened(views.get(0));
      for (int step = 0; step < STEPS; step++) {
        if (random().nextInt(4) == 0 && open < views.size()) {
          used.opened(views.get(open++));
        }
        PlanMode mode =
            random().nextBoolean()
                ? PlanMode.AUTO
                : PlanMode.values()[random().nextInt(PlanMode.values().length)];
        used.adjust(dynamic(false, false, mode));
        WorkItem item = any(index, views.get(random().nextInt(open)));
        Map<String, Long> again = planned(used, item);
        assertEquals("the second time", again, planned(used, item));
        try (GpuExecutor fresh = open(options(mode, costs))) {
          views.subList(0, open).forEach(fresh::opened);
          assertEquals(planned(fresh, item), again);
        }
      }
    }
  }

  private static GpuExecutor open(GpuOptions options) {
    CudaDriver driver = device();
    return openAtOnce(options, () -> driver, everything(Placement.EXACT), new QuietListener());
  }

  private static WorkItem any(TestIndex index, SegmentView view) {
    FixedBitSet accepted =
        random().nextInt(3) == 0 ? some(view.size(), 1 + random().nextInt(view.size())) : null;
    return item(index, view, random().nextBoolean() ? 5 : 40, accepted);
  }

  /** Searches an item and returns its plan. */
  private static Map<String, Long> planned(GpuExecutor executor, WorkItem item) throws IOException {
    Map<String, Long> plans = new TreeMap<>(plans(executor));
    executor.search(List.of(item));
    plans(executor).forEach((plan, items) -> plans.merge(plan, -items, Long::sum));
    plans.values().removeIf(items -> items == 0);
    assertEquals(1, plans.size());
    return plans;
  }

  private static Map<String, Long> plans(GpuExecutor executor) {
    return executor.statistics().counters().get("plan_items");
  }
}
