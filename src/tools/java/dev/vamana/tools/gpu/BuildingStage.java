package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.graph.BuildParameters;
import dev.vamana.graph.GraphEngine;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.vectors.Medoid;
import dev.vamana.work.MemoryBudget;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;

/**
 * Measures single queries on the GPU while graphs are built: none, on the same GPU by one and by
 * three merges at a time, and by the CPU on half of the processors.
 */
final class BuildingStage implements Stage {

  private static final int K = BenchStage.K;
  private static final int BEAM = 40;
  private static final int[] THREADS = {1, 8, 24};

  private final String setName;
  private final Supplier<CudaDriver> drivers;
  private final VamanaParameters parameters;

  BuildingStage(String setName) {
    this(setName, Gpu::openDriver, VamanaParameters.DEFAULT);
  }

  /** Makes a stage with other devices and parameters. */
  BuildingStage(String setName, Supplier<CudaDriver> drivers, VamanaParameters parameters) {
    this.setName = setName;
    this.drivers = drivers;
    this.parameters = parameters;
  }

  /**
   * What goes on beside the searches.
   *
   * @param name end of the variant's name in the report
   * @param builders graphs that are built at a time
   * @param threads threads of all builds together
   */
  private record Load(String name, GraphEngine engine, int builders, int threads) {}

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    VectorSet vectors = set.vectors();
    try (Gpu gpu = Gpu.open(drivers, Placement.EXACT, Tuning.DEFAULT);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor);
        SetIndex index =
            SetIndex.open(
                context.options().home().resolve("index").resolve(vectors.name() + "-building"),
                set,
                new VamanaVectorsFormat(parameters, context.workers()),
                1,
                1)) {
      context.fragment().set("device", gpu.device());
      context.fragment().set("driver", gpu.driver());
      gpu.await(List.of(index.view()));
      IndexSearcher searcher = index.searcher();
      VamanaSearchStrategy strategy = new VamanaSearchStrategy(WalkParameters.exact(BEAM));
      GraphEngine device = installation.executor().graphs();
      List<Load> loads =
          List.of(
              new Load("", null, 0, 0),
              new Load(", a graph built on the GPU meanwhile", device, 1, 2),
              new Load(", three graphs built on the GPU meanwhile", device, 3, 2),
              new Load(
                  ", a graph built on the CPU meanwhile",
                  GraphEngine.CPU,
                  1,
                  Math.max(1, context.workers().threads() / 2)));
      for (Load load : loads) {
        try (Building building = new Building(vectors, load, parameters)) {
          for (int threads : THREADS) {
            measure(context, set, gpu, searcher, strategy, load, building, threads);
          }
        }
      }
    }
  }

  private static void measure(
      Context context,
      SuiteSet set,
      Gpu gpu,
      IndexSearcher searcher,
      VamanaSearchStrategy strategy,
      Load load,
      Building building,
      int threads)
      throws IOException, InterruptedException {
    ConcurrentStage.Asker asker =
        query ->
            searcher.search(new KnnFloatVectorQuery(SetIndex.FIELD, query, K, null, strategy), K);
    double seconds = context.options().seconds();
    ConcurrentStage.ask(set, asker, threads, seconds);
    Gpu.Counts before = gpu.counts();
    int built = building.built();
    // longer than a build takes
    ConcurrentStage.Asked asked = ConcurrentStage.ask(set, asker, threads, 10 * seconds);
    Gpu.Counts counts = gpu.counts().since(before);
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", set.vectors().name());
    row.put("n", set.vectors().base().size());
    row.put("segments", 1);
    row.put("placement", Placement.EXACT.settingName());
    row.put("variant", "query" + load.name());
    row.put("callers", threads);
    row.put("beam", BEAM);
    row.put("recall_at_10", Samples.round(asked.recall(), 5));
    row.put("qps", Samples.round(asked.count() / asked.seconds(), 1));
    row.put("p50_us", Samples.round(Samples.median(asked.microseconds()), 1));
    row.put("p99_us", Samples.round(ConcurrentStage.percentile(asked.microseconds(), 0.99), 1));
    row.put("graphs_built", building.built() - built);
    row.put("items_on_cpu", counts.fallbacks());
    context.fragment().add("concurrent", row);
    context.say("%s", row);
  }

  /**
   * Builds graphs of the set's vectors, one after the other in each builder, until it is closed.
   */
  private static final class Building implements AutoCloseable {

    private final AtomicBoolean stopped = new AtomicBoolean();
    private final AtomicInteger built = new AtomicInteger();
    private final ExecutorService builders;
    private final ExecutorService threads;
    private final List<Future<?>> running;

    Building(VectorSet vectors, Load load, VamanaParameters parameters) throws IOException {
      builders = Executors.newFixedThreadPool(Math.max(1, load.builders()));
      threads = Executors.newFixedThreadPool(Math.max(1, load.threads()));
      Workers workers = new Workers(threads, Math.max(1, load.threads()));
      KnnVectorValues values =
          FloatVectorValues.fromFloats(Arrays.asList(vectors.base().rows()), vectors.dimension());
      int medoid = Medoid.find(values, vectors.similarity());
      running =
          IntStream.range(0, load.builders())
              .<Future<?>>mapToObj(
                  i ->
                      builders.submit(
                          () -> {
                            while (stopped.get() == false) {
                              build(
                                  load.engine(),
                                  task(vectors, values, parameters, medoid, workers));
                            }
                            return null;
                          }))
              .toList();
    }

    private GraphTask task(
        VectorSet vectors,
        KnnVectorValues values,
        VamanaParameters parameters,
        int medoid,
        Workers workers) {
      return new GraphTask(
          values,
          vectors.similarity(),
          FlatVectorScorerUtil.getLucene99FlatVectorsScorer(),
          new BuildParameters(
              parameters.maxDegree(), parameters.beamWidth(), parameters.alpha(), built.get()),
          medoid,
          null,
          workers,
          new MemoryBudget(Long.MAX_VALUE),
          this::check);
    }

    private void build(GraphEngine engine, GraphTask task) throws IOException {
      try (VamanaGraph graph = engine.build(task)) {
        if (graph == null) {
          throw new IllegalStateException("the engine declined");
        }
        built.incrementAndGet();
      } catch (Stopped e) {
        // the measurement has ended
      }
    }

    private void check() {
      if (stopped.get()) {
        throw new Stopped();
      }
    }

    int built() {
      return built.get();
    }

    @Override
    public void close() throws IOException {
      stopped.set(true);
      try {
        for (Future<?> one : running) {
          one.get();
        }
      } catch (ExecutionException | InterruptedException e) {
        throw new IOException("a build failed", e);
      } finally {
        builders.shutdownNow();
        threads.shutdownNow();
      }
    }
  }

  /** Ends a build. */
  private static final class Stopped extends RuntimeException {
    private static final long serialVersionUID = 1;
  }
}
