package dev.vamana.cuda.regime;

import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Which loads are one, and what a trial of a load teaches. */
public class LessonsTests extends LuceneTestCase {

  private static final long NANOS = 100_000_000;
  private static final int ANSWERS = 1_000;

  /** A window with so many callers in flight, whose answers take so many nanoseconds of work. */
  private static Window window(double inFlight, double work) {
    return new Window(NANOS, ANSWERS, (long) (work * ANSWERS), 0, (long) (inFlight * NANOS));
  }

  /** Loads that a power of two lies between are one if they are close, however often they come. */
  public void testCloseLoads() {
    Lessons lessons = new Lessons();
    double inFlight = 60 * random().nextDouble();
    double work = 1e3 + 1e6 * random().nextDouble();
    Lesson lesson = lessons.add(Arm.CPU, window(inFlight, work));
    for (int i = 0; i < 100; i++) {
      double closeInFlight = inFlight * (0.75 + 0.6 * random().nextDouble());
      double closeWork = work * (0.75 + 0.6 * random().nextDouble());
      Arm arm = Arm.values()[random().nextInt(Arm.values().length)];
      assertSame(lesson, lessons.find(arm, window(closeInFlight, closeWork)));
    }
    assertNull(lessons.find(Arm.CPU, window(2 * inFlight + 1, work)));
    assertNull(lessons.find(Arm.CPU, window(inFlight, work * 1.6)));
    assertNull(lessons.find(Arm.CPU, window(inFlight, work / 1.6)));
  }

  /** Of two loads that are close to a third the closer one is meant. */
  public void testClosest() {
    Lessons lessons = new Lessons();
    Lesson few = lessons.add(Arm.CPU, window(9, 1e5));
    Lesson many = lessons.add(Arm.CPU, window(19, 1e5));
    assertSame(few, lessons.find(Arm.CPU, window(11, 1e5)));
    assertSame(many, lessons.find(Arm.CPU, window(16, 1e5)));
  }

  /** The same clients are fewer callers in flight for the arm that answers sooner. */
  public void testCallersByArm() {
    Lessons lessons = new Lessons();
    Lesson lesson = lessons.add(Arm.CPU, window(12, 1e5));
    assertNull(lessons.find(Arm.DEVICE, window(50, 1e5)));
    lesson.learn(trial(Arm.CPU, window(12, 1e5), Arm.DEVICE, window(50, 1e5)), true);
    assertSame(lesson, lessons.find(Arm.DEVICE, window(45, 1e5)));
    assertSame(lesson, lessons.find(Arm.CPU, window(13, 1e5)));
    assertNull(lessons.find(Arm.DEVICE, window(13, 1e5)));
  }

  /** A load that was never tried begins with the arm of the next one whose work is alike. */
  public void testUnknownLoad() {
    Lessons lessons = new Lessons();
    Lesson few = lessons.add(Arm.CPU, window(1, 1e5));
    Lesson many = lessons.add(Arm.CPU, window(40, 1e5));
    Lesson between = lessons.add(Arm.CPU, window(8, 1e5));
    assertEquals(Arm.MODEL, between.arm());
    few.learn(trial(Arm.CPU, window(1, 1e5), Arm.DEVICE, window(1, 1e5)), false);
    many.learn(trial(Arm.CPU, window(40, 1e5), Arm.DEVICE, window(40, 1e5)), true);
    assertEquals(Arm.CPU, lessons.add(Arm.CPU, window(3, 1.2e5)).arm());
    assertEquals(Arm.DEVICE, lessons.add(Arm.CPU, window(80, 1.2e5)).arm());
    assertEquals(Arm.MODEL, lessons.add(Arm.CPU, window(3, 4e5)).arm());
    // one that is known for longer, too, unless it has been measured itself
    between.adopt(lessons.nearest(Arm.CPU, window(8, 1e5)));
    assertNotEquals(Arm.MODEL, between.arm());
    few.adopt(Arm.DEVICE);
    assertEquals(Arm.CPU, few.arm());
  }

  /** A device that became slow has more callers waiting, but not while the CPU answers them. */
  public void testNewestLesson() {
    Lessons lessons = new Lessons();
    double before = 5 + 50 * random().nextDouble();
    double after = before * (2 + random().nextDouble());
    double work = 1e3 + 1e6 * random().nextDouble();
    Window byCpu = window(before, work);
    Lesson good = lessons.add(Arm.DEVICE, window(before, work));
    good.learn(trial(Arm.CPU, byCpu, Arm.DEVICE, window(before, work)), true);
    Lesson neighbour = lessons.add(Arm.DEVICE, window(before / 2, work));
    neighbour.learn(
        trial(Arm.CPU, window(before / 2, work), Arm.DEVICE, window(before / 2, work)), true);
    lessons.learned(neighbour);
    Lesson slow = lessons.add(Arm.DEVICE, window(after, work));
    slow.learn(trial(Arm.DEVICE, window(after, work), Arm.CPU, byCpu), true);
    lessons.learned(slow);
    assertSame(slow, lessons.find(Arm.CPU, byCpu));
    assertEquals(List.of(neighbour, slow), lessons.all());
  }

