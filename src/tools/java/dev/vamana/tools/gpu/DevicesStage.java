package dev.vamana.tools.gpu;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.devices.DevicesExecutor;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.memory.Place;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.Precision;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.TopDocs;

/**
 * Compares several devices with one: a large batch over eight segments (by several devices in every
 * placement), segments larger than one device's limit, and a device that is lost under load.
 * Segments with inverted lists are asked in batches only.
 */
final class DevicesStage implements Stage {

  static final String SECTION = "devices";

  private static final int K = BenchStage.K;
  private static final int SEGMENTS = 8;

  /** Callers of large batches: the work of one between its calls must not leave devices idle. */
  private static final int CALLERS = 8;

  /** Each executor is measured this many times, in turns if several are open. */
  private static final int ROUNDS = 3;

  private static final List<Placement> LISTS = List.of(Placement.EXACT, Placement.IN_MEMORY);
  private static final double RECALL = 0.95;
  private static final int[] BEAMS = {10, 12, 16, 20, 24, 32, 40, 56, 80, 112, 160};

  /** Parts of the time of a measurement that its callers spend before it. */
  private static final double WARM_UP = 0.5;

  /** Items of the device with the most, in parts of the mean, before a measurement begins. */
  private static final double EVEN = 1.05;

  /** Windows of a measurement's length after which it begins however uneven devices are. */
  private static final int MOST_WINDOWS = 50;

  /** Seconds within which moves and recoveries are expected. */
  private static final double PATIENCE = 60;

  private final String setName;
  private final IntFunction<Supplier<CudaDriver>> drivers;
  private final VamanaParameters parameters;

  DevicesStage(String setName) {
    this(setName, VamanaParameters.DEFAULT);
  }

  private DevicesStage(String setName, VamanaParameters parameters) {
    this(setName, ordinal -> new DeviceProbe(ordinal)::open, parameters);
  }

