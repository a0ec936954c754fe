package dev.vamana.cuda.devices;

import com.carrotsearch.randomizedtesting.generators.RandomNumbers;
import dev.vamana.cuda.devices.DevicePlanner.Device;
import dev.vamana.cuda.devices.DevicePlanner.Limits;
import dev.vamana.cuda.devices.DevicePlanner.Plan;
import dev.vamana.cuda.devices.DevicePlanner.Segment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Loads of simulated devices under {@link DevicePlanner}. */
public class DevicePlannerTests extends LuceneTestCase {

  private static final long ROOM = Long.MAX_VALUE / 4;
  private static final double FADES = Math.exp(-1 / 12.0);
  private static final double TOLERANCE = Limits.DEFAULT.tolerance();

  /**
   * Vectors and searches a second of 24 segments: drawn once from log-normal distributions with
   * deviation 1, as in the simulation of MemANNS' placement.
   */
  private static final int[][] RECORDED = {
    {103_058, 93}, {52_219, 108}, {265_020, 665}, {583_111, 469}, {241_880, 48}, {3_205, 57},
    {240_914, 23}, {145_343, 122}, {56_474, 685}, {374_217, 1_691}, {17_280, 68}, {35_036, 566},
    {32_447, 56}, {113_436, 36}, {73_112, 508}, {104_889, 409}, {116_388, 179}, {70_845, 583},
    {305_844, 1_518}, {923_463, 251}, {194_246, 146}, {30_212, 161}, {43_925, 55}, {256_493, 28}
  };

  /** A segment that no query searches with another. */
  private static Segment segment(long bytes, double load, long copies, boolean rests) {
    return new Segment(new Object(), bytes, load, copies, rests);
  }

  private static double recordedLoad(int segment) {
    return (double) RECORDED[segment][0] * RECORDED[segment][1];
  }

  private static List<Device> devices(int count, long capacity) {
    return new ArrayList<>(Collections.nCopies(count, new Device(true, capacity, 1)));
  }

  private static double roundRobin(int devices) {
    double[] loads = new double[devices];
    for (int s = 0; s < RECORDED.length; s++) {
      loads[s % devices] += recordedLoad(s);
    }
    return Arrays.stream(loads).max().getAsDouble() / Arrays.stream(loads).average().getAsDouble();
  }

  /** Segments as they are opened: with bytes, without load. */
  private static List<Segment> opened(DevicePlanner planner, List<Device> devices) {
    List<Segment> segments = new ArrayList<>();
    for (int[] recorded : RECORDED) {
      int home = planner.home(devices, segments, new Object(), recorded[0]);
      segments.add(segment(recorded[0], 0, 1L << home, false));
    }
    return segments;
  }

  /**
   * Plans again and again, with loads that differ from the recorded ones by up to a share in each
   * round, and fade over a minute of rounds as those of {@link Placed} do.
   */
  private static final class Rounds {
    final List<Device> devices;
    List<Segment> segments;
    Plan last;
    int moves;
    private final double[] faded = new double[RECORDED.length];

    Rounds(List<Device> devices, List<Segment> segments) {
      this.devices = devices;
      this.segments = segments;
    }

    void run(DevicePlanner planner, int rounds, double noise, Random random) {
      for (int round = 0; round < rounds; round++) {
        List<Segment> measured = new ArrayList<>();
        for (int s = 0; s < segments.size(); s++) {
          double now = recordedLoad(s) * (1 + noise * (2 * random.nextDouble() - 1));
          double load = faded[s] == 0 ? now : FADES * faded[s] + (1 - FADES) * now;
          faded[s] = load;
          Segment segment = segments.get(s);
          measured.add(segment(segment.bytes(), load, segment.copies(), false));
        }
        last = planner.plan(devices, measured);
        assertTrue(last.moves() <= Limits.DEFAULT.mostMoves());
        moves += last.moves();
        for (int s = 0; s < measured.size(); s++) {
          Segment segment = measured.get(s);
          measured.set(s, segment(segment.bytes(), segment.load(), last.copies()[s], false));
        }
        segments = measured;
      }
    }

    long copies() {
      return segments.stream().mapToLong(segment -> Long.bitCount(segment.copies())).sum();
    }
  }

  /** The largest load in parts of the mean over the usable devices; 1 without load. */
  private static double imbalance(Plan plan, List<Device> devices) {
    double most = 0;
    double total = 0;
    int usable = 0;
    for (int d = 0; d < devices.size(); d++) {
      if (devices.get(d).usable()) {
        most = Math.max(most, plan.loads()[d]);
        total += plan.loads()[d];
        usable++;
      }
    }
    return total == 0 ? 1 : most * usable / total;
  }

