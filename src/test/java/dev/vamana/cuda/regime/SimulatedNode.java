package dev.vamana.cuda.regime;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.Random;
import java.util.function.Supplier;

/**
 * A node in simulated time: processors that serve requests and walk, a device that takes all that
 * waits as one batch, and clients that ask again after an answer, or at their own rate.
 */
final class SimulatedNode {

  /**
   * What things cost, in nanoseconds.
   *
   * @param processors number of them
   * @param request processor time of a request beside its search
   * @param walk processor time of a search by the CPU
   * @param handOver processor time of handing a search to the device
   * @param launch time of a batch on the device
   * @param query additional time for each query of the batch
   */
  record Costs(
      int processors, double request, double walk, double handOver, double launch, double query) {}

  /** Batches at the same time on the device, each of which is slower by the others. */
  private static final int LAUNCHES = 2;

  private record Event(double time, long number, Runnable action) {}

  private final Costs costs;
  private final Random random;
  private final Supplier<Arm> arms;
  private final Controller told;
  private final PriorityQueue<Event> events =
      new PriorityQueue<>(Comparator.comparingDouble(Event::time).thenComparing(Event::number));
  private final Queue<Runnable> ready = new ArrayDeque<>();
  private final List<Runnable> waiting = new ArrayList<>();
  private int idle;
  private int launched;
  private long number;
  private int clients;
  private double rate;
  private Arm coldArm;
  private int coldSearches;
  private double coldFactor;
  double now;
  long answers;
  double waited;

  /**
   * Makes a node without clients.
   *
   * @param arms who answers
   * @param told hears of each answer; may be null
   */
  SimulatedNode(Costs costs, long seed, Supplier<Arm> arms, Controller told) {
    this.costs = costs;
    this.random = new Random(seed);
    this.arms = arms;
    this.told = told;
    this.idle = costs.processors();
  }

  /** Has an arm take more processor time for its first searches, as code that is interpreted. */
  void cold(Arm arm, int searches, double factor) {
    coldArm = arm;
    coldSearches = searches;
    coldFactor = factor;
  }

  private double warming(Arm arm) {
    return arm == coldArm && coldSearches-- > 0 ? coldFactor : 1;
  }

  private void after(double nanos, Runnable action) {
    events.add(new Event(now + nanos, number++, action));
  }

  /** Runs on a processor, in turn. */
  private void process(double nanos, Runnable then) {
    double own = nanos * (0.5 + random.nextDouble());
    Runnable begin =
        () ->
            after(
                own,
                () -> {
                  idle++;
                  then.run();
                  next();
                });
    ready.add(begin);
    next();
  }

  private void next() {
    while (idle > 0 && ready.isEmpty() == false) {
      idle--;
      ready.poll().run();
    }
  }

  private void launch() {
    if (launched == LAUNCHES || waiting.isEmpty()) {
      return;
    }
    launched++;
    List<Runnable> batch = new ArrayList<>(waiting);
    waiting.clear();
    after(
        (costs.launch() + costs.query() * launched * batch.size())
            * (0.8 + 0.4 * random.nextDouble()),
        () -> {
          launched--;
          batch.forEach(Runnable::run);
          launch();
        });
  }

  private void search(Runnable then) {
    double begun = now;
    Runnable end =
        () -> {
          answers++;
          waited += now - begun;
          if (told != null) {
            told.answered(1, costs.walk(), 0, (long) (now - begun), (long) now);
          }
          then.run();
        };
    Arm arm = arms.get();
    if (arm == Arm.CPU || (arm != Arm.DEVICE && random.nextBoolean())) {
      process(costs.walk() * warming(Arm.CPU), end);
    } else {
      process(
          costs.handOver() * warming(Arm.DEVICE),
          () -> {
            waiting.add(end);
            launch();
          });
    }
  }

  /** Has so many clients ask, each again after its answer. */
  void clients(int wanted) {
    for (; clients < wanted; clients++) {
      after(random.nextDouble() * costs.request() * wanted, this::ask);
    }
    clients = wanted;
    asking = Math.max(asking, wanted);
  }

  private int asking;

  private void ask() {
    process(
        costs.request(),
        () ->
            search(
                () -> {
                  if (asking > clients) {
                    asking--;
                  } else {
                    ask();
                  }
                }));
  }

  /** Has requests come at a rate, whether others are answered or not. */
  void open(double perSecond) {
    rate = perSecond;
    arrive();
  }

  private void arrive() {
    after(
        -Math.log(1 - random.nextDouble()) / rate * 1e9,
        () -> {
          process(costs.request(), () -> search(() -> {}));
          arrive();
        });
  }

  /** Lets time pass, and forgets what was answered before. */
  void run(double seconds) {
    answers = 0;
    waited = 0;
    double until = now + seconds * 1e9;
    while (events.isEmpty() == false && events.peek().time() <= until) {
      Event event = events.poll();
      now = event.time();
      event.action().run();
    }
    now = until;
  }

  double meanWait() {
    return waited / answers;
  }
}
