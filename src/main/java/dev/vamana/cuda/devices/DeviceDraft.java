package dev.vamana.cuda.devices;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** A plan while {@link DevicePlanner} makes it: copies, their shares of the load, and sums. */
final class DeviceDraft {

  private static final int MOST_ROUNDS = 200;
  private static final double EVEN = 1e-9;

  final List<DevicePlanner.Device> devices;
  final List<DevicePlanner.Segment> segments;
  final long[] copies;
  final double[] loads;
  int moves;
  private final double[][] shares;
  private final long[] bytes;
  private final double total;
  private final double full;
  private final Map<Object, List<Integer>> families = new HashMap<>();

  /**
   * A draft of the present state, without copies on lost devices unless all are lost.
   *
   * @param busy how busy a device is that gets no further segments of a family
   */
  DeviceDraft(
      List<DevicePlanner.Device> devices, List<DevicePlanner.Segment> segments, double busy) {
    if (devices.isEmpty() || devices.size() > DevicePlanner.MOST_DEVICES) {
      throw new IllegalArgumentException(
          "devices must be 1 to " + DevicePlanner.MOST_DEVICES + ", got " + devices.size());
    }
    this.devices = devices;
    this.segments = segments;
    full = busy;
    copies = new long[segments.size()];
    shares = new double[segments.size()][devices.size()];
    loads = new double[devices.size()];
    bytes = new long[devices.size()];
    total = segments.stream().mapToDouble(DevicePlanner.Segment::load).sum();
    for (int s = 0; s < copies.length; s++) {
      families.computeIfAbsent(segments.get(s).family(), f -> new ArrayList<>()).add(s);
      for (int d = 0; d < devices.size(); d++) {
        if (has(segments.get(s).copies(), d) && (devices.get(d).usable() || usable() == 0)) {
          add(s, d);
        }
      }
    }
  }

  private static boolean has(long mask, int device) {
    return (mask >>> device & 1) != 0;
  }

  int usable() {
    return (int) devices.stream().filter(DevicePlanner.Device::usable).count();
  }

  /** Returns how many devices of a mask are usable. */
  int usable(long among) {
    return (int)
        IntStream.range(0, devices.size())
            .filter(d -> has(among, d) && devices.get(d).usable())
            .count();
  }

  /** Mean load of the usable devices. */
  double mean() {
    return total / Math.max(1, usable());
  }

  double load(int segment, int device) {
    return shares[segment][device];
  }

  boolean overfull(int device) {
    return bytes[device] > devices.get(device).capacity();
  }

  /** Whether a usable device has room for a copy of a segment that it does not have. */
  boolean fits(int segment, int device) {
    return devices.get(device).usable()
        && has(copies[segment], device) == false
        && bytes[device] + segments.get(segment).bytes() <= devices.get(device).capacity();
  }

  /** Segments of a device, in order. */
  Integer[] on(int device) {
    return IntStream.range(0, copies.length)
        .filter(s -> has(copies[s], device))
        .boxed()
        .toArray(Integer[]::new);
  }

  /** The usable device with the most load among those of a mask; the first of equals. */
  int mostLoaded(long among) {
    int most = -1;
    for (int d = 0; d < loads.length; d++) {
      if (devices.get(d).usable() && has(among, d) && (most < 0 || loads[d] > loads[most])) {
        most = d;
      }
    }
    return most;
  }

  /** Whether no other segment is of its family. */
  boolean isAlone(int segment) {
    return families.get(segments.get(segment).family()).size() == 1;
  }

  /** How busy the usable devices that have a family's segments are together. */
  double busy(Object family) {
    long own = 0;
    for (int s : families.get(family)) {
      own |= copies[s];
    }
    long among = own;
    return IntStream.range(0, devices.size())
        .filter(d -> has(among, d) && devices.get(d).usable())
        .mapToDouble(d -> devices.get(d).busy())
        .sum();
  }

  /** The usable device with the most bytes of a family's segments, the first of equals; or -1. */
  int home(Object family) {
    long[] own = new long[devices.size()];
    for (int s : families.getOrDefault(family, List.of())) {
      for (int d = 0; d < own.length; d++) {
        if (has(copies[s], d)) {
          own[d] += segments.get(s).bytes();
        }
      }
    }
    int home = -1;
    for (int d = 0; d < own.length; d++) {
      if (own[d] > 0 && devices.get(d).usable() && (home < 0 || own[d] > own[home])) {
        home = d;
      }
    }
    return home;
  }