  public void testSkewedLoadsAreEven() {
    double[] roundRobin = {1.23, 1.33, 2.62};
    int[] counts = {2, 4, 8};
    for (int i = 0; i < counts.length; i++) {
      assertEquals(roundRobin[i], roundRobin(counts[i]), 0.01);
      DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
      List<Device> devices = devices(counts[i], ROOM);
      Rounds rounds = new Rounds(devices, opened(planner, devices));
      rounds.run(planner, 40, 0, random());
      double imbalance = imbalance(rounds.last, devices);
      assertTrue(counts[i] + " devices: " + imbalance, imbalance <= TOLERANCE);
      assertTrue(
          counts[i] + " devices, copies: " + rounds.copies(),
          rounds.copies() < RECORDED.length + counts[i]);
      int before = rounds.moves;
      rounds.run(planner, 10, 0, random());
      assertEquals("nothing moves when loads are even", before, rounds.moves);
      // a move takes its segment where it stays
      assertTrue(counts[i] + " devices, moves: " + before, before <= RECORDED.length);
    }
  }

  public void testLoadsThatWaverDoNotThrash() {
    for (int count : new int[] {2, 4, 8}) {
      DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
      List<Device> devices = devices(count, ROOM);
      Rounds rounds = new Rounds(devices, opened(planner, devices));
      rounds.run(planner, 40, 0, random());
      int before = rounds.moves;
      rounds.run(planner, 500, 0.3, random());
      // copies shift load without a move; a few are made until they are enough
      assertTrue(
          count + " devices: " + (rounds.moves - before), rounds.moves - before <= 2 * count);
    }
  }

  public void testOneSegmentIsCopiedToAll() {
    for (int count : new int[] {2, 4, 8}) {
      DevicePlanner planner = new DevicePlanner(new Limits(1.05, 0.5, 64));
      List<Device> devices = devices(count, 1_000);
      Plan plan = planner.plan(devices, List.of(segment(900, 5, 1, false)));
      assertEquals((1L << count) - 1, plan.copies()[0]);
      assertEquals(1, imbalance(plan, devices), 1e-6);
      assertEquals(count - 1, plan.moves());
    }
  }

  public void testIdleDevicesAndFullOnesAreLeftAlone() {
    DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
    List<Segment> one = List.of(segment(900, 5, 1, false));
    List<Device> idle = Collections.nCopies(2, new Device(true, 1_000, 0.1));
    assertEquals(1, planner.plan(idle, one).copies()[0]);
    List<Device> small = List.of(new Device(true, 1_000, 1), new Device(true, 800, 1));
    assertEquals(1, planner.plan(small, one).copies()[0]);
    List<Segment> resting = List.of(segment(900, 5, 1, true));
    assertEquals(1, planner.plan(devices(2, 1_000), resting).copies()[0]);
  }

  public void testALostDevicesSegmentsMoveAtOnce() {
    DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
    List<Device> devices = devices(4, ROOM);
    Rounds rounds = new Rounds(devices, opened(planner, devices));
    rounds.run(planner, 40, 0, random());
    int lost = RandomNumbers.randomIntBetween(random(), 0, 3);
    devices.set(lost, new Device(false, ROOM, 0));
    rounds.run(planner, 1, 0, random());
    for (Segment segment : rounds.segments) {
      assertNotEquals(0, segment.copies());
      assertEquals(0, segment.copies() >>> lost & 1);
    }
    rounds.run(planner, 40, 0, random());
    assertTrue(imbalance(rounds.last, devices) <= TOLERANCE);
    devices.set(lost, new Device(true, ROOM, 1));
    rounds.run(planner, 40, 0, random());
    assertTrue(rounds.last.loads()[lost] > 0);
    assertTrue(imbalance(rounds.last, devices) <= TOLERANCE);
  }

  public void testWithoutADeviceAllStays() {
    DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
    List<Device> none = Collections.nCopies(2, new Device(false, ROOM, 0));
    Plan plan = planner.plan(none, List.of(segment(9, 5, 2, false), segment(9, 5, 0, false)));
    assertArrayEquals(new long[] {2, 0}, plan.copies());
    assertEquals(-1, planner.home(none, List.of(), "f", 1));
  }

  public void testASetLargerThanADeviceIsSpread() {
    DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
    long all = Arrays.stream(RECORDED).mapToLong(recorded -> recorded[0]).sum();
    List<Device> devices = devices(2, all * 55 / 100);
    assertFits(devices, opened(planner, devices));
    // all on the first, as after the loss of the second
    List<Segment> crowded = new ArrayList<>();
    for (int[] recorded : RECORDED) {
      crowded.add(segment(recorded[0], 0, 1, false));
    }
    Rounds rounds = new Rounds(devices, crowded);
    rounds.run(planner, 40, 0, random());
    assertFits(devices, rounds.segments);
  }

