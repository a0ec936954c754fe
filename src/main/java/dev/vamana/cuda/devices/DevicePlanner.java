package dev.vamana.cuda.devices;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * Decides which devices have which segments, so that all devices have the same load. The same input
 * always gives the same plan; nothing else is read or changed. {@link Placements} does what it
 * decides.
 *
 * <p>Load is what MemANNS balances: size times frequency (Chen and others, 2024, section 4.1, there
 * of the clusters of an inverted file over memory units). From it come the order of placing,
 * heaviest first onto the least loaded device with room, and copies of what is too hot for one
 * device. Three things differ. MemANNS places all clusters anew between two batches; here segments
 * have a device already, and a plan changes as few as possible. MemANNS gives each copy an equal
 * share; here a segment gets another copy only if that evens out the load, and copies share as the
 * other segments of their devices require. MemANNS does not bound memory; here a device has a
 * limit. Faiss (Johnson and others, 2017, section 5.4) knows sharding and replication of a whole
 * index; a set of segments with copies of some of them is both at once.
 */
public final class DevicePlanner {

  /** Most devices of a plan. */
  public static final int MOST_DEVICES = 64;

  // parts of the mean load; a change that gains less is not worth an upload
  private static final double LEAST_GAIN = 0.01;
  // a copy costs memory for as long as it stays, a move does not
  private static final double PRICE_OF_A_COPY = 0.02;
  // a segment below this part of the mean load needs no second copy
  private static final double COLD = 0.01;
  // a family is gathered if its devices together are so much less busy than one that gives away;
  // near 1 it would be spread again at once
  private static final double GATHERED = 0.25;

  private final Limits limits;

  /**
   * What bounds a plan.
   *
   * @param tolerance largest load of a device in parts of the mean at which nothing is moved for
   *     balance, above 1
   * @param busy how busy a device is at least whose segments are moved or copied for balance: its
   *     queries would be slower on two devices than on one that has time
   * @param mostMoves most uploads of a plan, segments without a usable device not counted; at least
   *     0
   */
  public record Limits(double tolerance, double busy, int mostMoves) {

    /** A plan every few seconds that moves little at a time. */
    public static final Limits DEFAULT = new Limits(1.05, 0.5, 2);

    public Limits {
      if (tolerance <= 1) {
        throw new IllegalArgumentException("tolerance must be above 1, got " + tolerance);
      }
      if (mostMoves < 0) {
        throw new IllegalArgumentException("mostMoves must be at least 0, got " + mostMoves);
      }
    }
  }

  /**
   * A device.
   *
   * @param usable whether it answers
   * @param capacity most bytes of segments
   * @param busy mean of its work under way in parts of what fills it, where more counts as 1
   */
  public record Device(boolean usable, long capacity, double busy) {}

  /**
   * A segment.
   *
   * @param family equal for segments that the same queries search
   * @param bytes device memory that it takes
   * @param load work per second, in any unit
   * @param copies the devices that have it, bit <i>d</i> for device <i>d</i>; 0 for none yet
   * @param rests whether it was moved so lately that it stays where it is
   */
  public record Segment(Object family, long bytes, double load, long copies, boolean rests) {}

  /**
   * A plan.
   *
   * @param copies the devices of each segment, as {@link Segment#copies}
   * @param loads the load of each device, if copies share as well as they can
   * @param moves uploads, segments without a usable device not counted
   */
  public record Plan(long[] copies, double[] loads, int moves) {}

  /** Makes a planner. */
  public DevicePlanner(Limits limits) {
    this.limits = limits;
  }

  /**
   * Makes a plan. Segments whose devices are all lost get another one, if one has room; otherwise
   * they keep theirs. Then devices above their capacity give segments away, and then the most
   * loaded device gives a segment, or a share of one by a copy, to a less loaded one, until all
   * loads are within the tolerance or {@link Limits#mostMoves} is reached. If the devices have
   * little to do, families are gathered: a query over segments of two devices needs two launches.
   *
   * @param devices 1 to {@value #MOST_DEVICES}
   */
  public Plan plan(List<Device> devices, List<Segment> segments) {
    DeviceDraft draft = new DeviceDraft(devices, segments, limits.busy());
    if (draft.usable() > 0) {
      settle(draft);
      draft.even();
      dropCold(draft);
      makeRoom(draft);
      balance(draft);
      gather(draft);
    }
    return draft.plan();
  }

  /**
   * Returns the device for a segment that was just opened, or -1 without a usable device: with its
   * family, if there is room and time. Otherwise, since the load of a new segment is not known, it
   * goes where load and bytes, each in parts of all, are least.
   */
  public int home(List<Device> devices, List<Segment> segments, Object family, long bytes) {
    DeviceDraft draft = new DeviceDraft(devices, segments, limits.busy());
    draft.even();
    return draft.home(family, bytes, 0);
  }

