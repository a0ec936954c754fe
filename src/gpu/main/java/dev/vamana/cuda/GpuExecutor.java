package dev.vamana.cuda;

import dev.vamana.cuda.ahead.Ahead;
import dev.vamana.cuda.api.DynamicOptions;
import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.call.CallPlanner;
import dev.vamana.cuda.call.DeviceCall;
import dev.vamana.cuda.call.Routes;
import dev.vamana.cuda.call.Workloads;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.memory.Residency;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.cuda.plan.Workload;
import dev.vamana.cuda.session.ExecutorCounters;
import dev.vamana.cuda.session.GpuGraphs;
import dev.vamana.cuda.session.GpuQuantizer;
import dev.vamana.cuda.session.GpuSession;
import dev.vamana.cuda.session.SessionKeeper;
import dev.vamana.graph.GraphEngine;
import dev.vamana.pq.PqEngine;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * Searches batches on a GPU. The CPU answers items that the device cannot answer or that the cost
 * model assigns to it. {@code devices.DevicesExecutor} has one for each of several devices.
 *
 * <p>Concurrent calls share launches. After a failure the CPU answers; a lost context is replaced
 * after a back-off, and the open segments are uploaded to the new one. A context is used only while
 * it answers right, as far as the self-test and samples tell. Thread-safe.
 */
public final class GpuExecutor implements SearchExecutor {

  // A walk on a device is a chain of steps, each of which waits for memory. Four parents a step
  // take a quarter of the steps, half the time, a fifth more distances, at the same recall. The CPU
  // has to walk alike, and loses a fifth by four parents and a twentieth by two. The fewer nodes a
  // beam has, the fewer steps are there to save.
  private static final int PARENTS = 4;
  private static final int NARROW_BEAM = 32;
  private static final int PARENTS_OF_NARROW = 2;
  private static final int NARROWEST_BEAM = 16;

  // Preparing an item and reading its hits take about 200 ns of a processor, walking it 130 ns of a
  // large device. Fewer items are done before another thread has woken.
  private static final int LEAST_DIVIDED = 4_096;
  private static final int PART = 2_048;
  private static final int MOST_PARTS = 4;

  private final ExecutorCounters counters;
  private final CpuExecutor cpu;
  private final SessionKeeper keeper;
  private final GpuQuantizer quantizer;
  private final GraphEngine graphs;
  private final Routes routes = new Routes();
  private final Ahead ahead;

  private GpuExecutor(GpuOptions options, ExecutorCounters counters, SessionKeeper keeper) {
    this.counters = counters;
    this.cpu = new CpuExecutor(options.workers());
    this.keeper = keeper;
    this.quantizer = new GpuQuantizer(keeper, counters.training, options.leastTraining());
    this.graphs =
        options.leastGraph() == GpuOptions.NO_GRAPHS
            ? GraphEngine.NONE
            : new GpuGraphs(keeper, counters.graphs, options.leastGraph());
    this.ahead = new Ahead(options.batches().segmentsAhead());
  }

  /**
   * Opens a context and everything that lives in it.
   *
   * @param drivers opens a context, first now and again after each loss; for instance {@link
   *     dev.vamana.cuda.driver.DeviceProbe#open}
   * @param residency memory limits and placement of segments on the device
   * @throws dev.vamana.cuda.driver.GpuException if the context or anything in it cannot be opened;
   *     the message of a probe names what was probed and found
   */
  public static GpuExecutor open(
      Supplier<CudaDriver> drivers,
      ResidencyOptions residency,
      GpuOptions options,
      GpuListener listener) {
    return open(drivers, residency, options, GpuExecutor::uploads, listener);
  }

  private static ExecutorService uploads() {
    return Executors.newSingleThreadExecutor(
        task -> {
          Thread thread = new Thread(task, "vamana-gpu-upload");
          thread.setDaemon(true);
          return thread;
        });
  }

