package dev.vamana.cuda.devices;

import dev.vamana.cuda.count.Counters;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Which device has which segment, and what changes in that: {@link DevicesExecutor} tells of
 * segments that open and close, {@link Balancer} calls {@link #balance} now and then. Thread-safe.
 *
 * <p>A move uploads the segment to its new device while the old one answers; when it is there, the
 * old device answers no longer, and a round later it is removed from it.
 */
final class Placements {

  private final List<Member> members;
  private final DevicesOptions options;
  private final Map<SegmentView, Placed> segments = new ConcurrentHashMap<>();
  private final Counters counters = new Counters();
  private final LongAdder moves = counters.add("moves");
  private final LongAdder movedBytes = counters.add("moved_bytes");
  private final LongAdder removals = counters.add("removals");
  private final double[] busy;
  private volatile MemoryLimit limit;

  /**
   * Makes placements without segments.
   *
   * @param limit most memory of each device for segments
   */
  Placements(List<Member> members, DevicesOptions options, MemoryLimit limit) {
    this.members = members;
    this.options = options;
    this.limit = limit;
    this.busy = new double[members.size()];
  }

  void limit(MemoryLimit newLimit) {
    limit = newLimit;
  }

  /** Returns a segment, or null if it is not open. */
  Placed get(SegmentView view) {
    return segments.get(view);
  }

  /** Gives an opened segment a device. */
  void opened(SegmentView view) {
    int home;
    synchronized (this) {
      if (segments.containsKey(view)) {
        return;
      }
      Placed placed = new Placed(view);
      DevicePlanner planner = planner(0);
      List<DevicePlanner.Segment> others = planned(segments.values());
      home = Math.max(0, planner.home(devices(), others, view.family(), placed.bytes()));
      placed.where(1L << home, 0);
      segments.put(view, placed);
    }
    members.get(home).executor.opened(view);
  }

  /** Forgets a segment. */
  synchronized void closing(SegmentView view) {
    segments.remove(view);
  }

  /** Keeps a segment on its devices, or no longer. */
  void keep(Placed placed, boolean wanted) {
    placed.kept(wanted);
    for (Member member : members) {
      if (has(placed.where().all(), member)) {
        member.executor.keep(placed.view, wanted);
      }
    }
  }

  static boolean has(long mask, Member member) {
    return (mask >>> member.index & 1) != 0;
  }

  private List<DevicePlanner.Device> devices() {
    List<DevicePlanner.Device> devices = new ArrayList<>();
    for (Member member : members) {
      devices.add(
          new DevicePlanner.Device(
              member.executor.usable(),
              limit.of(member.executor.device().totalBytes()),
              busy[member.index]));
    }
    return devices;
  }

  private static List<DevicePlanner.Segment> planned(Collection<Placed> placed) {
    return placed.stream()
        .map(
            each ->
                new DevicePlanner.Segment(
                    each.view.family(),
                    each.bytes(),
                    each.load(),
                    each.where().copies(),
                    each.rests()))
        .toList();
  }

  private DevicePlanner planner(int mostMoves) {
    return new DevicePlanner(
        new DevicePlanner.Limits(
            DevicePlanner.Limits.DEFAULT.tolerance(), options.busy(), mostMoves));
  }

  /**
   * Measures loads, ends moves that are done, and begins others.
   *
   * @param seconds since the last call
   */
  void balance(double seconds) {
    List<Runnable> changes = new ArrayList<>();
    synchronized (this) {
      balance(seconds, changes);
    }
    // without the lock, since a device that frees memory waits for its launches
    changes.forEach(Runnable::run);
  }

  private void balance(double seconds, List<Runnable> changes) {
    double decay = Math.exp(-seconds / options.loadSeconds());
    double busyDecay = Math.exp(-seconds / options.busySeconds());
    for (Member member : members) {
      double now = member.takeBusy(seconds);
      busy[member.index] = busyDecay * busy[member.index] + (1 - busyDecay) * now;
    }
    List<Placed> all = List.copyOf(segments.values());
    boolean moving = false;
    for (Placed placed : all) {
      placed.decay(decay, seconds);
      moving |= settle(placed, changes);
    }
    boolean lost = members.stream().anyMatch(member -> member.executor.usable() == false);
    if (moving && lost == false) {
      return;
    }
    int most = Math.max(DevicePlanner.Limits.DEFAULT.mostMoves(), all.size() / options.movedPart());
    DevicePlanner.Plan plan = planner(moving ? 0 : most).plan(devices(), planned(all));
    for (int s = 0; s < all.size(); s++) {
      apply(all.get(s), plan.copies()[s], changes);
    }
  }

  /**
   * Ends a move whose copy has arrived or was refused, and removes the segment from devices that it
   * does not belong to. Returns whether it is moving.
   */
  private boolean settle(Placed placed, List<Runnable> changes) {
    Placed.Where where = placed.where();
    boolean waits = false;
    boolean resident = false;
    long refused = 0;
    for (Member member : members) {
      DevicePresence.State state = presence(member, placed).state();
      if (has(where.copies(), member)) {
        waits |= state == DevicePresence.State.WAITING;
        resident |= state == DevicePresence.State.RESIDENT;
        if (state == DevicePresence.State.REFUSED || state == DevicePresence.State.NO_DEVICE) {
          refused |= 1L << member.index;
        }
        if (placed.comesBack(member.index)) {
          changes.add(() -> expect(placed, member));
        }
      } else if (has(where.leaving(), member) == false
          && (state == DevicePresence.State.RESIDENT || state == DevicePresence.State.WAITING)) {
        removals.increment();
        release(placed, member, changes);
      }
    }
    if (waits) {
      return true;
    }
    long copies = where.copies() & ~refused;
    if (resident && copies != where.copies()) {
      // a copy that was refused; the next plan may try again
      placed.where(copies, 0);
    } else if (resident == false && where.leaving() != 0 && refused != 0) {
      placed.where(where.leaving(), 0);
    } else if (where.leaving() != 0) {
      placed.where(where.copies(), 0);
    }
    return false;
  }

  private DevicePresence presence(Member member, Placed placed) {
    DevicePresence presence = member.executor.presence(placed.view);
    if (has(placed.where().copies(), member)) {
      placed.measure(presence);
    }
    return presence;
  }

  private void apply(Placed placed, long copies, List<Runnable> changes) {
    long before = placed.where().copies();
    if (copies == before || copies == 0 || segments.containsKey(placed.view) == false) {
      return;
    }
    long added = copies & ~before;
    placed.where(copies, added == 0 ? 0 : before & ~copies);
    placed.rest(options.rests());
    for (Member member : members) {
      if (has(added, member)) {
        moves.increment();
        movedBytes.add(placed.bytes());
        placed.comesBack(member.index);
        changes.add(() -> upload(placed, member));
      } else if (has(before & ~copies, member) && member.executor.usable() == false) {
        // it comes back without what others have by then
        release(placed, member, changes);
      }
    }
  }

  private static void release(Placed placed, Member member, List<Runnable> changes) {
    placed.goes(member.index);
    changes.add(() -> member.executor.release(placed.view));
  }

  private static void expect(Placed placed, Member member) {
    if (placed.kept()) {
      member.executor.keep(placed.view, true);
    } else {
      member.executor.opened(placed.view);
    }
  }

  private static void upload(Placed placed, Member member) {
    if (placed.kept()) {
      member.executor.keep(placed.view, true);
    }
    member.executor.warm(placed.view);
  }

  /** Returns counts of moves and current numbers, by name. */
  SortedMap<String, Long> counters() {
    SortedMap<String, Long> named = counters.sums();
    long copied = 0;
    for (Placed placed : segments.values()) {
      copied += Long.bitCount(placed.where().copies()) > 1 ? 1 : 0;
    }
    named.put("segments_copied", copied);
    return named;
  }

  /** Segments that belong to a device. */
  long segments(Member member) {
    return segments.values().stream()
        .filter(placed -> has(placed.where().copies(), member))
        .count();
  }
}