  /** Compares searches of inverted lists, in the placements that lists have. */
  static DevicesStage ofLists(String setName) {
    return new DevicesStage(
        setName,
        VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, CodeKind.DEFAULT));
  }

  /**
   * Makes a stage over other devices.
   *
   * @param drivers opens contexts on a device, by its number from 0
   */
  DevicesStage(
      String setName, IntFunction<Supplier<CudaDriver>> drivers, VamanaParameters parameters) {
    this.setName = setName;
    this.drivers = drivers;
    this.parameters = parameters;
  }

  /** An index with its views. */
  private record Opened(SuiteSet set, SetIndex index, List<SegmentView> views) {}

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    int devices = context.options().devices();
    if (devices < 2) {
      throw new IllegalArgumentException("--devices must be 2 or more, got " + devices);
    }
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = open(context, set, SEGMENTS)) {
      List<SegmentView> views = new ArrayList<>();
      for (LeafReaderContext leaf : index.reader().leaves()) {
        views.add(SetIndex.view(leaf.reader()));
      }
      Opened opened = new Opened(set, index, views);
      for (Placement placement : ofLists() ? LISTS : Placement.ALL) {
        compare(context, opened, placement, devices);
      }
      if (ofLists() == false) {
        larger(context, opened, devices);
        lost(context, opened, devices);
      }
    }
  }

  private SetIndex open(Context context, SuiteSet set, int segments) throws IOException {
    String type = ofLists() ? "-lists-" : "-vamana-";
    String name = set.vectors().name() + "-" + set.vectors().base().size() + type + segments;
    return SetIndex.open(
        context.options().home().resolve("index").resolve(name + "-devices"),
        set,
        new VamanaVectorsFormat(parameters, context.workers()),
        segments,
        1);
  }

  private boolean ofLists() {
    return parameters.type() == IndexType.IVF;
  }

  private Map<String, Object> row(Opened opened, String what, int devices) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", opened.set.vectors().name());
    row.put("n", opened.set.vectors().base().size());
    String of = ofLists() ? " of lists" : "";
    row.put("what", what + ", " + opened.views.size() + " segments" + of);
    row.put("devices", devices);
    row.put("placement", Placement.EXACT.settingName());
    return row;
  }

  private static void add(Context context, Map<String, Object> row) throws IOException {
    context.fragment().add(SECTION, row);
    context.say("%s", row);
  }

  /** Large batches on one device and on several, by segments where balancing put them. */
  private void compare(Context context, Opened opened, Placement placement, int count)
      throws IOException, InterruptedException {
    int batch = context.options().batches().stream().mapToInt(Integer::intValue).max().orElse(1);
    // a page is registered once in a process, so one executor at a time reads segments in place
    List<List<Integer>> together =
        placement.place() == Place.DEVICE
            ? List.of(List.of(1, count))
            : List.of(List.of(1), List.of(count));
    List<Map<String, Object>> rows = new ArrayList<>();
    for (List<Integer> counts : together) {
      List<OpenDevices> open = new ArrayList<>();
      try {
        for (int devices : counts) {
          open.add(OpenDevices.open(devices, drivers, placement, 0));
          prepare(opened, open.get(open.size() - 1));
        }
        int beam =
            rows.isEmpty()
                ? beam(opened, open.get(0), placement)
                : (Integer) rows.get(0).get("beam");
        rows.addAll(inTurns(context, opened, placement, open, beam, batch));
      } finally {
        for (OpenDevices devices : open) {
          opened.views.forEach(devices.executor()::closing);
          devices.close();
        }
      }
    }
    for (Map<String, Object> row : rows) {
      double ratio = (Double) row.get("qps") / (Double) rows.get(0).get("qps");
      row.put("ratio", Samples.round(ratio, 3));
      add(context, row);
    }
  }

  /** Measures executors in turns, and returns a row for each. */
  private List<Map<String, Object>> inTurns(
      Context context,
      Opened opened,
      Placement placement,
      List<OpenDevices> open,
      int beam,
      int batch)
      throws IOException, InterruptedException {
    List<Asking> asking = new ArrayList<>();
    for (OpenDevices devices : open) {
      asking.add(new Asking(opened, devices, walk(placement, beam)));
      spread(context, opened, devices, asking.get(asking.size() - 1), batch);
    }
    double[] speed = new double[open.size()];
    long[][] shares = new long[open.size()][];
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < speed.length; i++) {
        DevicesExecutor executor = open.get(i).executor();
        long[] before = items(executor);
        speed[i] += timed(asking.get(i), batch, context.options().seconds()) / ROUNDS;
        shares[i] = sum(shares[i], since(before, items(executor)));
      }
    }
    List<Map<String, Object>> rows = new ArrayList<>();
    for (int i = 0; i < speed.length; i++) {
      DevicesExecutor executor = open.get(i).executor();
      Map<String, Object> row = row(opened, "batch", executor.devices().size());
      row.put("placement", placement.settingName());
      row.put("beam", beam);
      row.put("batch", batch);
      row.put("callers", CALLERS);
      row.put("recall_at_10", Samples.round(asking.get(i).recall(), 5));
      row.put("qps", Samples.round(speed[i], 1));
      row.put("items_by_device", Arrays.stream(shares[i]).boxed().toList());
      row.put("balance", Samples.round(balance(shares[i]), 3));
      row.put("items_on_cpu", onCpu(executor));
      rows.add(row);
    }
    return rows;
  }

  private static void prepare(Opened opened, OpenDevices devices) throws InterruptedException {
    opened.views.forEach(devices.executor()::opened);
    devices.settle(opened.views);
  }

  /** Returns the narrowest beam that reaches the recall, or the widest. */
  private int beam(Opened opened, OpenDevices one, Placement placement) throws IOException {
    for (int beam : BEAMS) {
      if (new Asking(opened, one, walk(placement, beam)).recall() >= RECALL) {
        return beam;
      }
    }
    return BEAMS[BEAMS.length - 1];
  }

  /**
   * Asks until balancing has put as many segments on each device, and each has answered as much as
   * the others for a while; in vain, if they do not fit.
   */
  private static void spread(
      Context context, Opened opened, OpenDevices devices, Asking asking, int batch)
      throws InterruptedException {
    Load load = new Load(asking, batch);
    load.start();
    long end = System.nanoTime() + (long) (PATIENCE * 1e9);
    while (devices.isSpread(opened.views) == false && System.nanoTime() < end) {
      Thread.sleep(1);
    }
    int windows = 0;
    while (isEven(devices, context.options().seconds()) == false && windows < MOST_WINDOWS) {
      windows++;
    }
    load.stop();
  }

  private static boolean isEven(OpenDevices devices, double seconds) throws InterruptedException {
    if (devices.executor().devices().size() == 1) {
      return true;
    }
    long[] before = items(devices.executor());
    Thread.sleep((long) (seconds * 1e3));
    return balance(since(before, items(devices.executor()))) <= EVEN;
  }

  private static long[] items(DevicesExecutor executor) {
    return executor.statistics().stream()
        .mapToLong(each -> each.counter("routed", "items"))
        .toArray();
  }

  private static long[] since(long[] before, long[] now) {
    return IntStream.range(0, now.length).mapToLong(i -> now[i] - before[i]).toArray();
  }

  private static long[] sum(long[] some, long[] others) {
    return some == null
        ? others
        : IntStream.range(0, others.length).mapToLong(i -> some[i] + others[i]).toArray();
  }

  /** Items of the device with the most, in parts of the mean. */
  private static double balance(long[] items) {
    LongSummaryStatistics of = Arrays.stream(items).summaryStatistics();
    return of.getSum() == 0 ? 1 : of.getMax() / of.getAverage();
  }

  private static long onCpu(DevicesExecutor executor) {
    return executor.statistics().stream()
        .map(each -> each.counters().getOrDefault("items_on_cpu", Collections.emptySortedMap()))
        .flatMapToLong(counts -> counts.values().stream().mapToLong(Long::longValue))
        .sum();
  }

  private WalkParameters walk(Placement placement, int beam) {
    return placement.precision() == Precision.PQ && ofLists() == false
        ? WalkParameters.quantized(beam, 0)
        : WalkParameters.exact(beam);
  }

  /** Answers batches through the API that a search server uses. */
  private static final class Asking {
    private final Opened opened;
    private final BatchedKnn knn;
    private final WalkParameters walk;
    private final float[][] queries;

    Asking(Opened opened, OpenDevices devices, WalkParameters walk) {
      this.opened = opened;
      this.knn = new BatchedKnn(opened.index.searcher(), devices.executor());
      this.walk = walk;
      this.queries = opened.set.vectors().queries().rows();
    }

    TopDocs[] ask(int from, int count) throws IOException {
      List<QueryVector> vectors = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        vectors.add(QueryVector.of(queries[(from + i) % queries.length]));
      }
      return knn.search(SetIndex.FIELD, vectors, walk, K, null);
    }

    double recall() throws IOException {
      Recall recall = new Recall(opened.set.vectors(), K);
      long hits = 0;
      TopDocs[] found = ask(0, queries.length);
      for (int query = 0; query < queries.length; query++) {
        hits +=
            recall.hits(
                query, Arrays.stream(found[query].scoreDocs).mapToInt(hit -> hit.doc).toArray());
      }
      return hits / (double) (K * queries.length);
    }
  }

  /** Asks with some callers, and returns the queries a second after they have warmed up. */
  private static double timed(Asking asking, int batch, double seconds)
      throws IOException, InterruptedException {
    Load load = new Load(asking, batch);
    load.start();
    long begin = System.nanoTime();
    load.until(begin + (long) (WARM_UP * seconds * 1e9), CALLERS);
    begin = System.nanoTime();
    int before = load.calls.get();
    load.until(begin + (long) (seconds * 1e9), before + 2 * CALLERS);
    double answered = (double) (load.calls.get() - before) * batch;
    double time = (System.nanoTime() - begin) * 1e-9;
    load.stop();
    if (load.failed.get() > 0) {
      throw new IOException("a search failed", load.failure);
    }
    return answered / time;
  }

  /** Callers that send one batch after the other. */
  private static final class Load {
    private final Asking asking;
    private final int batch;
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicBoolean done = new AtomicBoolean();
    private final AtomicInteger failed = new AtomicInteger();
    private final List<Thread> threads = new ArrayList<>();
    private volatile Throwable failure;

    Load(Asking asking, int batch) {
      this.asking = asking;
      this.batch = batch;
    }

    void start() {
      for (int caller = 0; caller < CALLERS; caller++) {
        Thread thread = new Thread(this::call, "caller-" + caller);
        threads.add(thread);
        thread.start();
      }
    }

    private void call() {
      for (int from = 0; done.get() == false; from += batch) {
        try {
          asking.ask(from, batch);
          calls.incrementAndGet();
        } catch (IOException | RuntimeException e) {
          failure = e;
          failed.incrementAndGet();
        }
      }
    }

    /** Waits for a time and for a number of calls, or a failure. */
    void until(long nanoTime, int count) throws InterruptedException {
      while ((System.nanoTime() < nanoTime || calls.get() < count) && failed.get() == 0) {
        Thread.sleep(1);
      }
    }

    void stop() throws InterruptedException {
      done.set(true);
      for (Thread thread : threads) {
        thread.join();
      }
    }
  }

  /** Segments that take more than a device's limit. */
  private void larger(Context context, Opened opened, int count)
      throws IOException, InterruptedException {
    long bytes;
    try (OpenDevices one = OpenDevices.open(1, drivers, Placement.EXACT, 0)) {
      prepare(opened, one);
      bytes =
          opened.views.stream()
              .mapToLong(view -> one.executor().presence(view).deviceBytes())
              .sum();
      opened.views.forEach(one.executor()::closing);
    }
    long limit = bytes * 6 / 10;
    for (int devices : new int[] {1, count}) {
      try (OpenDevices several = OpenDevices.open(devices, drivers, Placement.EXACT, limit)) {
        prepare(opened, several);
        Map<String, Object> row = row(opened, "limit of six tenths of all", devices);
        row.put("limit_bytes", limit);
        row.put("bytes", bytes);
        row.put("segments_resident", several.resident(opened.views));
        add(context, row);
        opened.views.forEach(several.executor()::closing);
      }
    }
  }

  /** A device goes while callers search, and comes back. */
  private void lost(Context context, Opened opened, int count)
      throws IOException, InterruptedException {
    try (OpenDevices devices = OpenDevices.open(count, drivers, Placement.EXACT, 0)) {
      prepare(opened, devices);
      Load load = new Load(new Asking(opened, devices, walk(Placement.EXACT, BEAMS[0])), 100);
      load.start();
      double moved;
      double back;
      try {
        await(() -> devices.isSpread(opened.views));
        long begin = System.nanoTime();
        devices.lose(count - 1);
        await(() -> devices.executor().devices().get(count - 1).usable() == false);
        await(() -> devices.resident(opened.views) == opened.views.size());
        moved = (System.nanoTime() - begin) * 1e-9;
        begin = System.nanoTime();
        devices.give(count - 1);
        await(() -> devices.executor().devices().get(count - 1).usable());
        back = (System.nanoTime() - begin) * 1e-9;
      } finally {
        load.stop();
      }
      Map<String, Object> row = row(opened, "lost", count);
      row.put("searches", load.calls.get());
      row.put("failed", load.failed.get());
      row.put("seconds_until_moved", Samples.round(moved, 3));
      row.put("seconds_until_back", Samples.round(back, 3));
      add(context, row);
      opened.views.forEach(devices.executor()::closing);
    }
  }

  private static void await(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + (long) (PATIENCE * 1e9);
    while (condition.getAsBoolean() == false) {
      if (System.nanoTime() > end) {
        throw new IllegalStateException("not within " + PATIENCE + " seconds");
      }
      Thread.sleep(1);
    }
  }
}