  private static void assertFits(List<Device> devices, List<Segment> segments) {
    for (int d = 0; d < devices.size(); d++) {
      int device = d;
      long bytes =
          segments.stream()
              .filter(segment -> (segment.copies() >>> device & 1) != 0)
              .mapToLong(Segment::bytes)
              .sum();
      assertTrue(bytes + " on " + devices.get(d), bytes <= devices.get(d).capacity());
    }
  }

  public void testCopiesOfColdSegmentsGo() {
    DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
    List<Device> devices = devices(2, 1_000);
    List<Segment> segments =
        List.of(segment(300, 0, 3, false), segment(300, 10, 1, false), segment(300, 10, 2, false));
    Plan plan = planner.plan(devices, segments);
    assertEquals(1, Long.bitCount(plan.copies()[0]));
    assertEquals(0, plan.moves());
  }

  /** Segments of families that were opened one after the other, with a load for each. */
  private static List<Segment> families(List<Device> devices, int families, int each, double load) {
    DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
    List<Segment> segments = new ArrayList<>();
    for (int s = 0; s < families * each; s++) {
      String family = "shard " + s % families;
      long bytes = 90 + random().nextInt(20);
      int home = planner.home(devices, segments, family, bytes);
      segments.add(new Segment(family, bytes, 0, 1L << home, false));
    }
    segments.replaceAll(s -> new Segment(s.family(), s.bytes(), load, s.copies(), false));
    return segments;
  }

  private static List<Device> busy(int count, double busy) {
    return Collections.nCopies(count, new Device(true, ROOM, busy));
  }

  private static List<Segment> planned(Plan plan, List<Segment> segments) {
    List<Segment> after = new ArrayList<>();
    for (int s = 0; s < segments.size(); s++) {
      Segment segment = segments.get(s);
      after.add(
          new Segment(segment.family(), segment.bytes(), segment.load(), plan.copies()[s], false));
    }
    return after;
  }

  /** Returns how many devices have segments of a family. */
  private static long spread(List<Segment> segments, Object family) {
    long devices = 0;
    for (Segment segment : segments) {
      devices |= segment.family().equals(family) ? segment.copies() : 0;
    }
    return Long.bitCount(devices);
  }

  public void testAFamilyStaysTogetherUntilItsDeviceIsBusy() {
    DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
    List<Segment> segments = families(busy(2, 0), 1, 8, 1);
    assertEquals(1, spread(segments, "shard 0"));
    assertArrayEquals(
        segments.stream().mapToLong(Segment::copies).toArray(),
        planner.plan(busy(2, 0.45), segments).copies());
    List<Device> devices = List.of(new Device(true, ROOM, 1), new Device(true, ROOM, 0));
    Plan plan = null;
    for (int round = 0; round < 4; round++) {
      plan = planner.plan(devices, segments);
      segments = planned(plan, segments);
    }
    assertTrue(imbalance(plan, devices) <= TOLERANCE);
    // the same load, now on both: nothing is gathered, and nothing moves
    Plan even = planner.plan(busy(2, 0.9), segments);
    assertArrayEquals(plan.copies(), even.copies());
    assertArrayEquals(plan.copies(), planner.plan(busy(2, 0.2), segments).copies());
    for (int round = 0; round < 8; round++) {
      plan = planner.plan(busy(2, 0.06), segments);
      assertTrue(plan.moves() <= Limits.DEFAULT.mostMoves());
      segments = planned(plan, segments);
    }
    assertEquals(1, spread(segments, "shard 0"));
  }

  /** What other devices do is no reason to leave a family on two. */
  public void testAFamilyIsGatheredBesideDevicesOfOthers() {
    DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
    int count = RandomNumbers.randomIntBetween(random(), 4, 8);
    List<Segment> segments = new ArrayList<>();
    for (int s = 0; s < 6; s++) {
      segments.add(new Segment("spread", 9, 1, 1L << s % 2, false));
    }
    List<Device> devices = new ArrayList<>(busy(2, 0.05));
    for (int d = 2; d < count; d++) {
      devices.add(new Device(true, ROOM, 0.3));
      segments.add(new Segment("shard " + d, 9, 6, 1L << d, false));
    }
    for (int round = 0; round < 8; round++) {
      segments = planned(planner.plan(devices, segments), segments);
    }
    assertEquals(1, spread(segments, "spread"));
  }

  public void testFamiliesAreSharedAmongDevices() {
    int count = RandomNumbers.randomIntBetween(random(), 2, 8);
    List<Segment> segments = families(busy(count, 0), 2 * count, 5, 0);
    long[] on = new long[count];
    for (int family = 0; family < 2 * count; family++) {
      assertEquals(1, spread(segments, "shard " + family));
    }
    for (Segment segment : segments) {
      on[Long.numberOfTrailingZeros(segment.copies())]++;
    }
    for (long each : on) {
      assertTrue(Arrays.toString(on), each > 0);
    }
  }

