package dev.vamana.tools.gpu;

import dev.vamana.search.WalkParameters;
import dev.vamana.tools.gpu.node.ProcessorTime;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Compares many callers of small calls with three callers of large ones, in turns, on one segment.
 * The device does the same work, so the difference is the time that calls cost the host.
 */
final class CallersStage implements Stage {

  private static final double[] TARGETS = {0.95, 0.99};
  private static final int ROUNDS = 5;
  private static final double WARM_UP_SECONDS = 2;

  /**
   * So many callers, each with so many queries a call; the first is what the others are compared
   * with.
   */
  private record Shape(int callers, int batch) {}

  private static final List<Shape> SHAPES =
      List.of(new Shape(3, 10_000), new Shape(16, 1_000), new Shape(64, 100));

  private final String setName;

  CallersStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = BenchStage.index(context, set)) {
      QueryPool pool = QueryPool.of(set.vectors(), index.view(), SHAPES.get(0).batch());
      for (Lane lane : Lane.chosen(context.options())) {
        try (OpenLane open = lane.open(context, List.of(index.view()))) {
          BatchRun run =
              new BatchRun(
                  open.executor(), index.view(), set.vectors().queries().rows(), BenchStage.K);
          BeamSweep sweep = BeamSweep.run(run, set.vectors(), beam -> walk(lane, beam));
          BatchRun pooled =
              new BatchRun(open.executor(), index.view(), pool.queries(), BenchStage.K);
          TreeSet<Integer> beams = new TreeSet<>();
          for (double target : TARGETS) {
            beams.add(sweep.narrowest(target));
          }
          beams.remove(-1);
          for (int beam : beams) {
            measure(context, set, lane, open, pooled, beam, sweep.recalls().get(beam));
          }
          open.check();
        }
      }
    }
  }

  private static WalkParameters walk(Lane lane, int beam) {
    return lane.quantized() ? WalkParameters.quantized(beam, 0) : WalkParameters.exact(beam);
  }

  /** What the turns of a shape showed. */
  private static final class Findings {
    final List<Double> rates = new ArrayList<>();
    long items;
    long launches;
    long processorNanos;
  }

  private static void measure(
      Context context,
      SuiteSet set,
      Lane lane,
      OpenLane open,
      BatchRun run,
      int beam,
      double recall)
      throws IOException, InterruptedException {
    double seconds = context.options().seconds();
    WalkParameters walk = walk(lane, beam);
    List<Findings> findings = new ArrayList<>();
    for (Shape shape : SHAPES) {
      rate(run, walk, shape, Math.min(WARM_UP_SECONDS, 5 * seconds));
      findings.add(new Findings());
    }
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < SHAPES.size(); i++) {
        Findings own = findings.get(i);
        Gpu.Counts before = open.gpu() == null ? null : open.gpu().counts();
        long used = ProcessorTime.nanos();
        own.rates.add(rate(run, walk, SHAPES.get(i), seconds));
        own.processorNanos += ProcessorTime.nanos() - used;
        if (before != null) {
          Gpu.Counts counts = open.gpu().counts().since(before);
          own.items += counts.answered();
          own.launches += counts.launches();
        }
      }
    }
    double large = Samples.median(findings.get(0).rates);
    for (int i = 0; i < SHAPES.size(); i++) {
      Findings own = findings.get(i);
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("set", set.vectors().name());
      row.put("n", set.vectors().base().size());
      row.put("segments", 1);
      row.put("placement", lane.name());
      row.put("variant", "calls of " + SHAPES.get(i).batch());
      row.put("callers", SHAPES.get(i).callers());
      row.put("beam", beam);
      row.put("recall_at_10", Samples.round(recall, 5));
      row.put("qps", Samples.round(Samples.median(own.rates), 0));
      row.put("ratio", Samples.round(Samples.median(own.rates) / large, 3));
      row.put("mean_batch", Samples.round(own.items / (double) Math.max(1, own.launches), 1));
      row.put("processors", Samples.round(own.processorNanos / (ROUNDS * seconds * 1e9), 1));
      context.fragment().add("concurrent", row);
      context.say("%s", row);
    }
  }

  /** Returns queries a second. */
  private static double rate(BatchRun run, WalkParameters walk, Shape shape, double seconds)
      throws IOException, InterruptedException {
    double[] calls = run.time(walk, shape.batch(), shape.callers(), seconds, Integer.MAX_VALUE);
    return (double) calls.length * shape.batch() / seconds;
  }
}
