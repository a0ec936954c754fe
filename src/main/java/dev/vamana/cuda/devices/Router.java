package dev.vamana.cuda.devices;

import dev.vamana.ivf.ListShape;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Chooses the device of each item of a call, as MemANNS schedules queries (Chen and others, 2024,
 * algorithm 2): first the items of segments that one device has, then the items of copied segments,
 * those with the most work first, each on the device with the least to do. A group of items of one
 * copied segment is divided among its devices; a small one is not, since a launch costs as much as
 * many items. Thread-safe. {@link Calls} sends the parts.
 */
final class Router {

  /** Least number of items of a copied segment that make a part of their own. */
  static final int LEAST_PART = 16;

  // parts of a group for each device: more follow the load of the devices closer
  private static final int PARTS = 8;

  // estimates from codes that take as long as the distance of two vectors: a code has one bit of
  // each component
  private static final int ESTIMATES_OF_DISTANCE = 8;

  private final List<Member> members;
  private final Placements placements;

  Router(List<Member> members, Placements placements) {
    this.members = members;
    this.placements = placements;
  }

  /**
   * The part of a call that goes to a device.
   *
   * @param positions positions of the items in the call
   * @param work distances times components
   */
  record Part(Member member, List<Integer> positions, long work) {}

  /** Items of one segment, and the devices that may answer them. */
  private record Group(Placed placed, long candidates, List<Integer> positions, long each) {
    long work() {
      return each * positions.size();
    }
  }

  /** Returns the device for a call of one item. */
  Part route(WorkItem item) {
    Group group = group(item);
    count(group, 1);
    return new Part(leastLoaded(group.candidates, new long[members.size()]), null, group.each);
  }

  /** Returns the parts of a call of several items; each position is in one part. */
  List<Part> route(List<WorkItem> batch) {
    Map<SegmentView, Group> groups = new HashMap<>();
    List<Group> inOrder = new ArrayList<>();
    Group last = null;
    for (int i = 0; i < batch.size(); i++) {
      WorkItem item = batch.get(i);
      if (last == null || batch.get(i - 1).segment().equals(item.segment()) == false) {
        last = groups.get(item.segment());
        if (last == null) {
          last = group(item);
          groups.put(item.segment(), last);
          inOrder.add(last);
        }
      }
      last.positions.add(i);
    }
    return parts(inOrder);
  }

  private List<Part> parts(List<Group> groups) {
    List<List<Integer>> positions = new ArrayList<>();
    for (int d = 0; d < members.size(); d++) {
      positions.add(new ArrayList<>());
    }
    long[] given = new long[members.size()];
    groups.sort(
        Comparator.comparing((Group group) -> Long.bitCount(group.candidates) > 1)
            .thenComparingLong(group -> -group.work()));
    for (Group group : groups) {
      count(group, group.positions.size());
      int size = group.positions.size();
      int devices = Long.bitCount(group.candidates);
      boolean whole = devices == 1 || size < 2 * LEAST_PART;
      int part = whole ? size : Math.max(LEAST_PART, size / (PARTS * devices));
      for (int from = 0; from < size; ) {
        int to = Math.min(size, from + part);
        Member member = whole ? together(group.candidates, given) : null;
        if (member == null) {
          member = leastLoaded(group.candidates, given);
        }
        positions.get(member.index).addAll(group.positions.subList(from, to));
        given[member.index] += group.each * (to - from);
        from = to;
      }
    }
    List<Part> parts = new ArrayList<>();
    for (Member member : members) {
      if (positions.get(member.index).isEmpty() == false) {
        parts.add(new Part(member, positions.get(member.index), given[member.index]));
      }
    }
    return parts;
  }

  private static void count(Group group, int items) {
    if (group.placed != null) {
      group.placed.work.add(group.each * items);
    }
  }

  private Group group(WorkItem item) {
    Placed placed = placements.get(item.segment());
    long work = (long) Math.max(1, distances(item) * item.segment().dimension());
    return new Group(placed, candidates(item.segment(), placed), new ArrayList<>(), work);
  }

  /** Returns the distances that an item is expected to take. */
  private static double distances(WorkItem item) {
    if (item.segment().lists() == null) {
      return CpuExecutor.expectedVisits(item);
    }
    ListShape shape = item.segment().lists().shape();
    double searched = CpuExecutor.expectedLists(item);
    return shape.lists() + searched * shape.size() / shape.lists() / ESTIMATES_OF_DISTANCE;
  }

  /**
   * Returns the devices that may answer a segment's items: those that have it now; else a usable
   * one that it belongs to; else one that it belongs to, whose executor asks the CPU. Segments that
   * were not opened, or have been closed, go to the first device.
   */
  long candidates(SegmentView view, Placed placed) {
    if (placed == null) {
      return 1;
    }
    Placed.Where where = placed.where();
    if (Long.bitCount(where.all()) == 1) {
      return where.all();
    }
    long resident = 0;
    long usable = 0;
    for (Member member : members) {
      if (Placements.has(where.all(), member) && member.executor.usable()) {
        usable |= 1L << member.index;
        if (member.executor.presence(view).state() == DevicePresence.State.RESIDENT) {
          resident |= 1L << member.index;
        }
      }
    }
    if (resident != 0) {
      return resident;
    }
    long there = (usable & where.copies()) != 0 ? usable & where.copies() : where.copies();
    return Long.lowestOneBit(there);
  }

  /** Returns a device that the call uses already and that has time, or null. */
  private Member together(long candidates, long[] given) {
    for (Member member : members) {
      if (Placements.has(candidates, member)
          && given[member.index] > 0
          && member.pending() + given[member.index] < member.full()) {
        return member;
      }
    }
    return null;
  }

  private Member leastLoaded(long candidates, long[] given) {
    Member best = null;
    long least = Long.MAX_VALUE;
    for (Member member : members) {
      if (Placements.has(candidates, member)) {
        long load = member.pending() + given[member.index];
        if (best == null || load < least) {
          best = member;
          least = load;
        }
      }
    }
    return best;
  }
}
