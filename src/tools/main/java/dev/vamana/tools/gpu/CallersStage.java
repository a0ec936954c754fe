package dev.vamana.tools.gpu;

import dev.vamana.cuda.memory.Placement;
import java.io.IOException;
import java.util.List;

/**
 * Compares many callers of small calls with three callers of large ones, in turns, on one segment.
 * The device does the same work, so the difference is the time that calls cost the host.
 */
final class CallersStage implements Stage {

  private static final int ROUNDS = 5;

  /** So many callers, each with so many queries a call. */
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
      for (Placement placement :
          Lane.placements(context.options(), List.of(Placement.EXACT, Placement.EXACT_INT8))) {
        try (Lane lane = Lane.open(context, "callers", placement, List.of(index.view()))) {
          BatchRun run =
              new BatchRun(
                  lane.executor(), index.view(), set.vectors().queries().rows(), BenchStage.K);
          BeamSweep sweep = BeamSweep.run(run, set.vectors(), lane);
          for (int beam : sweep.beams()) {
            measure(context, set, lane, index, pool, beam, sweep.recalls().get(beam));
          }
          lane.check();
        }
      }
    }
  }

  private static void measure(
      Context context,
      SuiteSet set,
      Lane lane,
      SetIndex index,
      QueryPool pool,
      int beam,
      double recall)
      throws IOException, InterruptedException {
    BatchRun run = new BatchRun(lane.executor(), index.view(), pool.queries(), BenchStage.K);
    double[][] times = new double[SHAPES.size()][0];
    // the first round warms up
    for (int round = -1; round < ROUNDS; round++) {
      for (int i = 0; i < times.length; i++) {
        Shape shape = SHAPES.get(i);
        double[] own =
            run.time(lane.walk(beam), shape.batch(), shape.callers(), context.options().seconds());
        times[i] =
            round < 0
                ? times[i]
                : java.util.stream.DoubleStream.concat(
                        java.util.Arrays.stream(times[i]), java.util.Arrays.stream(own))
                    .toArray();
      }
    }
    for (int i = 0; i < times.length; i++) {
      Shape shape = SHAPES.get(i);
      context.searched(
          set.subject(),
          lane.method(),
          lane.name(),
          shape.batch(),
          shape.callers(),
          recall,
          times[i]);
    }
  }
}
