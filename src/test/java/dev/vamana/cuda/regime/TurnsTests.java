package dev.vamana.cuda.regime;

import dev.vamana.tools.cells.GeometricMean;
import dev.vamana.tools.cells.Median;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;

/**
 * Several loads come in short turns, with pauses between them, as in the cells of the GPU suite.
 * What a node has learned in turns is used in turns.
 */
public class TurnsTests extends LuceneTestCase {

  private static final int[] CLIENTS = {1, 8, 32, 64};
  private static final double TURN = 0.4;
  private static final double OTHERS = 1.2;
  private static final int LEARNING = 20;
  private static final int MEASURED = 5;

  /** Of the better arm's answers, in the mean of all loads and nodes. */
  private static final double MEAN = 0.98;

  /** Of the better arm's answers, at one load of a node. */
  private static final double LEAST = 0.9;

  private static final int TURNS = 25;
  private static final int RUNS = 24;

  /** Nodes on which one arm is better, with 64 clients. */
  private static final List<SimulatedNode.Costs> ONE_IS_BETTER =
      List.of(
          new SimulatedNode.Costs(16, 1_100e3, 300e3, 500e3, 400e3, 10e3),
          new SimulatedNode.Costs(16, 500e3, 300e3, 100e3, 250e3, 5e3),
          new SimulatedNode.Costs(16, 900e3, 300e3, 700e3, 300e3, 10e3));

  /** Nodes on which neither arm is the better one at all loads, or one is by little. */
  private static final List<SimulatedNode.Costs> NODES =
      List.of(
          new SimulatedNode.Costs(16, 500e3, 300e3, 100e3, 250e3, 5e3),
          new SimulatedNode.Costs(16, 500e3, 300e3, 100e3, 500e3, 5e3),
          new SimulatedNode.Costs(16, 500e3, 300e3, 250e3, 250e3, 5e3),
          new SimulatedNode.Costs(16, 900e3, 1_200e3, 1_200e3, 600e3, 10e3),
          new SimulatedNode.Costs(16, 900e3, 300e3, 700e3, 300e3, 10e3),
          new SimulatedNode.Costs(16, 400e3, 60e3, 60e3, 120e3, 5e3));

  /** Returns the answers of a turn. */
  private static double turn(SimulatedNode node, int clients) {
    node.clients(clients);
    node.run(TURN);
    double answers = node.answers;
    node.clients(0);
    node.run(OTHERS + random().nextDouble());
    return answers;
  }

  private static double measured(SimulatedNode node, int clients) {
    double[] answers = new double[MEASURED];
    for (int turn = 0; turn < MEASURED; turn++) {
      answers[turn] = turn(node, clients);
    }
    return Median.of(answers);
  }

  private static double alone(SimulatedNode.Costs costs, Arm arm, int clients) {
    SimulatedNode node = new SimulatedNode(costs, random().nextLong(), () -> arm, null);
    turn(node, clients);
    return measured(node, clients);
  }

  public void testTurnsOfSeveralLoads() {
    List<Double> parts = new ArrayList<>();
    List<String> low = new ArrayList<>();
    for (SimulatedNode.Costs costs : NODES) {
      Controller controller = new Controller(0);
      SimulatedNode node =
          new SimulatedNode(costs, random().nextLong(), controller::arm, controller);
      for (int clients : CLIENTS) {
        for (int turn = 0; turn < LEARNING; turn++) {
          turn(node, clients);
        }
      }
      for (int clients : CLIENTS) {
        double best = Math.max(alone(costs, Arm.CPU, clients), alone(costs, Arm.DEVICE, clients));
        double part = measured(node, clients) / best;
        parts.add(part);
        if (part < LEAST) {
          low.add(String.format(Locale.ROOT, "%d clients, %s: %.3f", clients, costs, part));
        }
      }
    }
    double mean = GeometricMean.of(parts);
    // a trial may be wrong by chance, until the next
    assertTrue(mean + " " + low, mean > MEAN && low.size() <= 1);
  }

  /** Returns a controller that one load has asked in turns, with pauses of so many seconds. */
  private static Controller afterTurns(double leastPause, double longestPause) {
    SimulatedNode.Costs costs = ONE_IS_BETTER.get(random().nextInt(ONE_IS_BETTER.size()));
    Controller controller = new Controller(0);
    SimulatedNode node = new SimulatedNode(costs, random().nextLong(), controller::arm, controller);
    double pause = leastPause + (longestPause - leastPause) * random().nextDouble();
    for (int turn = 0; turn < TURNS; turn++) {
      node.clients(64);
      node.run(TURN);
      node.clients(0);
      node.run(pause);
    }
    return controller;
  }

  /**
   * Pauses that are too short to be seen as such make some windows look like few callers. That is
   * no reason to repeat a trial, or to give one up.
   */
  public void testShortPauses() {
    long trials = 0;
    for (int run = 0; run < RUNS; run++) {
      trials += afterTurns(0.02, 0.1).totals().get("contested").get("trials");
    }
    // 25 in the mean, and 40 if a few callers more or less called for a trial
    assertTrue(trials + " trials", trials <= 32);
  }

  /** The first window after a pause has fewer callers, since they begin one after the other. */
  public void testLongPauses() {
    long loads = 0;
    for (int run = 0; run < RUNS; run++) {
      Map<String, Long> byArm = afterTurns(0.15, 1).totals().get("contested_loads");
      loads += byArm.values().stream().mapToLong(Long::longValue).sum();
    }
    // one of each, and 36 in all if the first window of a process told of a load
    assertTrue(loads + " loads", loads <= 28);
  }
}
