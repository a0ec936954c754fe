package dev.vamana.cuda.devices;

import dev.vamana.cuda.GpuExecutor;
import dev.vamana.cuda.api.DynamicOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Residency;
import dev.vamana.graph.GraphEngine;
import dev.vamana.pq.PqEngine;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * One executor over several devices, each with a {@link GpuExecutor} of its own. Each open segment
 * belongs to one device, where its items go; large calls are divided between it and a copy on
 * another device that has room. A device that is lost lends its segments to the others until it is
 * back. Its executor has the CPU answer what reaches it meanwhile, so no search fails, and opens a
 * new context. Thread-safe.
 */
public final class DevicesExecutor implements SearchExecutor {

  /** Most devices. */
  public static final int MOST_DEVICES = 64;

  private final List<Member> members = new ArrayList<>();
  private final Placements placements;
  private final Calls calls;
  private final ScheduledExecutorService rounds;
  private final Consumer<RuntimeException> failures;
  private final SharedEngines engines;

  /** Opens the executors of devices. */
  @FunctionalInterface
  public interface Opener {
    /**
     * Opens an executor.
     *
     * @param index number of the device among the devices, from 0
     * @param changed to be run when the device is lost or comes back
     * @throws dev.vamana.cuda.driver.GpuException if the device cannot be used
     */
    GpuExecutor open(int index, Runnable changed);
  }

  /**
   * How segments are spread over devices.
   *
   * @param roundNanos time between two looks at the devices, at least 1
   * @param together most bytes of the segments of a family that stay on one device, so that a query
   *     needs one launch; what is more goes to the devices with the most room
   * @param divided least items of a call that two devices answer together where its segments are on
   *     one: another device gets copies if it has room
   */
  public record Spread(long roundNanos, long together, int divided) {

    /** Looks every five seconds, keeps 128 MiB together, divides calls of 2,000 items. */
    public static final Spread DEFAULT = new Spread(5_000_000_000L, 128L << 20, 2_000);
  }

