package dev.vamana.tools.gpu;

import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.call.Workloads;
import dev.vamana.cuda.memory.Placement;
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
import java.util.Arrays;
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

  /** A time within this factor of the predicted one is well predicted. */
  private static final double FACTOR = 2;

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
    row.put("callers", 1);
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

  /**
   * Times calls of several callers at once, and adds a row but nothing to the fit: the cost model
   * predicts with the load, it is not fitted to it. An executor with a device has predicted each
   * call when it planned it, with the queue that the call met. A call of the CPU takes what the
   * work takes: callers who wait for a processor wait between calls.
   *
   * @param callers threads that call one after the other
   */
  void time(Question question, int callers) throws IOException {
    List<List<WorkItem>> calls = new ArrayList<>();
    for (int from = 0; from < Math.min(DIFFERENT, queries.length); from += question.batch()) {
      calls.add(items(question, from));
    }
    Workload task = task(calls.get(0).get(0), question);
    warmUp(calls, WARM_UP_AGAIN * context.options().seconds());
    Predictions before = predictions();
    double[] samples = Callers.time(executor, calls, callers, 0.5 * context.options().seconds());
    Predictions own = predictions().since(before);
    if (own.calls() == 0) {
      own = Predictions.of(samples, costs.nanos(plan, task));
    }
    double count = own.calls();
    Map<String, Object> row =
        row(costs.form(plan, task), question, Samples.median(samples), own.nanos() / count);
    row.put("callers", callers);
    row.put("within_factor_2", Samples.round(own.close() / count, 3));
    context.fragment().add("plans", row);
    context.say("%s", row);
  }

  /**
   * How well calls of a plan were predicted.
   *
   * @param nanos predicted time of all calls
   * @param close calls that took from half to twice the predicted time
   */
  private record Predictions(long calls, double nanos, long close) {

    /** Returns the prediction of calls that were all predicted alike. */
    static Predictions of(double[] samples, double predicted) {
      long close =
          Arrays.stream(samples)
              .filter(nanos -> nanos <= FACTOR * predicted && nanos >= predicted / FACTOR)
              .count();
      return new Predictions(samples.length, predicted * samples.length, close);
    }

    Predictions since(Predictions before) {
      return new Predictions(calls - before.calls, nanos - before.nanos, close - before.close);
    }
  }

  /** Returns what the executor has counted of the plan. */
  private Predictions predictions() {
    if (executor instanceof GpuExecutor == false) {
      return new Predictions(0, 0, 0);
    }
    GpuStatistics counted = ((GpuExecutor) executor).statistics();
    String name = plan.statisticsName();
    String shares = "plan_percent_" + name;
    return new Predictions(
        counted.counter("plan_calls", name),
        1e3 * counted.counter("plan_predicted_micros", name),
        counted.counter(shares, "up_to_100") + counted.counter(shares, "up_to_200"));
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
        placement != null && placement.copiesCodes()
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
