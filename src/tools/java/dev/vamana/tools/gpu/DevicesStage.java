package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.devices.DevicesExecutor;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceProbe;
import dev.vamana.cuda.memory.Placement;
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
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.TopDocs;

/**
 * Compares several devices with one: a large batch over eight segments (by several devices in every
 * placement), the same over one segment that is copied, segments larger than one device's limit,
 * and a device that is lost under load.
 */
final class DevicesStage implements Stage {

  static final String SECTION = "devices";

  private static final int K = BenchStage.K;
  private static final int SEGMENTS = 8;
  private static final int BEAM = 40;
  private static final int CALLERS = 2;

  /** Seconds within which copies, moves and recoveries are expected. */
  private static final double PATIENCE = 60;

  private final String setName;
  private final IntFunction<Supplier<CudaDriver>> drivers;
  private final VamanaParameters parameters;

  DevicesStage(String setName) {
    this(setName, ordinal -> new DeviceProbe(ordinal)::open, VamanaParameters.DEFAULT);
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
    for (int segments : new int[] {SEGMENTS, 1}) {
      try (SetIndex index = open(context, set, segments)) {
        List<SegmentView> views = new ArrayList<>();
        for (LeafReaderContext leaf : index.reader().leaves()) {
          views.add(SetIndex.view(leaf.reader()));
        }
        Opened opened = new Opened(set, index, views);
        for (int count : new int[] {1, devices}) {
          batches(context, opened, Placement.EXACT, count);
        }
        if (segments > 1) {
          for (Placement placement : Placement.ALL) {
            if (placement != Placement.EXACT) {
              batches(context, opened, placement, devices);
            }
          }
          larger(context, opened, devices);
          lost(context, opened, devices);
        }
      }
    }
  }

  private SetIndex open(Context context, SuiteSet set, int segments) throws IOException {
    String name = set.vectors().name() + "-" + set.vectors().base().size() + "-vamana-" + segments;
    return SetIndex.open(
        context.options().home().resolve("index").resolve(name + "-devices"),
        set,
        new VamanaVectorsFormat(parameters, context.workers()),
        segments,
        1);
  }

  private static Map<String, Object> row(Opened opened, String what, int devices) {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", opened.set.vectors().name());
    row.put("n", opened.set.vectors().base().size());
    row.put("what", what + ", " + opened.views.size() + " segments");
    row.put("devices", devices);
    row.put("placement", Placement.EXACT.settingName());
    row.put("beam", BEAM);
    return row;
  }

  private static void add(Context context, Map<String, Object> row) throws IOException {
    context.fragment().add(SECTION, row);
    context.say("%s", row);
  }

  /** A large batch by two callers, with segments where balancing has put them. */
  private void batches(Context context, Opened opened, Placement placement, int count)
      throws IOException, InterruptedException {
    int batch = context.options().batches().stream().mapToInt(Integer::intValue).max().orElse(1);
    try (OpenDevices devices = OpenDevices.open(count, drivers, placement, 0)) {
      opened.views.forEach(devices.executor()::opened);
      devices.settle(opened.views);
      BatchedKnn knn = new BatchedKnn(opened.index.searcher(), devices.executor());
      Asking asking = new Asking(opened, knn, walk(placement));
      long end = System.nanoTime() + (long) (PATIENCE * 1e9);
      while (opened.views.size() == 1
          && devices.copies(opened.views.get(0)) < count
          && System.nanoTime() < end) {
        asking.ask(0, batch);
      }
      double recall = asking.recall();
      long asked = timed(asking, batch, context.options().seconds());
      Map<String, Object> row = row(opened, "batch", count);
      row.put("placement", placement.settingName());
      row.put("batch", batch);
      row.put("callers", CALLERS);
      row.put("recall_at_10", Samples.round(recall, 5));
      row.put("qps", Samples.round(asked / asking.seconds, 1));
      row.put("items_by_device", items(devices.executor()));
      row.put("items_on_cpu", onCpu(devices.executor()));
      add(context, row);
      opened.views.forEach(devices.executor()::closing);
    }
  }

  private static List<Long> items(DevicesExecutor executor) {
    return executor.statistics().stream().map(each -> each.counter("routed", "items")).toList();
  }

  private static long onCpu(DevicesExecutor executor) {
    return executor.statistics().stream()
        .map(each -> each.counters().getOrDefault("items_on_cpu", Collections.emptySortedMap()))
        .flatMapToLong(counts -> counts.values().stream().mapToLong(Long::longValue))
        .sum();
  }

  private static WalkParameters walk(Placement placement) {
    return placement.copiesCodes() ? WalkParameters.quantized(BEAM, 0) : WalkParameters.exact(BEAM);
  }

  /** Answers batches through the API that a search server uses. */
  private static final class Asking {
    private final Opened opened;
    private final BatchedKnn knn;
    private final WalkParameters walk;
    private final float[][] queries;
    private volatile double seconds;

    Asking(Opened opened, BatchedKnn knn, WalkParameters walk) {
      this.opened = opened;
      this.knn = knn;
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

  /** Asks with some callers, and returns how many queries were answered. */
  private static long timed(Asking asking, int batch, double seconds)
      throws IOException, InterruptedException {
    AtomicInteger calls = new AtomicInteger();
    AtomicBoolean done = new AtomicBoolean();
    Load load = new Load(asking, batch, calls, done);
    long begin = System.nanoTime();
    load.start();
    while (System.nanoTime() - begin < seconds * 1e9 || calls.get() < 2 * CALLERS) {
      if (load.failed.get() > 0) {
        break;
      }
      Thread.sleep(1);
    }
    long answered = (long) calls.get() * batch;
    asking.seconds = (System.nanoTime() - begin) * 1e-9;
    load.stop();
    if (load.failed.get() > 0) {
      throw new IOException("a search failed", load.failure);
    }
    return answered;
  }

  /** Callers that send one batch after the other. */
  private static final class Load {
    private final Asking asking;
    private final int batch;
    private final AtomicInteger calls;
    private final AtomicBoolean done;
    private final AtomicInteger failed = new AtomicInteger();
    private final List<Thread> threads = new ArrayList<>();
    private volatile Throwable failure;

    Load(Asking asking, int batch, AtomicInteger calls, AtomicBoolean done) {
      this.asking = asking;
      this.batch = batch;
      this.calls = calls;
      this.done = done;
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
      opened.views.forEach(one.executor()::opened);
      one.settle(opened.views);
      bytes =
          opened.views.stream()
              .mapToLong(view -> one.executor().presence(view).deviceBytes())
              .sum();
      opened.views.forEach(one.executor()::closing);
    }
    long limit = bytes * 6 / 10;
    for (int devices : new int[] {1, count}) {
      try (OpenDevices several = OpenDevices.open(devices, drivers, Placement.EXACT, limit)) {
        opened.views.forEach(several.executor()::opened);
        several.settle(opened.views);
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
      opened.views.forEach(devices.executor()::opened);
      devices.settle(opened.views);
      AtomicInteger calls = new AtomicInteger();
      Load load =
          new Load(
              new Asking(
                  opened,
                  new BatchedKnn(opened.index.searcher(), devices.executor()),
                  walk(Placement.EXACT)),
              100,
              calls,
              new AtomicBoolean());
      load.start();
      double moved;
      double back;
      try {
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
      row.put("searches", calls.get());
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