  /**
   * Opens all devices. If one cannot be opened, the others are closed again.
   *
   * @param count number of devices, 1 to {@value #MOST_DEVICES}
   * @param limit most memory of each device for segments, as its own executor knows it
   * @param failures receives the failures of rounds; the next round tries again
   * @throws dev.vamana.cuda.driver.GpuException if a device cannot be used
   */
  public static DevicesExecutor open(
      int count,
      Opener opener,
      MemoryLimit limit,
      Spread spread,
      Consumer<RuntimeException> failures) {
    if (count < 1 || count > MOST_DEVICES) {
      throw new IllegalArgumentException("devices must be 1 to " + MOST_DEVICES + ", got " + count);
    }
    AtomicReference<DevicesExecutor> executor = new AtomicReference<>();
    Runnable changed =
        () -> {
          DevicesExecutor made = executor.get();
          if (made != null) {
            made.roundNow();
          }
        };
    List<GpuExecutor> opened = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        opened.add(opener.open(i, changed));
      }
      executor.set(new DevicesExecutor(opened, limit, spread, failures));
      return executor.get();
    } catch (RuntimeException | Error e) {
      opened.forEach(GpuExecutor::close);
      throw e;
    }
  }

  @SuppressWarnings("FutureReturnValueIgnored") // a round tells of its failures itself
  private DevicesExecutor(
      List<GpuExecutor> opened,
      MemoryLimit limit,
      Spread spread,
      Consumer<RuntimeException> failures) {
    this.failures = failures;
    opened.forEach(executor -> members.add(new Member(members.size(), executor, new LongAdder())));
    placements = new Placements(members, limit, spread.together);
    calls = new Calls(placements, spread.divided);
    engines = new SharedEngines(members);
    rounds =
        Executors.newSingleThreadScheduledExecutor(
            task -> {
              Thread thread = new Thread(task, "vamana-gpu-devices");
              thread.setDaemon(true);
              return thread;
            });
    rounds.scheduleWithFixedDelay(
        this::round, spread.roundNanos, spread.roundNanos, TimeUnit.NANOSECONDS);
  }

  private void roundNow() {
    try {
      rounds.execute(this::round);
    } catch (RejectedExecutionException e) {
      // the executor is being closed
    }
  }

  private void round() {
    try {
      placements.round();
    } catch (RuntimeException e) {
      failures.accept(e);
    }
  }

  @Override
  public String name() {
    return members.stream()
        .map(member -> member.executor().device())
        .map(device -> device.ordinal() + " " + device.name())
        .collect(Collectors.joining(", ", "gpus ", ""));
  }

  @Override
  public List<WorkResult> search(List<WorkItem> batch) throws IOException {
    return batch.isEmpty() ? List.of() : calls.search(batch);
  }

  @Override
  public WalkParameters defaultWalk(int k) {
    return members.get(0).executor().defaultWalk(k);
  }

  @Override
  public LeftSearch leaves(SegmentView segment, int k, int accepted, boolean scan) {
    return placements.of(segment).executor().leaves(segment, k, accepted, scan);
  }

  @Override
  public void opened(SegmentView segment) {
    if (Residency.takes(segment)) {
      members.forEach(member -> member.executor().openedElsewhere(segment));
      placements.opened(segment);
    }
  }

  @Override
  public void closing(SegmentView segment) {
    placements.closing(segment);
    Cleanup.all(each(member -> member.executor().closing(segment)));
  }

  @Override
  public DevicePresence presence(SegmentView segment) {
    DevicePresence presence = placements.of(segment).executor().presence(segment);
    Placed placed = placements.get(segment);
    if (placed == null || placed.moves() == false) {
      return presence;
    }
    DevicePresence there = members.get(placed.heading()).executor().presence(segment);
    return presence.state().compareTo(there.state()) <= 0 ? presence : there;
  }

  @Override
  public List<Integer> devices(SegmentView segment) {
    return members.stream()
        .flatMap(member -> member.executor().devices(segment).stream())
        .sorted()
        .toList();
  }

  @Override
  public void warm(SegmentView segment) {
    Placed placed = placements.get(segment);
    if (placed != null) {
      members.get(placed.heading()).executor().warm(segment);
    }
  }

  @Override
  public void keep(SegmentView segment, boolean kept) {
    Placed placed = placements.get(segment);
    if (placed != null) {
      placements.keep(placed, kept);
    }
  }

  @Override
  public long evict(SegmentView segment) {
    long freed = 0;
    for (Member member : members) {
      freed += member.executor().evict(segment);
    }
    return freed;
  }

  private List<Runnable> each(Consumer<Member> action) {
    List<Runnable> actions = new ArrayList<>();
    members.forEach(member -> actions.add(() -> action.accept(member)));
    return actions;
  }

  @Override
  public PqEngine quantizer() {
    return engines;
  }

  @Override
  public GraphEngine graphs() {
    return engines;
  }

  /** Changes options of all devices; each has the limits of memory for itself. */
  public void adjust(DynamicOptions options) {
    placements.limit(options.deviceLimit());
    members.forEach(member -> member.executor().adjust(options));
  }

  /** Returns the executors of the devices, in order. */
  public List<GpuExecutor> devices() {
    return members.stream().map(Member::executor).toList();
  }

  /** Returns the statistics of each device, in order. */
  public List<GpuStatistics> statistics() {
    List<GpuStatistics> all = new ArrayList<>();
    for (Member member : members) {
      GpuStatistics own = member.executor().statistics();
      SortedMap<String, SortedMap<String, Long>> groups = new TreeMap<>(own.counters());
      SortedMap<String, Long> routed = new TreeMap<>();
      routed.put("items", member.items().sum());
      routed.put("segments", placements.segments(member));
      groups.put("routed", Collections.unmodifiableSortedMap(routed));
      all.add(new GpuStatistics(own.state(), own.reason(), own.device(), groups));
    }
    return all;
  }

  /** Returns counts of moves between devices. */
  public SortedMap<String, Long> balance() {
    return placements.counters();
  }

  /** Waits for running searches and frees all devices. */
  @Override
  public void close() {
    // waits for the round under way
    rounds.close();
    List<Runnable> closing = each(member -> member.executor().close());
    closing.add(calls::close);
    Cleanup.all(closing);
  }
}
