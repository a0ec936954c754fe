package dev.vamana.cuda.devices;

import dev.vamana.cuda.count.Counters;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Which device has which segment. {@link DevicesExecutor} tells of segments that open and close,
 * and calls {@link #round} now and then. Thread-safe.
 *
 * <p>A move uploads the segment to its new device while the old one answers. When it is there, the
 * old device forgets it. A large call whose segments are all on one device asks for copies on
 * another one; copies take only memory that no segment needs.
 */
final class Placements {

  private final List<Member> members;
  private final long together;
  private final Map<SegmentView, Placed> segments = new ConcurrentHashMap<>();
  private final Counters counters = new Counters();
  private final LongAdder moves = counters.add("moves");
  private final LongAdder movedBytes = counters.add("moved_bytes");
  private final LongAdder copies = counters.add("copies");
  private volatile boolean copiesAsked;
  private volatile MemoryLimit limit;

  /**
   * Makes placements without segments.
   *
   * @param limit most memory of each device for segments
   * @param together as of {@link DevicesExecutor.Spread#together}
   */
  Placements(List<Member> members, MemoryLimit limit, long together) {
    this.members = members;
    this.limit = limit;
    this.together = together;
  }

  void limit(MemoryLimit newLimit) {
    limit = newLimit;
  }

  /** Returns a segment, or null if it is not open. */
  Placed get(SegmentView view) {
    return segments.get(view);
  }

  /** Returns the device that answers; the first one for segments that are not open. */
  Member of(SegmentView view) {
    Placed placed = get(view);
    if (placed == null) {
      return members.get(0);
    }
    Member heading = members.get(placed.heading());
    boolean there =
        placed.moves() == false || state(placed, heading) == DevicePresence.State.RESIDENT;
    return there ? heading : members.get(placed.device());
  }

  /** Returns the device whose copy of a segment can answer too, or null. */
  Member copyOf(SegmentView view) {
    Placed placed = get(view);
    int copy = placed == null ? -1 : placed.copy();
    if (copy < 0) {
      return null;
    }
    Member member = members.get(copy);
    return state(placed, member) == DevicePresence.State.RESIDENT ? member : null;
  }

  /** Asks for copies of segments, all on one device, of a large call. The next round makes them. */
  void wantCopies(List<SegmentView> views) {
    for (SegmentView view : views) {
      Placed placed = get(view);
      if (placed != null) {
        placed.wantCopy();
      }
    }
    copiesAsked = true;
  }

  /** Whether a call has asked for copies since the last round. */
  boolean copiesAsked() {
    return copiesAsked;
  }

  private static DevicePresence.State state(Placed placed, Member member) {
    return member.executor().presence(placed.view).state();
  }

  /** Gives an opened segment a device. */
  void opened(SegmentView view) {
    int home;
    List<Runnable> changes = new ArrayList<>();
    synchronized (this) {
      if (segments.containsKey(view)) {
        return;
      }
      home = Math.max(0, choose(view, Placed.estimate(view)));
      segments.put(view, new Placed(view, home));
      dropCopies(changes);
    }
    changes.forEach(Runnable::run);
    members.get(home).executor().opened(view);
  }

  /**
   * Returns the usable device with the most bytes of the segment's family, if the family is small
   * and a tenth of the device stays free; sizes are rough. Otherwise returns the usable device with
   * the most room, or -1.
   */
  private int choose(SegmentView view, long bytes) {
    long[] family = new long[members.size()];
    for (Placed other : segments.values()) {
      if (other.view.family().equals(view.family())) {
        family[other.heading()] += other.bytes();
      }
    }
    int relative = -1;
    long[] room = room();
    for (Member member : members) {
      int d = member.index();
      if (member.executor().usable()) {
        boolean takes = family[d] + bytes <= together && room[d] - bytes >= capacity(member) / 10;
        if (family[d] > 0 && takes && (relative < 0 || family[d] > family[relative])) {
          relative = d;
        }
      }
    }
    return relative >= 0 ? relative : roomiest(room, -1);
  }

  private long capacity(Member member) {
    return limit.of(member.executor().device().totalBytes());
  }

  /** Returns the bytes of each device that no segment takes. */
  private long[] room() {
    long[] room = members.stream().mapToLong(this::capacity).toArray();
    segments.values().forEach(placed -> room[placed.heading()] -= placed.bytes());
    return room;
  }

  /** Forgets a segment. */
  synchronized void closing(SegmentView view) {
    segments.remove(view);
  }

  /** Keeps a segment on its device, or no longer. */
  void keep(Placed placed, boolean wanted) {
    placed.kept = wanted;
    members.get(placed.device()).executor().keep(placed.view, wanted);
    if (placed.moves()) {
      members.get(placed.heading()).executor().keep(placed.view, wanted);
    }
  }

  /**
   * Ends moves that are done and begins others: from lost devices, and back to devices that have
   * returned.
   */
  void round() {
    List<Runnable> changes = new ArrayList<>();
    synchronized (this) {
      List<Placed> all = List.copyOf(segments.values());
      all.forEach(placed -> settle(placed, changes));
      all.forEach(placed -> begin(placed, changes));
      dropCopies(changes);
      copiesAsked = false;
      all.forEach(placed -> copy(placed, changes));
    }
    // without the lock, since a device that frees memory waits for its launches
    changes.forEach(Runnable::run);
  }

  /** Ends a move if the segment has arrived, or cannot. */
  private void settle(Placed placed, List<Runnable> changes) {
    settleCopy(placed, changes);
    Member heading = members.get(placed.heading());
    DevicePresence presence = heading.executor().presence(placed.view);
    placed.measure(presence);
    if (placed.moves() && presence.state() == DevicePresence.State.RESIDENT) {
      Member old = members.get(placed.device());
      placed.arrived();
      changes.add(() -> old.executor().release(placed.view));
    } else if (placed.moves() && presence.state() != DevicePresence.State.WAITING) {
      placed.stays();
      changes.add(() -> heading.executor().release(placed.view));
    }
  }

  /** Forgets a copy that its device has refused or lost. */
  private void settleCopy(Placed placed, List<Runnable> changes) {
    if (placed.hasCopy()) {
      DevicePresence.State state = state(placed, members.get(placed.copy()));
      if (state == DevicePresence.State.REFUSED || state == DevicePresence.State.NO_DEVICE) {
        dropCopy(placed, changes);
      }
    }
  }

  private void dropCopy(Placed placed, List<Runnable> changes) {
    Member member = members.get(placed.copy());
    placed.dropCopy();
    changes.add(() -> member.executor().release(placed.view));
  }

  /** Drops copies from devices that need the memory. */
  private void dropCopies(List<Runnable> changes) {
    long[] room = roomBesideCopies();
    for (Placed placed : segments.values()) {
      int device = placed.copy();
      if (placed.hasCopy() && room[device] < capacity(members.get(device)) / 10) {
        room[device] += placed.bytes();
        dropCopy(placed, changes);
      }
    }
  }

  /**
   * Makes a wanted copy on the device with the most room, if a quarter of the device stays free.
   */
  private void copy(Placed placed, List<Runnable> changes) {
    if (placed.lacksCopy() == false || segments.containsKey(placed.view) == false) {
      return;
    }
    long[] room = roomBesideCopies();
    int roomiest = roomiest(room, placed.device());
    if (roomiest >= 0 && room[roomiest] - placed.bytes() >= capacity(members.get(roomiest)) / 4) {
      placed.copyTo(roomiest);
      copies.increment();
      changes.add(() -> members.get(roomiest).executor().warm(placed.view));
    }
  }

  /** Returns the bytes of each device that neither a segment nor a copy takes. */
  private long[] roomBesideCopies() {
    long[] room = room();
    segments.values().stream()
        .filter(Placed::hasCopy)
        .forEach(placed -> room[placed.copy()] -= placed.bytes());
    return room;
  }

  /** Returns the usable device with the most room but for one, or -1. */
  private int roomiest(long[] room, int except) {
    int roomiest = -1;
    for (Member member : members) {
      int d = member.index();
      if (d != except && member.executor().usable() && (roomiest < 0 || room[d] > room[roomiest])) {
        roomiest = d;
      }
    }
    return roomiest;
  }

  private void begin(Placed placed, List<Runnable> changes) {
    int target = target(placed);
    if (placed.moves() || target == placed.device() || segments.containsKey(placed.view) == false) {
      return;
    }
    if (placed.hasCopy() && placed.copy() != target) {
      dropCopy(placed, changes);
    }
    placed.moveTo(target);
    moves.increment();
    movedBytes.add(placed.bytes());
    changes.add(() -> upload(placed, members.get(target)));
  }

  /**
   * Returns the device where a segment should be. Without a usable device that has room, it waits
   * for its own, and the CPU answers.
   */
  private int target(Placed placed) {
    if (usable(placed.home())) {
      return placed.home();
    }
    if (usable(placed.device())) {
      return placed.device();
    }
    int other = choose(placed.view, placed.bytes());
    return other >= 0 && room()[other] >= placed.bytes() ? other : placed.device();
  }

  private boolean usable(int device) {
    return members.get(device).executor().usable();
  }

  private static void upload(Placed placed, Member member) {
    if (placed.kept) {
      member.executor().keep(placed.view, true);
    }
    member.executor().warm(placed.view);
  }

  /** Returns counts of moves by name. */
  SortedMap<String, Long> counters() {
    return counters.sums();
  }

  /** Returns the number of segments of a device. */
  long segments(Member member) {
    return segments.values().stream().filter(placed -> placed.device() == member.index()).count();
  }
}
