package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.api.PlanOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Residency;
import dev.vamana.cuda.plan.CostModel;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.gpu.node.ProcessorTime;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.TopDocs;

/**
 * Compares what a query costs without a device, beside a device under each plan setting, and with
 * the stock index: Lucene's queries over several segments, in one process and in turns, by one
 * client and by several. Without HTTP a few microseconds of a segment show.
 *
 * <p>With {@code --device=-1} the device never answers in time, so that only what its presence
 * costs is measured.
 */
final class LoneStage implements Stage {

  static final String SECTION = "lone";

  private static final int K = 10;
  private static final int[] CANDIDATES = {10, 40};
  private static final int LEAST_ROUNDS = 5;

  /** Short, as in the cells: callers come and go, and a node has to know their load again. */
  private static final double LONGEST_TURN = 0.4;

  private static final int LEAST_SAMPLES = 20;
  private static final int MOST_RECALL_QUERIES = 500;

  private final String setName;

  LoneStage(String setName) {
    this.setName = setName;
  }

  /** Lends an executor to the registry, which closes what it holds. */
  private record Lent(SearchExecutor executor) implements SearchExecutor {
    @Override
    public String name() {
      return executor.name();
    }

    @Override
    public List<WorkResult> search(List<WorkItem> batch) throws IOException {
      return executor.search(batch);
    }

    @Override
    public WalkParameters defaultWalk(int k) {
      return executor.defaultWalk(k);
    }

    @Override
    public WorkResult answer(WorkItem item) throws IOException {
      return executor.answer(item);
    }

    @Override
    public LeftSearch leaves(SegmentView segment, int k, int accepted, boolean scan) {
      return executor.leaves(segment, k, accepted, scan);
    }

    @Override
    public void close() {}
  }

  /**
   * A way to search.
   *
   * @param gpu the device with its plan setting, or null
   */
  private record Arm(String name, SetIndex index, Gpu gpu) {

    ExecutorRegistry.Installation install() {
      return gpu == null ? null : ExecutorRegistry.install(() -> new Lent(gpu.executor()));
    }

    long byDevice() {
      return gpu == null ? 0 : gpu.counts().answered();
    }
  }

