package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntFunction;
import org.apache.lucene.search.IndexSearcher;

/** Measures recall and queries per second of every placement and batch size, on one set. */
final class BenchStage implements Stage {

  static final int K = 10;
  private static final int SAMPLES = 25;
  private static final int SINGLE_SAMPLES = 100;
  private static final double WARM_UP_SECONDS = 1;
  // on an H200 machine a call became faster for two seconds
  private static final double FIRST_WARM_UP_SECONDS = 4;
  // in multiples of a measurement: whoever measures milliseconds does not care for compiled code
  private static final double WARM_UP_SHARE = 20;
  private static final int MANY = 1_000;
  private static final int LARGE = 10_000;

  /**
   * Threads that send large batches concurrently, so that one batch is prepared while another runs.
   */
  private static final int CALLERS = 3;

  private final String setName;

  BenchStage(String setName) {
    this.setName = setName;
  }

  /** Walk parameters except the beam. */
  private record Variant(String rerank, int parents, IntFunction<WalkParameters> walk) {
    Map<String, Object> columns() {
      Map<String, Object> columns = new LinkedHashMap<>();
      columns.put("rerank", rerank);
      columns.put("parents", parents);
      return columns;
    }
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = index(context, set)) {
      int largest =
          context.options().batches().stream().mapToInt(Integer::intValue).max().orElse(1);
      QueryPool pool = QueryPool.of(set.vectors(), index.view(), largest);
      boolean first = true;
      for (Lane lane : Lane.chosen(context.options())) {
        try {
          measure(context, set, index, pool, lane, first);
          first = false;
        } catch (RuntimeException e) {
          // the other placements are measured regardless
          context.say("%s: %s", lane.name(), e);
        }
      }
    }
  }

  static SetIndex index(Context context, SuiteSet set) throws IOException {
    VamanaParameters parameters = VamanaParameters.DEFAULT;
    int n = set.vectors().base().size();
    context.say("index of %s, %,d vectors", set.vectors().name(), n);
    SetIndex index =
        SetIndex.open(
            context
                .options()
                .home()
                .resolve("index")
                .resolve(set.vectors().name() + "-" + n + "-vamana"),
            set,
            new VamanaVectorsFormat(parameters, context.workers()),
            1,
            1);
    context.say("index ready, built in %.1f s", index.buildSeconds());
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("method", "vamana");
    row.put("n", n);
    row.put("max_degree", parameters.maxDegree());
    row.put("beam", parameters.beamWidth());
    row.put(
        "subspaces",
        index.view().codebook() == null ? 0 : index.view().codebook().layout().count());
    row.put("mean_degree", index.view().meanDegree());
    row.put("threads", context.workers().threads());
    row.put("seconds", Samples.round(index.buildSeconds(), 2));
    context.fragment().add("builds", row);
    return index;
  }

  private static void measure(
      Context context, SuiteSet set, SetIndex index, QueryPool pool, Lane lane, boolean first)
      throws IOException, InterruptedException {
    try (OpenLane open = lane.open(context, List.of(index.view()))) {
      BatchRun run = new BatchRun(open.executor(), index.view(), set.vectors().queries().rows(), K);
      BatchRun pooled = new BatchRun(open.executor(), index.view(), pool.queries(), K);
      List<Variant> variants = variants(lane);
      for (Variant variant : variants) {
        boolean cold = first && variant == variants.get(0);
        double warmUp =
            Math.min(
                cold ? FIRST_WARM_UP_SECONDS : WARM_UP_SECONDS,
                WARM_UP_SHARE * context.options().seconds());
        run.time(variant.walk().apply(32), 1_000, 1, warmUp, 1);
        open.check();
        BeamSweep sweep = BeamSweep.run(run, set.vectors(), variant.walk());
        Set<Integer> beams = sweep.beams();
        Point point = new Point(context, set, lane, open, run, pooled, pool, variant, sweep);
        if (variant == variants.get(0) && beams.isEmpty() == false) {
          topDocs(context, set, index, lane, pooled, variant, beams.iterator().next());
        }
        for (int batch : context.options().batches()) {
          boolean large = batch >= LARGE;
          for (int beam : beams) {
            point.time(beam, batch, 1);
            if (large) {
              point.time(beam, batch, CALLERS);
            }
          }
        }
        open.check();
      }
    }
  }

  /** Measures the additional time of Lucene's top docs over arrays, alternating on one thread. */
  private static void topDocs(
      Context context,
      SuiteSet set,
      SetIndex index,
      Lane lane,
      BatchRun run,
      Variant variant,
      int beam)
      throws IOException, InterruptedException {
    WalkParameters walk = variant.walk().apply(beam);
    double seconds = context.options().seconds();
    IndexSearcher searcher = index.searcher();
    for (int batch : context.options().batches()) {
      int most = batch == 1 ? SINGLE_SAMPLES : SAMPLES;
      run.timeTopDocs(searcher, walk, batch, seconds, 1);
      double arrays = Samples.median(run.time(walk, batch, 1, seconds, most));
      double topDocs = Samples.median(run.timeTopDocs(searcher, walk, batch, seconds, most));
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("set", set.vectors().name());
      row.put("placement", lane.name());
      row.put("beam", beam);
      row.put("batch", batch);
      row.put("p50_us_to_arrays", Samples.round(arrays, 1));
      row.put("p50_us_to_top_docs", Samples.round(topDocs, 1));
      row.put("more_us_a_query", Samples.round((topDocs - arrays) / batch, 3));
      context.fragment().add("top_docs", row);
      context.say("%s", row);
    }
  }

  /** The measurements of one variant. */
  private record Point(
      Context context,
      SuiteSet set,
      Lane lane,
      OpenLane open,
      BatchRun run,
      BatchRun pooled,
      QueryPool pool,
      Variant variant,
      BeamSweep sweep) {

    void time(int beam, int batch, int callers) throws IOException, InterruptedException {
      WalkParameters walk = variant.walk().apply(beam);
      double seconds = context.options().seconds();
      if (batch >= MANY) {
        // the JVM has compiled the code for the batches before, and takes it back at the first
        // larger
        pooled.time(walk, batch, callers, seconds, 1);
      }
      context.add(
          new Measurement(
              set.subject(),
              lane.method(),
              lane.name(),
              batch,
              callers,
              beam,
              sweep.recalls().get(beam),
              pooled.time(walk, batch, callers, seconds, batch == 1 ? SINGLE_SAMPLES : SAMPLES),
              columns()));
    }

    private Map<String, Object> columns() {
      Map<String, Object> columns = new LinkedHashMap<>(variant.columns());
      if (lane.placement() == Placement.EXACT_INT8 && set.wholeInBytes()) {
        columns.put(CagraTable.WHOLE, true);
      }
      return columns;
    }
  }

  /**
   * Returns the variants: default re-rank depth, re-rank depth equal to the beam, and several
   * parents.
   */
  private static List<Variant> variants(Lane lane) {
    if (lane.quantized()) {
      return List.of(
          new Variant("default", 1, beam -> WalkParameters.quantized(beam, 0)),
          new Variant("beam", 1, beam -> WalkParameters.quantized(beam, beam)),
          new Variant(
              "beam",
              4,
              beam -> new WalkParameters(beam, WalkParameters.Distances.QUANTIZED, 4, beam)));
    }
    return List.of(
        new Variant("default", 1, WalkParameters::exact),
        new Variant(
            "default", 2, beam -> new WalkParameters(beam, WalkParameters.Distances.EXACT, 2, 0)),
        new Variant(
            "default", 4, beam -> new WalkParameters(beam, WalkParameters.Distances.EXACT, 4, 0)));
  }
}
