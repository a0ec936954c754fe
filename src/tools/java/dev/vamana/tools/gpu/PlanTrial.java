package dev.vamana.tools.gpu;

import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.call.Workloads;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Precision;
import dev.vamana.cuda.plan.CostForm;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.Plan;
import dev.vamana.cuda.plan.Workload;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.apache.lucene.util.FixedBitSet;

/**
 * Times one plan over one segment.
 *
 * @param plan the only plan that the executor chooses for these items
 * @param placement placement of the segment; null for the CPU
 * @param warm formulas that were timed over this segment before; {@link #time} adds its own
 * @param queries one vector per row; repeated to fill larger batches
 */
record PlanTrial(
    Stage.Context context,
    CostModel costs,
    CostFit fit,
    String set,
    SearchExecutor executor,
    SegmentView view,
    float[][] queries,
    Plan plan,
    Placement placement,
    Set<CostForm> warm) {

  private static final int WARM_UP = 3;

  /**
   * Warm-up time of a point as a share of its measuring time: for the first point of a formula,
   * whose code is not compiled yet, and for later points.
   */
  private static final double FIRST_WARM_UP = 3;

  private static final double WARM_UP_AGAIN = 0.4;
  private static final int MIN_SAMPLES = 5;
  private static final int MAX_SAMPLES = 200;

  /**
   * Vectors of queries of the calls of one point together. A call that asks the same again finds in
   * the processor's cache what it reads.
   */
  private static final int DIFFERENT = 1_000;

  /**
   * A search to time.
   *
   * @param accepted number of evenly spread vectors that may be hits; the segment's size for all
   */
  record Question(int k, int beam, int batch, int accepted, int parents) {
    Question(int k, int beam, int batch, int accepted) {
      this(k, beam, batch, accepted, 1);
    }
  }

  /** Times calls and adds the median to the fit, provided that the expected plan answered them. */
  void time(Question question) throws IOException {
    List<List<WorkItem>> calls = new ArrayList<>();
    for (int from = 0; from < Math.min(DIFFERENT, queries.length); from += question.batch()) {
      calls.add(items(question, from));
    }
    Workload task = task(calls.get(0).get(0), question);
    CostForm form = costs.form(plan, task);
    long before = answered();
    double warmUp = warm.add(form) ? FIRST_WARM_UP : WARM_UP_AGAIN;
    long wanted = warmUp(calls, warmUp * context.options().seconds());
    if (executor instanceof GpuExecutor && answered() - before != wanted) {
      context.say("%s of %s was not answered as %s %s", question, set, plan, placement);
      return;
    }
    List<Double> samples = new ArrayList<>();
    long end = System.nanoTime() + (long) (context.options().seconds() * 0.5e9);
    while (samples.size() < MIN_SAMPLES
        || (samples.size() < MAX_SAMPLES && System.nanoTime() < end)) {
      long start = System.nanoTime();
      executor.search(calls.get(samples.size() % calls.size()));
      samples.add((double) (System.nanoTime() - start));
    }
    double nanos = Samples.median(samples.stream().mapToDouble(Double::doubleValue).toArray());
    fit.add(form, task, nanos);
    Map<String, Object> row = row(form, question, nanos, costs.nanos(plan, task));
    context.fragment().add("plans", row);
    context.say("%s", row);
  }

  private Map<String, Object> row(
      CostForm form, Question question, double nanos, double predicted) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set);
    row.put("what", form.name().toLowerCase(Locale.ROOT));
    row.put("placement", placement == null ? "cpu" : placement.settingName());
    row.put("batch", question.batch());
    row.put("beam", question.beam());
    row.put("parents", question.parents());
    row.put("variant", "k " + question.k() + ", accepted " + question.accepted());
    row.put("n", view.size());
    row.put("dims", view.dimension());
    row.put("measured_us", Samples.round(nanos * 1e-3, 1));
    row.put("predicted_us", Samples.round(predicted * 1e-3, 1));
    return row;
  }

  /** Warms up, and returns the number of items searched. */
  private long warmUp(List<List<WorkItem>> calls, double seconds) throws IOException {
    long asked = 0;
    long end = System.nanoTime() + (long) (seconds * 1e9);
    for (int call = 0; call < WARM_UP || System.nanoTime() < end; call++) {
      List<WorkItem> items = calls.get(call % calls.size());
      executor.search(items);
      asked += items.size();
    }
    return asked;
  }

  private long answered() {
    return executor instanceof GpuExecutor gpu
        ? gpu.statistics().counter("plan_items", plan.statisticsName())
        : 0;
  }

  private Workload task(WorkItem item, Question question) throws IOException {
    Workload.Walk walk =
        placement == null ? null : Workloads.walk(item, placement, question.batch());
    Workload.Rows rows = placement == Placement.EXACT ? Workload.Rows.DEVICE : Workload.Rows.NONE;
    return Workloads.of(
        item, CpuExecutor.plansScan(item), rows, question.batch(), walk, question.batch());
  }

  private List<WorkItem> items(Question question, int from) {
    FixedBitSet accepted = null;
    int size = view.size();
    int count = size;
    if (question.accepted() < size) {
      accepted = new FixedBitSet(size);
      for (int i = 0; i < question.accepted(); i++) {
        accepted.set((int) ((long) i * size / question.accepted()));
      }
      count = accepted.cardinality();
    }
    WalkParameters walk =
        placement != null && (placement.precision() == Precision.PQ)
            ? WalkParameters.quantized(question.beam(), WalkParameters.RERANK_DEFAULT)
            : WalkParameters.exact(question.beam());
    walk = walk.withParents(question.parents());
    List<WorkItem> items = new ArrayList<>();
    for (int i = 0; i < question.batch(); i++) {
      items.add(
          new WorkItem(
              view,
              QueryVector.of(queries[(from + i) % queries.length]),
              question.k(),
              walk,
              accepted,
              count,
              Long.MAX_VALUE,
              () -> false,
              new int[0]));
    }
    return items;
  }
}
