package dev.vamana.cuda.regime;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.SortedMap;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Has a controller choose on nodes in simulated time, which need not wait for it. */
public class ControllerTests extends LuceneTestCase {

  private static final int[] CLIENTS = {1, 8, 32, 64};

  /** Part of the better arm's throughput that the controller may miss. */
  private static final double CLOSE = 0.06;

  /** The same if one arm does more and the other answers sooner, and if requests are random. */
  private static final double CLOSE_IN_CONFLICT = 0.15;

  /** Seconds after which a trial is repeated. */
  private static final double BETWEEN_TRIALS = 120;

  /** What one arm does if it answers all. */
  private record Fixed(double rate, double meanWait) {}

  private static SimulatedNode.Costs anyCosts() {
    double walk = 200e3 * Math.pow(10, random().nextDouble());
    return new SimulatedNode.Costs(
        1 << random().nextInt(4),
        walk * (0.2 + random().nextDouble()),
        walk,
        walk * random().nextDouble(),
        walk * (0.1 + 3 * random().nextDouble()),
        walk * 0.3 * random().nextDouble());
  }

  private static Fixed fixed(SimulatedNode.Costs costs, Arm arm, int clients, double rate) {
    SimulatedNode node = new SimulatedNode(costs, random().nextLong(), () -> arm, null);
    ask(node, clients, rate);
    node.run(1);
    node.run(6);
    return new Fixed(node.answers / 6.0, node.meanWait());
  }

  private static void ask(SimulatedNode node, int clients, double rate) {
    if (clients > 0) {
      node.clients(clients);
    } else {
      node.open(rate);
    }
  }

  private static SimulatedNode controlled(SimulatedNode.Costs costs, Controller controller) {
    return new SimulatedNode(costs, random().nextLong(), controller::arm, controller);
  }

  private static long total(Controller controller, String name) {
    return controller.totals().get("contested").get(name);
  }

  private static double explored(Controller controller) {
    return total(controller, "explored_micros") / (double) total(controller, "watched_micros");
  }

  /** Returns what is wrong with the last ten seconds; null if nothing is. */
  private static String missed(
      SimulatedNode.Costs costs, SimulatedNode node, int clients, double rate) {
    Fixed cpu = fixed(costs, Arm.CPU, clients, rate);
    Fixed device = fixed(costs, Arm.DEVICE, clients, rate);
    double best = Math.max(cpu.rate, device.rate);
    double reached = node.answers / 10.0;
    boolean conflict = (cpu.rate - device.rate) * (device.meanWait - cpu.meanWait) < 0;
    double most = conflict || rate > 0 ? CLOSE_IN_CONFLICT : CLOSE;
    double shortest = Math.min(cpu.meanWait, device.meanWait);
    boolean waits = rate > 0 && node.meanWait() > shortest * 1.3;
    return 1 - reached / best < most && waits == false
        ? null
        : String.format(
            Locale.ROOT,
            "%d clients, rate %.0f, %s: cpu %s, device %s, reached %.0f, waits %.0f",
            clients,
            rate,
            costs,
            cpu,
            device,
            reached,
            node.meanWait());
  }

  /** A trial may be wrong by chance, until the next. */
  private static void assertMostReach(List<String> missed) {
    missed.removeIf(Objects::isNull);
    assertTrue(missed.toString(), missed.size() <= 1);
  }

  public void testReachesTheBetterArm() {
    List<String> missed = new ArrayList<>();
    for (int clients : CLIENTS) {
      SimulatedNode.Costs costs = anyCosts();
      Controller controller = new Controller(0);
      SimulatedNode node = controlled(costs, controller);
      node.clients(clients);
      // a slow node tells its load in a second, and each arm is cold for two: the first trial's end
      node.run(8);
      node.run(10);
      missed.add(missed(costs, node, clients, 0));
      // trials may take 6 s at first, and 1 % of the time
      node.run(200);
      assertTrue("explored " + explored(controller), explored(controller) < 0.06);
    }
    assertMostReach(missed);
  }

