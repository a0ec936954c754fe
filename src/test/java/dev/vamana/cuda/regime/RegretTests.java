package dev.vamana.cuda.regime;

import org.apache.lucene.tests.util.LuceneTestCase;

/** An arm that does not keep what it promised is left, but not for a moment in which all stood. */
public class RegretTests extends LuceneTestCase {

  private static final int CPU_ITEMS = 200;
  private static final int DEVICE_ITEMS = 140;
  private static final double WORK = 5e3;
  private static final double IN_FLIGHT = 8;
  private static final int MILLIS = 80;
  private static final int LEARNING = 20_000;
  private static final int TURN = 400;

  private final Controller controller = new Controller(0);
  private long now;
  private int atDevice;
  private int inARow;

  /** Answers for a millisecond. The CPU answers more, unless something disturbs the node. */
  private void answer(double part) {
    boolean device = controller.arm() == Arm.DEVICE;
    inARow = device ? inARow + 1 : 0;
    atDevice += device ? 1 : 0;
    double scatter = 0.98 + 0.04 * random().nextDouble();
    int items = (int) (part * (device ? DEVICE_ITEMS : CPU_ITEMS) * scatter);
    now += 1_000_000L;
    controller.answered(items, items * WORK, 0, (long) (IN_FLIGHT * 1e6), now);
  }

  private void learn() {
    for (int i = 0; i < LEARNING; i++) {
      answer(1);
    }
    assertEquals(Arm.CPU, controller.arm());
    atDevice = 0;
  }

  private void assertDeviceHasAtMost(double most, int millis) {
    double part = atDevice / (double) millis;
    assertTrue(part + " at the device, " + controller.totals(), part < most);
  }

  /** Threads that compile or collect garbage take a part of the processors for a window or two. */
  public void testStandstills() {
    learn();
    int disturbed = 0;
    int millis = 60_000;
    for (int i = 0; i < millis; i++) {
      if (disturbed == 0 && random().nextInt(2_000) == 0) {
        disturbed = MILLIS + random().nextInt(MILLIS);
      }
      answer(disturbed == 0 ? 1 : 0.6);
      disturbed = Math.max(0, disturbed - 1);
    }
    assertDeviceHasAtMost(0.06, millis);
  }

  /** The same while a trial compares the arms, always when it is the CPU's turn. */
  public void testStandstillsInTrials() {
    learn();
    int millis = 100_000;
    long trials = trials();
    int disturbed = 0;
    for (int i = 0; i < millis; i++) {
      if (trials() > trials) {
        trials = trials();
        disturbed = 500;
      }
      answer(disturbed-- > 0 && controller.arm() == Arm.CPU ? 0.6 : 1);
    }
    assertDeviceHasAtMost(0.06, millis);
    assertTrue(controller.totals().get("contested").get("disturbed") > 0);
  }

  private long trials() {
    return controller.totals().get("contested").get("trials");
  }

  /** The same in turns, in which the loss of 5 seconds is that of a whole measurement. */
  public void testStandstillsInTurns() {
    learn();
    int turns = 100;
    for (int turn = 0; turn < turns; turn++) {
      now += 1_000_000_000L;
      int disturbed = random().nextInt(5) > 0 ? -MILLIS : random().nextInt(TURN);
      for (int i = 0; i < TURN; i++) {
        answer(i >= disturbed && i < disturbed + MILLIS ? 0.6 : 1);
      }
    }
    assertDeviceHasAtMost(0.06, turns * TURN);
  }

  /** What makes both slow for a second is no reason to stay with the other arm. */
  public void testBothAreSlow() {
    learn();
    for (int round = 0; round < 10; round++) {
      int slow = 300 + random().nextInt(1_500);
      for (int i = 0; i < 10_000; i++) {
        answer(i < slow ? 0.7 : 1);
      }
    }
    assertDeviceHasAtMost(0.12, 100_000);
  }

  /** A trial's windows are too short to show that the device falls behind after a while. */
  public void testDeviceTires() {
    int millis = 100_000;
    for (int i = -LEARNING; i < millis; i++) {
      if (i == 0) {
        atDevice = 0;
      }
      answer(controller.arm() == Arm.DEVICE && inARow < 300 ? 1.8 : 1);
    }
    assertDeviceHasAtMost(0.2, millis);
    assertTrue(controller.totals().get("contested").get("regrets") > 0);
  }
}