  /** What the turns of an arm showed. */
  private static final class Findings {
    final List<Double> micros = new ArrayList<>();
    final List<Double> rates = new ArrayList<>();
    final List<Double> cpuMicros = new ArrayList<>();
    long queries;
    long byDevice;
  }

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    ExecutorService pool =
        context.options().searchThreads() == 0
            ? null
            : Executors.newFixedThreadPool(context.options().searchThreads());
    try {
      for (int segments : context.options().segmentCounts()) {
        segments(context, set, segments, pool);
      }
    } finally {
      if (pool != null) {
        pool.shutdownNow();
      }
    }
  }

  private static void segments(Context context, SuiteSet set, int segments, ExecutorService pool)
      throws IOException, InterruptedException {
    try (SetIndex ours =
            open(
                context,
                set,
                "vamana",
                new VamanaVectorsFormat(VamanaParameters.DEFAULT, context.workers()),
                segments);
        SetIndex stock =
            open(context, set, "hnsw", new Lucene99HnswVectorsFormat(16, 100), segments)) {
      List<Arm> arms = new ArrayList<>();
      try {
        addArms(context.options(), arms, ours, stock);
        for (int clients : context.options().clients()) {
          for (int candidates : CANDIDATES) {
            cell(context, set, arms, new Cell(segments, clients, candidates, pool));
          }
        }
      } finally {
        for (Arm arm : arms) {
          if (arm.gpu != null) {
            arm.gpu.close();
          }
        }
      }
    }
  }

  private static void addArms(SuiteOptions options, List<Arm> arms, SetIndex ours, SetIndex stock)
      throws InterruptedException {
    addIfAsked(options, arms, new Arm("hnsw", stock, null));
    addIfAsked(options, arms, new Arm("off", ours, null));
    List<SegmentView> views =
        ours.reader().leaves().stream().map(leaf -> SetIndex.view(leaf.reader())).toList();
    List<SegmentView> taken = views.stream().filter(Residency::takes).toList();
    Supplier<CudaDriver> driver = new DeviceProbe(0)::open;
    for (PlanMode mode : List.of(PlanMode.CPU, PlanMode.AUTO, PlanMode.GRAPH)) {
      String name = mode.settingName();
      if (isAsked(options, name)) {
        Gpu gpu =
            OpenGpu.open(
                driver,
                options.placements().isEmpty()
                    ? null
                    : Placement.named(options.placements().get(0)),
                options.batching(),
                null,
                new PlanOptions(mode, CostModel.shipped()));
        arms.add(new Arm(name, ours, gpu));
        taken.forEach(gpu.executor()::opened);
        gpu.await(taken);
      }
    }
  }

  private static boolean isAsked(SuiteOptions options, String name) {
    return options.methods().isEmpty()
        ? options.device() >= 0 || name.equals("graph") == false
        : options.methods().contains(name);
  }

  private static void addIfAsked(SuiteOptions options, List<Arm> arms, Arm arm) {
    if (isAsked(options, arm.name)) {
      arms.add(arm);
    }
  }

  private static SetIndex open(
      Context context, SuiteSet set, String name, KnnVectorsFormat format, int segments)
      throws IOException {
    String folder =
        set.vectors().name() + "-" + set.vectors().base().size() + "-" + name + "-" + segments;
    return SetIndex.open(
        context.options().home().resolve("index").resolve(folder), set, format, segments, 1);
  }

  /** What all arms do in turns. */
  private record Cell(int segments, int clients, int candidates, ExecutorService pool) {

    IndexSearcher searcher(SetIndex index) {
      IndexSearcher searcher = new IndexSearcher(index.reader(), pool);
      searcher.setQueryCache(null);
      return searcher;
    }

    TopDocs search(IndexSearcher searcher, float[] query) throws IOException {
      // another array for each query, as requests have
      return searcher.search(new KnnFloatVectorQuery(SetIndex.FIELD, query.clone(), candidates), K);
    }
  }

  private static void cell(Context context, SuiteSet set, List<Arm> arms, Cell cell)
      throws IOException, InterruptedException {
    Map<String, Findings> findings = new LinkedHashMap<>();
    arms.forEach(arm -> findings.put(arm.name, new Findings()));
    double seconds = context.options().seconds();
    double turn = Math.min(seconds / LEAST_ROUNDS, LONGEST_TURN);
    int rounds = Math.max(LEAST_ROUNDS, (int) Math.round(seconds / turn));
    List<Arm> order = new ArrayList<>(arms);
    Random random = new Random(cell.hashCode());
    // the first turn of each warms up
    for (int round = 0; round <= rounds; round++) {
      Collections.shuffle(order, random);
      for (Arm arm : order) {
        Findings found = round == 0 ? new Findings() : findings.get(arm.name);
        turn(set.vectors().queries().rows(), arm, cell, turn, found);
      }
    }
    for (Arm arm : arms) {
      Findings found = findings.get(arm.name);
      Map<String, Object> row = new LinkedHashMap<>();
      row.put("set", set.vectors().name());
      row.put("segments", cell.segments);
      row.put("search_threads", context.options().searchThreads());
      row.put("callers", cell.clients);
      row.put("beam", cell.candidates);
      row.put("variant", arm.name);
      row.put("recall_at_10", Samples.round(recall(set, arm, cell), 4));
      row.put("p50_us", Samples.round(Samples.median(found.micros), 1));
      row.put("qps", Samples.round(Samples.median(found.rates), 0));
      row.put("cpu_us", Samples.round(Samples.median(found.cpuMicros), 1));
      row.put("items_by_gpu", Samples.round(found.byDevice / (double) found.queries, 3));
      context.fragment().add(SECTION, row);
      context.say("%s", row);
    }
  }

  /** Lets clients ask for a while. */
  private static void turn(float[][] queries, Arm arm, Cell cell, double seconds, Findings findings)
      throws IOException, InterruptedException {
    IndexSearcher searcher = cell.searcher(arm.index);
    ExecutorRegistry.Installation installation = arm.install();
    try {
      long byDevice = arm.byDevice();
      long cpu = ProcessorTime.nanos();
      long start = System.nanoTime();
      long end = start + (long) (seconds * 1e9);
      List<double[]> samples = Collections.synchronizedList(new ArrayList<>());
      List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());
      List<Thread> clients = new ArrayList<>();
      for (int client = 0; client < cell.clients; client++) {
        int first = client * (queries.length / cell.clients);
        Thread thread =
            new Thread(
                () -> {
                  try {
                    samples.add(ask(searcher, queries, first, cell, end));
                  } catch (IOException | RuntimeException e) {
                    failures.add(e);
                  }
                });
        clients.add(thread);
        thread.start();
      }
      for (Thread client : clients) {
        client.join();
      }
      long elapsed = System.nanoTime() - start;
      if (failures.isEmpty() == false) {
        throw new IOException("a client failed", failures.get(0));
      }
      double[] all = samples.stream().flatMapToDouble(Arrays::stream).toArray();
      findings.micros.add(Samples.median(all));
      findings.rates.add(all.length * 1e9 / elapsed);
      findings.cpuMicros.add((ProcessorTime.nanos() - cpu) * 1e-3 / all.length);
      findings.queries += all.length;
      findings.byDevice += arm.byDevice() - byDevice;
    } finally {
      if (installation != null) {
        installation.close();
      }
    }
  }

  private static double[] ask(
      IndexSearcher searcher, float[][] queries, int first, Cell cell, long end)
      throws IOException {
    double[] micros = new double[LEAST_SAMPLES];
    int count = 0;
    for (long now = System.nanoTime(); now < end || count < LEAST_SAMPLES; ) {
      cell.search(searcher, queries[(first + count) % queries.length]);
      long after = System.nanoTime();
      if (count == micros.length) {
        micros = Arrays.copyOf(micros, 2 * count);
      }
      micros[count++] = (after - now) * 1e-3;
      now = after;
    }
    return Arrays.copyOf(micros, count);
  }

  private static double recall(SuiteSet set, Arm arm, Cell cell) throws IOException {
    IndexSearcher searcher = cell.searcher(arm.index);
    Recall recall = new Recall(set.vectors(), K);
    float[][] queries = set.vectors().queries().rows();
    int asked = Math.min(queries.length, MOST_RECALL_QUERIES);
    int hits = 0;
    ExecutorRegistry.Installation installation = arm.install();
    try {
      for (int query = 0; query < asked; query++) {
        TopDocs found = cell.search(searcher, queries[query]);
        hits +=
            recall.hits(query, Arrays.stream(found.scoreDocs).mapToInt(hit -> hit.doc).toArray());
      }
    } finally {
      if (installation != null) {
        installation.close();
      }
    }
    return hits / (double) asked / K;
  }
}
