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
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * One executor over several devices, each with a {@link GpuExecutor} of its own. Each open segment
 * belongs to one device, or to several if one cannot keep up with its searches; {@link Router}
 * sends items there. A device that is lost gives its segments to the others. Its executor has the
 * CPU answer what reaches it meanwhile, so no search fails, and opens a new context. Thread-safe.
 */
public final class DevicesExecutor implements SearchExecutor {

  private final List<Member> members = new ArrayList<>();
  private final Opener opener;
  private final Placements placements;
  private final Router router;
  private final Calls calls = new Calls();
  private final Balancer balancer;
  private final PqEngine quantizer;
  private final GraphEngine graphs;

  /** Opens the executors of devices, and owns what they share. */
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

    /** Changes options of what the devices share. */
    default void adjust(DynamicOptions options) {}

    /** Frees what the devices share, after the last of them is closed. */
    default void close() {}
  }

  /**
   * Opens all devices. If one cannot be opened, the others are closed again.
   *
   * @param count number of devices, 1 to {@value DevicePlanner#MOST_DEVICES}
   * @param limit most memory of each device for segments, as its own executor knows it
   * @param failures receives what a round of balancing failed with
   * @throws dev.vamana.cuda.driver.GpuException if a device cannot be used
   */
  public static DevicesExecutor open(
      int count,
      Opener opener,
      MemoryLimit limit,
      DevicesOptions options,
      Consumer<RuntimeException> failures) {
    if (count < 1 || count > DevicePlanner.MOST_DEVICES) {
      throw new IllegalArgumentException(
          "devices must be 1 to " + DevicePlanner.MOST_DEVICES + ", got " + count);
    }
    Wake wake = new Wake();
    List<GpuExecutor> opened = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        opened.add(opener.open(i, wake));
      }
      DevicesExecutor executor = new DevicesExecutor(opened, opener, limit, options, failures);
      wake.balancer = executor.balancer;
      return executor;
    } catch (RuntimeException | Error e) {
      opened.forEach(GpuExecutor::close);
      opener.close();
      throw e;
    }
  }

  /** Wakes the balancer, once there is one. */
  private static final class Wake implements Runnable {
    private volatile Balancer balancer;

    @Override
    public void run() {
      Balancer made = balancer;
      if (made != null) {
        made.wake();
      }
    }
  }

  private DevicesExecutor(
      List<GpuExecutor> opened,
      Opener opener,
      MemoryLimit limit,
      DevicesOptions options,
      Consumer<RuntimeException> failures) {
    this.opener = opener;
    opened.forEach(executor -> members.add(new Member(members.size(), executor)));
    placements = new Placements(members, options, limit);
    router = new Router(members, placements);
    quantizer = new SharedQuantizer(members);
    graphs = new SharedGraphs(members);
    balancer = new Balancer(placements, options.roundNanos(), failures);
  }

  @Override
  public String name() {
    return members.stream()
        .map(member -> member.executor.device())
        .map(device -> device.ordinal() + " " + device.name())
        .collect(Collectors.joining(", ", "gpus ", ""));
  }

  @Override
  public List<WorkResult> search(List<WorkItem> batch) throws IOException {
    if (batch.size() == 1) {
      return Calls.run(router.route(batch.get(0)), batch);
    }
    return batch.isEmpty() ? List.of() : calls.run(router.route(batch), batch);
  }

  @Override
  public WalkParameters defaultWalk(int k) {
    return members.get(0).executor.defaultWalk(k);
  }

  @Override
  public LeftSearch leaves(SegmentView segment, int k, int accepted, boolean scan) {
    long candidates = router.candidates(segment, placements.get(segment));
    LeftSearch left = SearchExecutor.super.leaves(segment, k, accepted, scan);
    for (Member member : members) {
      if (Placements.has(candidates, member)) {
        left = member.executor.leaves(segment, k, accepted, scan);
        if (left == null) {
          return null;
        }
      }
    }
    return left;
  }

  @Override
  public void opened(SegmentView segment) {
    if (Residency.takes(segment)) {
      members.forEach(member -> member.executor.openedElsewhere(segment));
      placements.opened(segment);
    }
  }

  @Override
  public void closing(SegmentView segment) {
    placements.closing(segment);
    Cleanup.all(each(member -> member.executor.closing(segment)));
  }

  /**
   * {@inheritDoc}
   *
   * <p>A copied segment is resident if one of its devices has it; bytes are of all copies.
   */
  @Override
  public DevicePresence presence(SegmentView segment) {
    Placed placed = placements.get(segment);
    long where = placed == null ? 1 : placed.where().all();
    DevicePresence best = null;
    for (Member member : members) {
      if (Placements.has(where, member)) {
        best = better(best, member.executor.presence(segment));
      }
    }
    return best;
  }

  private static DevicePresence better(DevicePresence a, DevicePresence b) {
    if (a == null) {
      return b;
    }
    if (a.state() == DevicePresence.State.RESIDENT && b.state() == DevicePresence.State.RESIDENT) {
      return DevicePresence.resident(a.placement(), a.deviceBytes() + b.deviceBytes());
    }
    return a.state().compareTo(b.state()) <= 0 ? a : b;
  }

  @Override
  public List<Integer> devices(SegmentView segment) {
    return members.stream()
        .flatMap(member -> member.executor.devices(segment).stream())
        .sorted()
        .toList();
  }

  @Override
  public void warm(SegmentView segment) {
    Placed placed = placements.get(segment);
    if (placed != null) {
      on(placed.where().copies(), executor -> executor.warm(segment));
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
      freed += member.executor.evict(segment);
    }
    return freed;
  }

  private List<Runnable> each(Consumer<Member> action) {
    List<Runnable> actions = new ArrayList<>();
    members.forEach(member -> actions.add(() -> action.accept(member)));
    return actions;
  }

  private void on(long devices, Consumer<GpuExecutor> action) {
    for (Member member : members) {
      if (Placements.has(devices, member)) {
        action.accept(member.executor);
      }
    }
  }

  @Override
  public PqEngine quantizer() {
    return quantizer;
  }

  @Override
  public GraphEngine graphs() {
    return graphs;
  }

  /** Changes options of all devices. The limit of device memory is one of each device. */
  public void adjust(DynamicOptions options) {
    placements.limit(options.deviceLimit());
    opener.adjust(options);
    members.forEach(member -> member.executor.adjust(options));
  }

  /** Returns the executors of the devices, in order. */
  public List<GpuExecutor> devices() {
    return members.stream().map(member -> member.executor).toList();
  }

  /** Returns the statistics of each device, in order. */
  public List<GpuStatistics> statistics() {
    List<GpuStatistics> all = new ArrayList<>();
    for (Member member : members) {
      GpuStatistics own = member.executor.statistics();
      SortedMap<String, SortedMap<String, Long>> groups = new TreeMap<>(own.counters());
      SortedMap<String, Long> routed = new TreeMap<>();
      routed.put("items", member.items());
      routed.put("segments", placements.segments(member));
      groups.put("routed", Collections.unmodifiableSortedMap(routed));
      all.add(new GpuStatistics(own.usable(), own.reason(), own.device(), groups));
    }
    return all;
  }

  /** Returns counts of moves between devices and the number of copied segments. */
  public SortedMap<String, Long> balance() {
    return placements.counters();
  }

  /** Waits for running searches and frees all devices. */
  @Override
  public void close() {
    balancer.close();
    List<Runnable> closing = each(member -> member.executor.close());
    closing.add(calls::close);
    closing.add(opener::close);
    Cleanup.all(closing);
  }
}