  /** As the other one, with executors that run the uploads of each context. */
  static GpuExecutor open(
      Supplier<CudaDriver> drivers,
      ResidencyOptions residency,
      GpuOptions options,
      Supplier<ExecutorService> uploads,
      GpuListener listener) {
    ExecutorCounters counters = new ExecutorCounters(listener);
    GpuOptions all = options.withResidency(residency);
    return new GpuExecutor(
        all, counters, new SessionKeeper(all, drivers, uploads, counters, listener));
  }

  @Override
  public String name() {
    return "gpu " + keeper.device().name();
  }

  @Override
  public List<WorkResult> search(List<WorkItem> batch) throws IOException {
    if (batch.size() == 1) {
      return List.of(answer(batch.get(0)));
    }
    long since = System.nanoTime();
    List<WorkResult> results = batch.size() < LEAST_DIVIDED ? search(batch, batch) : divided(batch);
    answered(null, since);
    return results;
  }

  @Override
  public WorkResult answer(WorkItem item) throws IOException {
    PlanMode mode = keeper.options().plans().mode();
    boolean fromAhead = ahead.mayHave(item);
    Routes.Known known = mode == PlanMode.AUTO ? routes.find(item) : null;
    if (known != null
        && isLeft(known)
        && fromAhead == false
        && item.cancelled().getAsBoolean() == false) {
      counters.left(known.way() == CpuExecutor.Way.SCAN);
      long since = System.nanoTime();
      try {
        return CpuExecutor.search(item, known.way());
      } finally {
        answered(known, since);
      }
    }
    return ahead.search(item, new SingleQuery(System.nanoTime()));
  }

  /** Whether the CPU answers items of a route in this window. */
  private boolean isLeft(Routes.Known known) {
    return known.kind() != null
        && known.kind().onDevice() == false
        && known.window() == routes.who.window()
        && usable();
  }

  private void answered(Routes.Known known, long since) {
    long now = System.nanoTime();
    boolean both = known != null && known.kind() != null;
    routes.who.answered(both ? known.kind() : null, both ? known.work() : 0, now - since, now);
  }

  /** Searches the segments of a single query that {@link Ahead} sends together. */
  private final class SingleQuery implements Ahead.Search {
    private final long since;

    SingleQuery(long since) {
      this.since = since;
    }

    @Override
    public List<WorkResult> search(List<WorkItem> items, Runnable leftAlone) throws IOException {
      return GpuExecutor.this.search(items, items, 1, leftAlone, since);
    }

    @Override
    public void taken(WorkItem item) {
      answered(routes.find(item), since);
    }
  }

  private List<WorkResult> search(List<WorkItem> batch, List<WorkItem> call) throws IOException {
    return search(batch, call, batch.size(), () -> {}, 0);
  }

  /**
   * Answers a large call in parts, on several threads if the device has nothing else to do:
   * otherwise the callers keep it busy by themselves.
   */
  private List<WorkResult> divided(List<WorkItem> call) throws IOException {
    Workers workers = keeper.options().workers();
    int parts = Math.min(Math.min(workers.threads(), MOST_PARTS), call.size() / PART);
    if (parts < 2 || routes.load.idle() == false) {
      return search(call, call);
    }
    WorkResult[] results = new WorkResult[call.size()];
    AtomicInteger next = new AtomicInteger();
    workers.together(
        parts,
        () -> {
          int part;
          while ((part = next.getAndIncrement()) < parts) {
            int from = (int) ((long) call.size() * part / parts);
            int to = (int) ((long) call.size() * (part + 1) / parts);
            List<WorkItem> items = WorkItem.askedOneAtATime(call.subList(from, to), next);
            List<WorkResult> found = search(items, call);
            for (int i = from; i < to; i++) {
              results[i] = found.get(i - from);
            }
          }
        });
    return Arrays.asList(results);
  }