  /**
   * Returns the device of the segment's family, if that has room and is not busy. Otherwise the
   * usable device where load and bytes, each in parts of all, are least; one with room if there is
   * one. Returns -1 without a usable device.
   */
  int home(Object family, long segmentBytes, double load) {
    int home = home(family);
    return home >= 0 && devices.get(home).busy() < full && takes(home, segmentBytes)
        ? home
        : leastUsed(segmentBytes, load);
  }

  /**
   * Whether a tenth of the device stays free; sizes of segments that were just opened are rough.
   */
  boolean takes(int device, long segmentBytes) {
    long capacity = devices.get(device).capacity();
    return bytes[device] + segmentBytes <= capacity - capacity / 10;
  }

  private int leastUsed(long segmentBytes, double load) {
    long allBytes = Math.max(1, IntStream.range(0, bytes.length).mapToLong(d -> bytes[d]).sum());
    double allLoads = total > 0 ? total : 1;
    int best = -1;
    boolean roomy = false;
    double least = 0;
    for (int d = 0; d < loads.length; d++) {
      if (devices.get(d).usable() == false) {
        continue;
      }
      boolean room = bytes[d] + segmentBytes <= devices.get(d).capacity();
      double cost =
          load > 0 ? loads[d] / allLoads : loads[d] / allLoads + bytes[d] / (double) allBytes;
      if (best < 0 || (room && roomy == false) || (room == roomy && cost < least)) {
        best = d;
        roomy = room;
        least = cost;
      }
    }
    return best;
  }

  /** Adds a copy; it takes all load of a segment that had none, and nothing otherwise. */
  void add(int segment, int device) {
    boolean first = copies[segment] == 0;
    copies[segment] |= 1L << device;
    bytes[device] += segments.get(segment).bytes();
    if (first) {
      give(segment, device, segments.get(segment).load());
    }
  }

  /** Removes a copy; the first other copy takes its load. */
  void remove(int segment, int device) {
    double load = shares[segment][device];
    give(segment, device, -load);
    copies[segment] &= ~(1L << device);
    bytes[device] -= segments.get(segment).bytes();
    if (copies[segment] != 0) {
      give(segment, Long.numberOfTrailingZeros(copies[segment]), load);
    }
  }

  /** Moves a copy with its load. */
  void move(int segment, int from, int to) {
    double load = shares[segment][from];
    copies[segment] |= 1L << to;
    bytes[to] += segments.get(segment).bytes();
    give(segment, to, load);
    give(segment, from, -load);
    copies[segment] &= ~(1L << from);
    bytes[from] -= segments.get(segment).bytes();
    moves++;
  }

  private void give(int segment, int device, double load) {
    shares[segment][device] += load;
    loads[device] += load;
  }

  /**
   * Shares the load of copies so that devices are as even as the copies allow. Each step evens two
   * devices that have the same segment; the sum of the squares of all loads falls with each, and
   * where it cannot fall the largest load is the least possible.
   */
  void even() {
    for (int round = 0; round < MOST_ROUNDS; round++) {
      double most = 0;
      for (int s = 0; s < copies.length; s++) {
        if (Long.bitCount(copies[s]) > 1) {
          most = Math.max(most, even(s));
        }
      }
      if (most <= EVEN * mean()) {
        return;
      }
    }
  }

  private double even(int segment) {
    double most = 0;
    for (int a = 0; a < loads.length; a++) {
      for (int b = 0; b < loads.length; b++) {
        if (has(copies[segment], a) && has(copies[segment], b) && loads[a] > loads[b]) {
          double moved = Math.min(shares[segment][a], (loads[a] - loads[b]) / 2);
          give(segment, a, -moved);
          give(segment, b, moved);
          most = Math.max(most, moved);
        }
      }
    }
    return most;
  }

  DevicePlanner.Plan plan() {
    return new DevicePlanner.Plan(copies, loads, moves);
  }
}