  /** A trial in which the arm did far less than lately says nothing, unless it is slow since. */
  public void testDoubts() {
    Lesson lesson = new Lesson(Arm.DEVICE, window(20, 1e5));
    Window good = window(20, 1e5);
    Window slow = new Window(30 * NANOS, ANSWERS, (long) (1e5 * ANSWERS), 0, 600 * NANOS);
    Window byCpu = new Window(2 * NANOS, ANSWERS, (long) (1e5 * ANSWERS), 0, 40 * NANOS);
    lesson.learn(trial(Arm.CPU, byCpu, Arm.DEVICE, good), true);
    Trial lost = trial(Arm.DEVICE, slow, Arm.CPU, byCpu);
    assertFalse(lesson.doubts(lost));
    assertFalse(lesson.regrets(good));
    assertTrue(lesson.doubts(lost));
    assertFalse(lesson.doubts(trial(Arm.DEVICE, good, Arm.CPU, byCpu)));
    lesson.waitsChanged();
    assertFalse(lesson.doubts(lost));
  }

  private static Trial trial(Arm incumbent, Window its, Arm challenger, Window other) {
    Trial trial = new Trial(incumbent, challenger, false);
    assertTrue(trial.add(its));
    assertTrue(trial.add(other));
    return trial;
  }

  /** A part of a caller more or less is no other load, four times as many callers are. */
  public void testDisturbedTrial() {
    Trial lone = new Trial(Arm.CPU, Arm.DEVICE, false);
    Trial changing = new Trial(Arm.CPU, Arm.DEVICE, false);
    for (int i = 0; i < 4; i++) {
      boolean first = i == 0 || i == 3; // windows of the incumbent
      assertTrue(lone.add(window(first && i > 0 ? 0.7 : 0.2, 1e5)));
      if (i < 3) {
        assertTrue(changing.add(window(10, 1e5)));
      }
    }
    assertFalse(changing.add(window(45, 1e5)));
    assertFalse(changing.disturbed());
  }

  /** A first window in which the callers paused is the odd one, not those that follow. */
  public void testTrialBeginsAnew() {
    Trial trial = new Trial(Arm.CPU, Arm.DEVICE, false);
    assertTrue(trial.add(window(0.2, 1e5)));
    assertTrue(trial.add(window(10, 1e5)));
    assertTrue(trial.add(window(10, 1e5)));
    assertFalse(trial.add(window(10, 1e5)));
    assertFalse(trial.begun());
    assertEquals(Arm.CPU, trial.arm());
    for (int i = 0; i < 4; i++) {
      assertTrue(trial.add(window(10, i == 0 || i == 3 ? 1e5 : 2e5)));
    }
    assertEquals(2 * ANSWERS, trial.sum(true).count());
    assertEquals(Pairs.Verdict.BETTER, trial.verdict());
    assertFalse(trial.disturbed());
  }

  public void testWaitingTrial() {
    Lesson lesson = new Lesson(Arm.MODEL, window(1, 100));
    assertNull(lesson.resume());
    Trial trial = new Trial(Arm.CPU, Arm.DEVICE, false);
    lesson.suspend(trial, 5_000);
    assertFalse(lesson.hasWaitedLong(1_000_000_000));
    assertTrue(lesson.hasWaitedLong(100_000_000_000L));
    assertSame(trial, lesson.resume());
    assertNull(lesson.resume());
  }

  /** A node with a GPU is not to be slower than one without: of equals the CPU answers. */
  public void testWhoIsChosen() {
    Trial byCpu = new Trial(Arm.DEVICE, Arm.CPU, random().nextBoolean());
    Trial byDevice = new Trial(Arm.CPU, Arm.DEVICE, random().nextBoolean());
    Trial bySplit = new Trial(Arm.DEVICE, Arm.SPLIT, random().nextBoolean());
    for (Trial trial : new Trial[] {byCpu, byDevice, bySplit}) {
      assertTrue(trial.isWon(Pairs.Verdict.BETTER));
      assertFalse(trial.isWon(Pairs.Verdict.WORSE));
    }
    assertTrue(byCpu.isWon(Pairs.Verdict.EQUAL));
    assertFalse(byDevice.isWon(Pairs.Verdict.EQUAL));
    assertFalse(bySplit.isWon(Pairs.Verdict.EQUAL));
  }
}