  /**
   * Answers the first {@code wanted} items, and each of the other items if the device can answer
   * it. The result of an item that was left alone is null.
   *
   * @param call all items of the call, by whose number plans are chosen
   * @param leftAlone called when it is known that all items but the first {@code wanted} are left
   *     alone
   * @param since when a single query was asked; 0 for other calls
   */
  private List<WorkResult> search(
      List<WorkItem> batch, List<WorkItem> call, int wanted, Runnable leftAlone, long since)
      throws IOException {
    counters.requested.add(wanted);
    GpuSession session = keeper.enter();
    if (session == null) {
      counters.fallback(keeper.absence(), wanted, String.valueOf(keeper.reason()));
      leftAlone.run();
      return onCpu(batch, wanted);
    }
    CallPlanner planner = new CallPlanner(session, keeper, counters, routes, call, since != 0);
    List<WorkResult> results =
        new DeviceCall(session, planner, counters, routes.load, cpu, batch, wanted).run(leftAlone);
    if (since != 0) {
      answered(planner.first(), since);
    }
    if (session.distrusted()) {
      return onCpu(batch, wanted);
    }
    int ahead = 0;
    for (int i = wanted; i < results.size(); i++) {
      ahead += results.get(i) != null ? 1 : 0;
    }
    if (ahead > 0) {
      counters.requested.add(ahead);
    }
    return results;
  }

  /** Answers the first {@code wanted} items on the CPU, and no others. */
  private List<WorkResult> onCpu(List<WorkItem> batch, int wanted) throws IOException {
    List<WorkResult> results = new ArrayList<>(cpu.search(batch.subList(0, wanted)));
    results.addAll(Collections.nCopies(batch.size() - wanted, null));
    return results;
  }

  @Override
  public WalkParameters defaultWalk(int k) {
    WalkParameters walk = WalkParameters.defaults(k);
    int beam = walk.beamWidth();
    return beam < NARROWEST_BEAM
        ? walk
        : walk.withParents(beam < NARROW_BEAM ? PARENTS_OF_NARROW : PARENTS);
  }

  @Override
  public LeftSearch leaves(SegmentView segment, int k, int accepted, boolean scan) {
    PlanMode mode = keeper.options().plans().mode();
    boolean format = segment.formatSearch() != null;
    if (mode == PlanMode.CPU || takes(segment) == false || usable() == false) {
      return segment.hasLists() || scan || format ? NOT_MEASURED : null;
    }
    if (format && isResident(segment) == false) {
      counters.requested.add(1);
      counters.fallback(FallbackReason.NOT_RESIDENT, 1, segment.name());
      keeper.segments().missed(segment);
      return NOT_MEASURED;
    }
    if (scan == false || (mode == PlanMode.EXACT && isResident(segment))) {
      return null;
    }
    if (mode == PlanMode.GRAPH) {
      return NOT_MEASURED;
    }
    boolean filtered = accepted < segment.size();
    Routes.Known known = filtered ? null : routes.findScan(segment, k);
    if (known != null && known.kind() != null) {
      long since = System.nanoTime();
      return isLeft(known) ? () -> answered(known, since) : null;
    }
    return isResident(segment) && isForCpu(segment, k, accepted) == false ? null : NOT_MEASURED;
  }

  /** Whether the CPU scans a segment for a single query, as far as predictions tell. */
  private boolean isForCpu(SegmentView segment, int k, int accepted) {
    GpuSession session = keeper.enter();
    if (session == null) {
      return true;
    }
    try {
      // without a filter the query's segments are sent together
      int segments = accepted < segment.size() ? 1 : routes.openLike(segment);
      Workload task = Workloads.scan(segment, k, accepted, 1, Workload.Rows.DEVICE, segments);
      return session.chooser.sureOfCpu(task.over(segments));
    } finally {
      session.exit();
    }
  }

  private boolean isResident(SegmentView segment) {
    return presence(segment).state() == DevicePresence.State.RESIDENT;
  }