  /**
   * Requests come at a rate that both arms can serve: the one that answers sooner is better. Waits
   * scatter, so a trial is wrong more often than at full load: two of three times, with trials in
   * between, the node has to do well.
   */
  public void testOpenLoad() {
    List<String> missed = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      SimulatedNode.Costs costs = anyCosts();
      double most =
          Math.min(fixed(costs, Arm.CPU, 64, 0).rate, fixed(costs, Arm.DEVICE, 64, 0).rate);
      double rate = most * (0.3 + 0.4 * random().nextDouble());
      Controller controller = new Controller(0);
      SimulatedNode node = controlled(costs, controller);
      node.open(rate);
      node.run(20);
      List<String> times = new ArrayList<>();
      for (int time = 0; time < 3; time++) {
        node.run(time == 0 ? 0 : BETWEEN_TRIALS);
        node.run(10);
        times.add(missed(costs, node, 0, rate));
      }
      times.removeIf(Objects::isNull);
      missed.add(times.size() > 1 ? times.toString() : null);
    }
    assertMostReach(missed);
  }

  /** What is learned at one load does not hold at another, but when that comes back. */
  public void testLoadChanges() {
    // few callers are served by processors, many by the device
    SimulatedNode.Costs costs = new SimulatedNode.Costs(4, 300e3, 900e3, 100e3, 3e6, 50e3);
    Controller controller = new Controller(0);
    SimulatedNode node = controlled(costs, controller);
    for (int round = 0; round < 3; round++) {
      node.clients(2);
      node.run(round == 0 ? 4 : 1);
      node.run(3);
      assertEquals("round " + round + controller.totals(), Arm.CPU, controller.arm());
      node.clients(64);
      node.run(round == 0 ? 4 : 1);
      node.run(3);
      assertEquals("round " + round + controller.totals(), Arm.DEVICE, controller.arm());
    }
    node.clients(2);
    node.run(100);
    assertEquals(Arm.CPU, controller.arm());
    assertTrue("explored " + explored(controller), explored(controller) < 0.03);
  }

  /** What is learned at a load is used when it comes back after a pause, too. */
  public void testBurstsOfTwoLoads() {
    // few callers are served by processors, many by the device
    SimulatedNode.Costs costs = new SimulatedNode.Costs(4, 300e3, 900e3, 100e3, 3e6, 50e3);
    Controller controller = new Controller(0);
    SimulatedNode node = controlled(costs, controller);
    double turn = 0.3 + random().nextDouble();
    double pause = 0.2 + random().nextDouble();
    List<String> wrong = new ArrayList<>();
    for (int round = 0; round < 40; round++) {
      for (int clients : new int[] {2, 64}) {
        node.clients(clients);
        node.run(turn);
        Arm better = clients == 2 ? Arm.CPU : Arm.DEVICE;
        if (round >= 20 && controller.arm() != better) {
          wrong.add("round " + round + ", " + clients + " clients: " + controller.arm());
        }
        node.clients(0);
        node.run(pause);
      }
    }
    // a trial may be under way
    assertTrue(turn + " s, " + pause + " s: " + wrong, wrong.size() <= 8);
  }

  /** A trial that waits for its load is given up after a long pause, and another one decides. */
  public void testLongPauseInATrial() {
    SimulatedNode.Costs costs = new SimulatedNode.Costs(4, 300e3, 900e3, 100e3, 3e6, 50e3);
    Controller controller = new Controller(0);
    SimulatedNode node = controlled(costs, controller);
    while (total(controller, "trials") == 0 || random().nextInt(3) > 0) {
      node.clients(64);
      node.run(0.4);
      node.clients(0);
      node.run(0.4);
    }
    node.run(100);
    node.clients(64);
    node.run(15);
    assertEquals(controller.totals().toString(), Arm.DEVICE, controller.arm());
  }

  /** A load that is there for a small part of the time has trials for a small part of its time. */
  public void testBurstsHaveFewTrials() {
    // the device does four fifths of what processors do, which few pairs of windows show
    SimulatedNode.Costs costs = new SimulatedNode.Costs(4, 200e3, 500e3, 50e3, 700e3, 50e3);
    Controller controller = new Controller(0);
    SimulatedNode node = controlled(costs, controller);
    node.clients(8);
    node.run(10);
    long before = total(controller, "trials");
    for (int round = 0; round < 40; round++) {
      node.clients(0);
      node.run(4);
      node.clients(8);
      node.run(0.5);
    }
    long trials = total(controller, "trials") - before;
    assertTrue(trials + " trials in 20 s of 180 s, " + controller.totals(), trials <= 1);
    assertEquals(Arm.CPU, controller.arm());
  }

  /**
   * Where there are more callers than processors, chance decides how many of them a window finds at
   * an answer. One load must not become many, each of which has trials.
   */
  public void testWindowsThatScatter() {
    long loads = 0;
    for (int run = 0; run < 5; run++) {
      Controller controller = new Controller(0);
      double scatter = 1;
      for (int milli = 1; milli < 120_000; milli++) {
        if (milli % 80 == 1) {
          scatter = Math.exp(0.3 * random().nextGaussian());
        }
        boolean device = controller.arm() == Arm.DEVICE;
        int items = device ? 160 : 200;
        double inFlight = (device ? 40 : 20) * scatter;
        controller.answered(items, items * 5e3, 0, (long) (inFlight * 1e6), milli * 1_000_000L);
      }
      loads +=
          controller.totals().get("contested_loads").values().stream()
              .mapToLong(Long::longValue)
              .sum();
    }
    // 10 in the mean, and 28 if each window told of a load
    assertTrue(loads + " loads", loads <= 18);
  }

  /**
   * Wider searches are other work, for which the other arm may be better, even if as many callers
   * wait as long for the same work, and nobody pauses in between.
   */
  public void testOtherWork() {
    Controller controller = new Controller(0);
    int turn = 400 + random().nextInt(1_000);
    double narrow = 5e3;
    double wide = narrow * (3 + 4 * random().nextDouble());
    int wrong = 0;
    for (int milli = 1; milli < 80_000; milli++) {
      boolean isWide = milli / turn % 2 == 1;
      Arm better = isWide ? Arm.DEVICE : Arm.CPU;
      double part = controller.arm() == better ? 1 : 0.6;
      double work = isWide ? wide : narrow;
      int items = (int) Math.max(1, 1e6 * part / work);
      controller.answered(items, items * work, 0, 8_000_000, milli * 1_000_000L);
      wrong += milli > 40_000 && controller.arm() != better ? 1 : 0;
    }
    // each turn has two windows that tell it
    double told = 2 * 80 + 20;
    double most = told / turn + 0.1;
    assertTrue(wrong + " ms, " + turn + controller.totals(), wrong < 40_000 * most);
    assertEquals("{cpu=1, device=1}", controller.totals().get("contested_loads").toString());
  }

  /**
   * Narrow and wide searches side by side are one load, though no two windows have the same mix.
   */
  public void testMixedWork() {
    Controller controller = new Controller(0);
    double wide = 2 + 4 * random().nextDouble();
    for (int answer = 1; answer < 30_000; answer++) {
      double work = 1e6 * (random().nextBoolean() ? wide : 1);
      controller.answered(1, work, 0, (long) (2 * work), answer * 4_000_000L);
    }
    SortedMap<String, Long> loads = controller.totals().get("contested_loads");
    assertTrue(loads.toString(), loads.values().stream().mapToLong(Long::longValue).sum() <= 2);
  }

  /** If the work of an answer depended on the arm, no trial could end; that must not cost much. */
  public void testWorkThatDependsOnTheArm() {
    Controller controller = new Controller(0);
    double more = 1.6 + 2 * random().nextDouble();
    int atDevice = 0;
    for (int milli = 1; milli < 120_000; milli++) {
      boolean device = controller.arm() == Arm.DEVICE;
      int items = device ? (int) (120 / more) : 200;
      controller.answered(
          items, items * 5e3 * (device ? more : 1), 0, 8_000_000, milli * 1_000_000L);
      atDevice += device && milli > 20_000 ? 1 : 0;
    }
    assertTrue(atDevice + " ms, " + controller.totals(), atDevice < 10_000);
  }

  /** Two arms that are equally good do not replace each other again and again. */
  public void testEqualArms() {
    // the device does what a processor does, one after the other
    SimulatedNode.Costs costs = new SimulatedNode.Costs(64, 2e6, 1e6, 1e6, 0, 0);
    Controller controller = new Controller(0);
    SimulatedNode node = controlled(costs, controller);
    node.clients(CLIENTS[random().nextInt(CLIENTS.length)]);
    node.run(120);
    SortedMap<String, Long> totals = controller.totals().get("contested");
    assertTrue(totals.toString(), totals.get("changes") <= 3);
    assertTrue(totals.toString(), explored(controller) < 0.06);
  }

  /** Too few requests to measure anything: the cost model decides. */
  public void testSparseRequests() {
    SimulatedNode.Costs costs = anyCosts();
    Controller controller = new Controller(0);
    SimulatedNode node = controlled(costs, controller);
    node.open(5);
    node.run(60);
    assertEquals(Arm.MODEL, controller.arm());
    assertEquals(0, total(controller, "trials"));
  }

  /** A fresh process is slow at what it has not done yet; the first trial does not count that. */
  public void testColdArm() {
    // the better arm has three times as many answers as the other, once its code is compiled
    boolean device = random().nextBoolean();
    SimulatedNode.Costs costs =
        device
            ? new SimulatedNode.Costs(4, 200e3, 500e3, 60e3, 200e3, 20e3)
            : new SimulatedNode.Costs(4, 100e3, 60e3, 50e3, 200e3, 70e3);
    Arm better = device ? Arm.DEVICE : Arm.CPU;
    Controller controller = new Controller(0);
    SimulatedNode node = controlled(costs, controller);
    node.cold(better, 1_000 + random().nextInt(4_000), 10 + 10 * random().nextDouble());
    node.clients(8 << random().nextInt(4));
    node.run(10);
    assertEquals(controller.totals().toString(), better, controller.arm());
  }

  /** An arm that answers hardly anything is found out, and left alone. */
  public void testStandstill() {
    SimulatedNode.Costs costs = new SimulatedNode.Costs(4, 200e3, 500e3, 50e3, 30e6, 1e6);
    Controller controller = new Controller(0);
    SimulatedNode node = controlled(costs, controller);
    node.clients(1 + random().nextInt(8));
    node.run(60);
    assertEquals(Arm.CPU, controller.arm());
    assertTrue("explored " + explored(controller), explored(controller) < 0.1);
    assertTrue(total(controller, "trials") <= 5);
  }

  /** An arm that was good and becomes bad is left before the next trial would be due. */
  public void testConditionsChange() {
    SimulatedNode.Costs costs = new SimulatedNode.Costs(4, 200e3, 500e3, 50e3, 200e3, 20e3);
    SimulatedNode.Costs slow = new SimulatedNode.Costs(4, 200e3, 500e3, 50e3, 200e3, 2e6);
    Controller controller = new Controller(0);
    SimulatedNode node = controlled(costs, controller);
    node.clients(32);
    node.run(30);
    assertEquals(Arm.DEVICE, controller.arm());
    SimulatedNode other = controlled(slow, controller);
    other.now = node.now;
    other.clients(32);
    other.run(6);
    assertEquals(Arm.CPU, controller.arm());
  }

  public void testPairs() {
    Pairs pairs = new Pairs();
    pairs.add(0.5, 0.001);
    assertEquals(Pairs.Verdict.OPEN, pairs.verdict(false));
    assertEquals(Pairs.Verdict.WORSE, pairs.verdict(true));
    pairs.add(0.51, 0.001);
    assertEquals(Pairs.Verdict.WORSE, pairs.verdict(false));
    Pairs better = new Pairs();
    Pairs equal = new Pairs();
    Pairs open = new Pairs();
    for (int i = 0; i < Pairs.MOST; i++) {
      better.add(1.19 + 0.02 * (i % 2), 0.001);
      equal.add(0.99 + 0.02 * (i % 2), 0.001);
      open.add(i % 2 == 0 ? 0.8 : 1.3, 0.001);
      if (i > 1) {
        assertEquals(Pairs.Verdict.BETTER, better.verdict(random().nextBoolean()));
      }
      assertEquals(
          i + 1 < Pairs.MOST ? Pairs.Verdict.OPEN : Pairs.Verdict.EQUAL, open.verdict(false));
    }
    assertEquals(Pairs.Verdict.EQUAL, equal.verdict(false));
  }

  /** A change of the arm may be followed by a window like no other; the other pairs agree. */
  public void testPairsWithOneFarAway() {
    Pairs agreeing = new Pairs();
    Pairs disagreeing = new Pairs();
    for (int i = 0; i < Pairs.MOST; i++) {
      double ratio = i == 0 ? 2.2 : 1.15 + 0.1 * random().nextDouble();
      agreeing.add(ratio, 0.001);
      disagreeing.add(i == 1 ? 0.98 : ratio, 0.001);
    }
    assertEquals(Pairs.Verdict.BETTER, agreeing.verdict(false));
    assertTrue(agreeing.sure());
    assertFalse(disagreeing.sure());
  }
}