  /** Gives segments without a usable device one, the heaviest first. */
  private static void settle(DeviceDraft draft) {
    List<Integer> homeless = new ArrayList<>();
    for (int s = 0; s < draft.segments.size(); s++) {
      if (draft.copies[s] == 0) {
        homeless.add(s);
      }
    }
    homeless.sort(
        Comparator.comparingDouble((Integer s) -> -draft.segments.get(s).load())
            .thenComparingLong(s -> -draft.segments.get(s).bytes()));
    for (int s : homeless) {
      Segment segment = draft.segments.get(s);
      int home = draft.home(segment.family(), segment.bytes(), segment.load());
      if (segment.copies() == 0 || draft.fits(s, home)) {
        draft.add(s, home);
      } else {
        // it waits for its device, and the CPU answers meanwhile
        draft.copies[s] = segment.copies();
      }
    }
  }

  /** Removes copies of segments that are hardly searched any more. */
  private static void dropCold(DeviceDraft draft) {
    for (int s = 0; s < draft.segments.size(); s++) {
      Segment segment = draft.segments.get(s);
      while (segment.rests() == false
          && draft.usable(draft.copies[s]) > 1
          && segment.load() < COLD * draft.mean()) {
        draft.remove(s, draft.mostLoaded(draft.copies[s]));
      }
    }
  }

  /** Moves segments from devices above their capacity, the least searched first. */
  private void makeRoom(DeviceDraft draft) {
    for (int d = 0; d < draft.devices.size(); d++) {
      Integer[] coldest = draft.on(d);
      int device = d;
      Arrays.sort(coldest, Comparator.comparingDouble(s -> draft.load(s, device)));
      for (int s : coldest) {
        if (draft.devices.get(d).usable() == false || draft.overfull(d) == false) {
          break;
        }
        if (draft.segments.get(s).rests()) {
          continue;
        }
        if (Long.bitCount(draft.copies[s]) > 1) {
          draft.remove(s, d);
        } else if (draft.moves < limits.mostMoves()) {
          Segment segment = draft.segments.get(s);
          int other = draft.home(segment.family(), segment.bytes(), segment.load());
          if (other != d && draft.fits(s, other)) {
            draft.move(s, d, other);
          }
        }
      }
    }
  }

  /** Brings segments of a family together that are on several devices, if these have time. */
  private void gather(DeviceDraft draft) {
    for (int s = 0; s < draft.segments.size() && draft.moves < limits.mostMoves(); s++) {
      Segment segment = draft.segments.get(s);
      int home = draft.home(segment.family());
      if (segment.rests()
          || home < 0
          || draft.isAlone(s)
          || draft.busy(segment.family()) > GATHERED * limits.busy()
          || draft.copies[s] == 1L << home
          || draft.usable(draft.copies[s]) == 0) {
        continue;
      }
      if ((draft.copies[s] >>> home & 1) == 0) {
        if (draft.takes(home, segment.bytes()) == false) {
          continue;
        }
        draft.move(s, Long.numberOfTrailingZeros(draft.copies[s]), home);
      }
      for (long others = draft.copies[s] & ~(1L << home); others != 0; others &= others - 1) {
        draft.remove(s, Long.numberOfTrailingZeros(others));
      }
    }
  }

  private void balance(DeviceDraft draft) {
    while (draft.moves < limits.mostMoves()) {
      int hot = draft.mostLoaded(-1L);
      if (draft.loads[hot] <= limits.tolerance() * draft.mean()
          || draft.devices.get(hot).busy() < limits.busy()) {
        return;
      }
      Step best = best(draft, hot);
      if (best == null) {
        return;
      }
      if (best.copy) {
        draft.add(best.segment, best.to);
        draft.moves++;
      } else {
        draft.move(best.segment, hot, best.to);
      }
      draft.even();
    }
  }

  /** One change. {@code result} is the larger load of the two devices then. */
  private record Step(int segment, int to, boolean copy, double result) {}

  private static Step best(DeviceDraft draft, int hot) {
    double mean = draft.mean();
    Step best = null;
    double least = draft.loads[hot] - LEAST_GAIN * mean;
    for (int s : draft.on(hot)) {
      double load = draft.load(s, hot);
      if (draft.segments.get(s).rests() || load <= 0) {
        continue;
      }
      for (int to = 0; to < draft.devices.size(); to++) {
        if (draft.fits(s, to) == false || draft.loads[to] >= mean) {
          continue;
        }
        double move = Math.max(draft.loads[hot] - load, draft.loads[to] + load);
        double given = Math.min(load, Math.min(draft.loads[hot] - mean, mean - draft.loads[to]));
        double copy = Math.max(draft.loads[hot] - given, draft.loads[to] + given);
        boolean copies = copy + PRICE_OF_A_COPY * mean < move;
        double result = copies ? copy + PRICE_OF_A_COPY * mean : move;
        boolean lighter =
            best != null
                && result == least
                && draft.segments.get(s).bytes() < draft.segments.get(best.segment).bytes();
        if (result < least || lighter) {
          least = result;
          best = new Step(s, to, copies, result);
        }
      }
    }
    return best;
  }
}