  /**
   * Whether the device can search a segment. The kernels order vectors by scores, so the CPU
   * searches segments whose scores are too coarse.
   */
  private static boolean takes(SegmentView segment) {
    try {
      return Residency.takes(segment) && segment.rawComparison() == null;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void opened(SegmentView segment) {
    if (takes(segment)) {
      routes.opened(segment);
      keeper.segments().opened(segment);
    }
  }

  /**
   * Counts a segment of another device in its family. The same queries search the family's segments
   * here, and {@link CallPlanner} decides by how many they are.
   */
  public void openedElsewhere(SegmentView segment) {
    if (takes(segment)) {
      routes.opened(segment);
    }
  }

  @Override
  public void closing(SegmentView segment) {
    ahead.closing(segment);
    keeper.segments().closing(segment);
    // only now does no call use the segment that would remember it
    routes.closing(segment);
  }

  /** Returns the device in use, or the last one if its context is lost. */
  public DeviceInfo device() {
    return keeper.device();
  }

  @Override
  public DevicePresence presence(SegmentView segment) {
    GpuSession session = keeper.enter();
    if (session == null) {
      return keeper.absence() == FallbackReason.WRONG_ANSWER
          ? DevicePresence.WRONG_ANSWERS
          : DevicePresence.NO_DEVICE;
    }
    try {
      return session.residency.presence(segment);
    } finally {
      session.exit();
    }
  }

  @Override
  public List<Integer> devices(SegmentView segment) {
    return presence(segment).state() == DevicePresence.State.RESIDENT
        ? List.of(keeper.device().ordinal())
        : List.of();
  }

  @Override
  public void warm(SegmentView segment) {
    if (takes(segment)) {
      keeper.segments().warm(segment);
    }
  }

  @Override
  public void keep(SegmentView segment, boolean kept) {
    if (takes(segment)) {
      keeper.segments().keep(segment, kept);
    }
  }

  @Override
  public long evict(SegmentView segment) {
    GpuSession session = keeper.enter();
    if (session == null) {
      return 0;
    }
    try {
      return session.residency.evict(segment);
    } finally {
      session.exit();
    }
  }

  /**
   * Removes a segment from the device as {@link #evict} does, also from contexts opened later,
   * until it is opened, warmed or kept here again. The CPU answers searches that still come.
   */
  public void release(SegmentView segment) {
    keeper.segments().leave(segment);
    ahead.closing(segment);
    evict(segment);
  }

  /** Whether the device answers now. */
  public boolean usable() {
    return keeper.reason() == null;
  }

  @Override
  public PqEngine quantizer() {
    return quantizer;
  }

  @Override
  public GraphEngine graphs() {
    return graphs;
  }

  /** Changes options. They take effect at once and stay in effect after a loss of the context. */
  public void adjust(DynamicOptions options) {
    keeper.adjust(options);
    ahead.enable(options.segmentsAhead());
  }

  /** Returns counters since the executor was opened, and the current state. */
  public GpuStatistics statistics() {
    SortedMap<String, SortedMap<String, Long>> groups = counters.groups();
    DeviceInfo device = keeper.device();
    groups.put("segments_ahead", ahead.totals());
    boolean testing = keeper.isTesting(); // asked before the reason, which changes first
    GpuSession session = keeper.enter();
    if (session == null) {
      groups.put("residency", keeper.residencyCounters());
      GpuStatistics.State state =
          testing ? GpuStatistics.State.TESTING : GpuStatistics.State.FAILED;
      return new GpuStatistics(state, keeper.reason(), device, groups);
    }
    try {
      SortedMap<String, Long> now = new TreeMap<>();
      now.put("launches_in_flight", (long) session.walks.inFlight());
      now.put("items_pending", session.walks.pending());
      now.put("staging_bytes", session.walks.stagingUsed());
      now.put("staging_limit_bytes", BatchOptions.STAGING_BYTES);
      now.put("scans_waiting", (long) session.scans.waiting());
      now.put("host_memory_bytes", session.hostMemory.used());
      groups.put("now", now);
      groups.put("residency", session.residency.counters());
    } finally {
      session.exit();
    }
    return new GpuStatistics(GpuStatistics.State.READY, null, device, groups);
  }

  /** Waits for running searches and frees all resources. */
  @Override
  public void close() {
    keeper.close();
    ahead.enable(false);
  }
}