  public void testABusyDeviceGetsNoMoreOfItsFamily() {
    List<Device> devices = List.of(new Device(true, ROOM, 1), new Device(true, ROOM, 0));
    List<Segment> one = List.of(new Segment("shard", 9, 5, 1, false));
    DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
    assertEquals(1, planner.home(devices, one, "shard", 9));
    assertEquals(0, planner.home(busy(2, 0), one, "shard", 9));
  }

  public void testAFamilyLargerThanADeviceIsSpread() {
    List<Device> devices = Collections.nCopies(2, new Device(true, 600, 0));
    List<Segment> segments = families(devices, 1, 8, 0);
    assertEquals(2, spread(segments, "shard 0"));
    assertFits(devices, segments);
    DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
    for (int round = 0; round < 20; round++) {
      segments = planned(planner.plan(devices, segments), segments);
      assertFits(devices, segments);
    }
    assertEquals(0, planner.plan(devices, segments).moves());
  }

  public void testALostDevicesFamilyStaysTogether() {
    List<Segment> segments = families(busy(3, 0), 3, 4, 1);
    List<Device> devices = new ArrayList<>(busy(3, 0.1));
    int lost = Long.numberOfTrailingZeros(segments.get(0).copies());
    devices.set(lost, new Device(false, ROOM, 0));
    segments = planned(new DevicePlanner(Limits.DEFAULT).plan(devices, segments), segments);
    for (int family = 0; family < 3; family++) {
      assertEquals(1, spread(segments, "shard " + family));
    }
    assertTrue(segments.stream().noneMatch(segment -> segment.copies() == 1L << lost));
  }

  /**
   * The load of a family wavers around what fills a device, and what a device has under way follows
   * the load that it has by the plan.
   */
  public void testALoadNearTheLimitDoesNotThrash() {
    DevicePlanner planner = new DevicePlanner(Limits.DEFAULT);
    List<Segment> segments = families(busy(2, 0), 1, 8, 1);
    double[] busy = {1, 0};
    int moves = 0;
    for (int round = 0; round < 500; round++) {
      double all = 0.6 + random().nextDouble();
      double[] loads = new double[2];
      List<Device> devices =
          List.of(new Device(true, ROOM, busy[0]), new Device(true, ROOM, busy[1]));
      Plan plan = planner.plan(devices, segments);
      segments = planned(plan, segments);
      moves += plan.moves();
      double sum = plan.loads()[0] + plan.loads()[1];
      for (int d = 0; d < 2; d++) {
        loads[d] = all * plan.loads()[d] / sum;
        busy[d] = FADES * busy[d] + (1 - FADES) * Math.min(1, loads[d]);
      }
    }
    assertTrue(moves + " moves", moves <= 8);
  }

  public void testAnyStateStaysWithinBounds() {
    for (int run = 0; run < 200; run++) {
      int count = RandomNumbers.randomIntBetween(random(), 1, 8);
      List<Device> devices = new ArrayList<>();
      for (int d = 0; d < count; d++) {
        devices.add(
            new Device(random().nextInt(5) > 0, random().nextInt(5_000), random().nextDouble()));
      }
      List<Segment> segments = new ArrayList<>();
      int size = random().nextInt(30);
      for (int s = 0; s < size; s++) {
        double load = random().nextBoolean() ? 0 : Math.exp(random().nextGaussian());
        long copies = random().nextInt(3) == 0 ? 0 : random().nextLong() & ((1L << count) - 1);
        Object family = random().nextInt(6);
        segments.add(
            new Segment(family, random().nextInt(2_000), load, copies, random().nextBoolean()));
      }
      int most = random().nextInt(4);
      DevicePlanner planner = new DevicePlanner(new Limits(1.05, 0.5, most));
      Plan plan = planner.plan(devices, segments);
      assertArrayEquals(plan.copies(), planner.plan(devices, segments).copies());
      assertTrue(plan.moves() <= most);
      boolean any = devices.stream().anyMatch(Device::usable);
      boolean[] waiting = new boolean[size];
      double load = 0;
      for (int s = 0; s < size; s++) {
        if (any) {
          assertNotEquals(0, plan.copies()[s]);
        }
        for (int d = 0; d < count; d++) {
          boolean lost = devices.get(d).usable() == false;
          if (any && lost && (plan.copies()[s] >>> d & 1) != 0) {
            // no other has room
            assertEquals(segments.get(s).copies(), plan.copies()[s]);
            waiting[s] = true;
          }
        }
        load += waiting[s] ? 0 : segments.get(s).load();
      }
      assertEquals(any ? load : 0, any ? Arrays.stream(plan.loads()).sum() : 0, 1e-6 * (1 + load));
    }
  }
}
