package dev.vamana.cuda.regime;

import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Chooses one {@link Arm} for all contested items of an executor, by trials of two arms in turns.
 * What it learned at one load it uses at once when that load comes back. Callers report each answer
 * with its time; the controller has no thread and no clock of its own. Thread-safe.
 */
public final class Controller {

  private static final long MILLI = 1_000_000;

  /** Least length of a window. A window has at least ten answers' time. */
  private static final long WINDOW = 80 * MILLI;

  private static final long LONGEST_WINDOW = 1_000 * MILLI;

  /** A window that has too few answers after this time is given up. */
  private static final long SPARSE = 4 * WINDOW;

  /** Least time after a change of the arm that is not measured; as long as two answers take. */
  private static final long SETTLE = 20 * MILLI;

  private static final long LONGEST_SETTLE = 200 * MILLI;

  /**
   * A window that ends later than it should by more, and by more than a quarter, had no callers, or
   * a node that stood still.
   */
  private static final long LATE = 60 * MILLI;

  /** Answers that a window should have. */
  private static final int ANSWERS = 64;

  /** Answers that a window needs. */
  private static final int LEAST_ANSWERS = 16;

  /** Answers of a window that are looked at closely, at least, if there are more. */
  private static final int CLOSELY = 1_024;

  /** Answers of which one is looked at closely, at most. */
  private static final int MOST_OF_ONE = 16;

  /** At a load that is known, a wait for the same work that differs by more calls for a trial. */
  private static final double OTHER_WAIT = 2;

  /** Windows in a row that show another load before it is believed. */
  private static final int PATIENCE = 2;

  /** Windows that together show a load which is not known, before it is one. */
  private static final int CONVINCING = 3;

  /** Time in which fewer windows are enough for that, if they are long. */
  private static final long CONVINCING_TIME = 1_000 * MILLI;

  /** Trials take this part of the time, and a first {@link #CREDIT}. */
  private static final double EXPLORED = 0.01;

  private static final double CREDIT = 6e9;

  /** Credit that a trial needs which repeats an earlier one. */
  private static final double REPEATS = 1e9;

  /** Of the work, that both sides have at least if items are worth being split. */
  private static final double NOTABLE = 0.15;

  private final Meter meter = new Meter();
  private final AtomicBoolean busy = new AtomicBoolean();
  private final Lessons lessons = new Lessons();
  private final Tally tally = new Tally();
  private final Warmth warmth = new Warmth();
  private volatile Arm arm = Arm.MODEL;
  private volatile long end;
  private volatile double pace = 1;
  private volatile int oneOf = 1;

  // the following are guarded by busy
  private Lesson lesson;
  private Trial trial;
  private Window before;
  private long planned;
  private boolean settling;
  // of the first window at this load under this arm, 0 before
  private double callers;
  private double wait;
  private double work;
  private int others;
  // windows in a row that show no known load, and all of them together
  private int unknown;
  private Window shown = Window.NONE;
  // mean time of an answer
  private long slowest;
  // mean time between two answers
  private long pause;
  private double credit = CREDIT;

  /**
   * Makes a controller that has measured nothing.
   *
   * @param now nanoseconds of a clock that never goes back
   */
  public Controller(long now) {
    before = meter.until(now);
    schedule(now, WINDOW);
  }

  /** Returns who answers contested items now. */
  public Arm arm() {
    return arm;
  }

  /**
   * Returns the nanoseconds that callers lately waited for a nanosecond of work by the CPU: 1 on an
   * idle node whose predictions are right.
   */
  public double pace() {
    return pace;
  }

  /** Returns of how many answers one should be enough for statistics: 1 unless they are many. */
  public int oneOf() {
    return oneOf;
  }

  /**
   * Records answers that one caller waited for.
   *
   * @param items number of them
   * @param work predicted nanoseconds of the CPU for them, without any load
   * @param favoured the part of {@code work} that is expected to be cheaper on an idle device
   * @param waited nanoseconds
   * @param now time of the clock at the end
   */
  public void answered(int items, double work, double favoured, long waited, long now) {
    meter.add(items, (long) work, (long) favoured, waited);
    look(waited, now);
  }

  /**
   * Records that the calling thread begins an answer. Until it has ended, nothing else begins on
   * this thread.
   *
   * @param now time of the clock
   * @return {@link dev.vamana.cuda.count.Places#own}
   */
  public int begins(long now) {
    return meter.own().begin(now);
  }

  /**
   * Records that the thread has ended its answer.
   *
   * @param place returned by {@link #begins}
   * @param work as for {@link #answered}
   * @param favoured as for {@link #answered}
   * @param since time of the clock at the beginning
   * @param now time of the clock
   */
  public void ended(int place, double work, double favoured, long since, long now) {
    meter.own().end(place, (long) work, (long) favoured, since, now);
    look(now - since, now);
  }

  private void look(long waited, long now) {
    if (now - end >= 0 && busy.compareAndSet(false, true)) {
      try {
        if (now - end >= 0) {
          windowEnded(waited, now);
        }
      } finally {
        busy.set(false);
      }
    }
  }

  private void windowEnded(long waited, long now) {
    Window sums = meter.until(now);
    Window window = sums.minus(before);
    long late = now - end;
    // whoever ends a long wait was waiting; whoever ends a pause was not there
    boolean paused = late > Math.max(LATE, planned / 4) && waited < late / 2;
    if (paused) {
      interrupted(sums);
    } else if (settling) {
      slow(window);
      if (planned < settleLength() && window.nanos() < LONGEST_SETTLE) {
        schedule(now, settleLength());
        return;
      }
      settling = false;
      spent(window);
      // a short window is enough to tell the load
      begin(sums, lesson == null ? WINDOW : windowLength());
    } else if (window.count() < LEAST_ANSWERS || window.work() <= 0) {
      if (window.nanos() < SPARSE) {
        schedule(now, planned);
      } else if (trial != null && trial.begun()) {
        // there were enough answers before: this arm is that slow
        measured(sums, window.orStill(), now);
      } else {
        disturb(now);
        begin(sums, WINDOW);
        rest(window, now);
      }
    } else {
      measured(sums, window, now);
    }
  }

  private void measured(Window sums, Window window, long now) {
    boolean cold = spent(window);
    slow(window);
    pace = arm == Arm.CPU ? window.meanWait() : pace;
    begin(sums, windowLength());
    if (trial != null) {
      if (cold == false) {
        tried(window, now);
      }
    } else {
      tally.window(arm, window.inFlight());
      watched(window, now);
    }
  }

  /** Counts time of the present arm. Returns whether the arm was cold at its beginning. */
  private boolean spent(Window window) {
    tally.watched(window.nanos());
    credit = Math.min(CREDIT, credit + EXPLORED * window.nanos());
    boolean cold = warmth.add(arm, window);
    if (trial == null && lesson != null) {
      lesson.watched(window.nanos());
    } else if (trial != null && cold == false) {
      trial.spent(window.nanos());
    }
    return cold;
  }

  /**
   * Goes on after a while in which nobody asked: those who ask now may be another load. A trial
   * waits until its own load comes back.
   */
  private void interrupted(Window sums) {
    // nobody told the time at which the pause began: the window should have ended soon after
    suspend(end);
    settling = true;
    begin(sums, settleLength());
  }

  /** Keeps a trial, if there is one, until its load comes back. */
  private void suspend(long since) {
    if (trial != null) {
      lesson.suspend(trial, since);
      trial = null;
      choose(lesson.arm(), since);
    }
    forgetLoad();
  }

  /** Gives up a trial of which a window cannot be used. */
  private void disturb(long now) {
    if (trial != null) {
      giveUp(trial);
      trial = null;
      choose(lesson.arm(), now);
    }
    forgetLoad();
  }

  private void giveUp(Trial disturbed) {
    tally.disturbed.increment();
    pay(disturbed.lostNanos(false));
    lesson.disturbed();
  }

  /** Has the next window tell which load there is: it may be another. The arm stays until then. */
  private void forgetLoad() {
    lesson = null;
    callers = 0;
    forgetShown();
  }

  private void forgetShown() {
    others = 0;
    forgetUnknown();
  }

  private void forgetUnknown() {
    unknown = 0;
    shown = Window.NONE;
  }

  private void pay(long nanos) {
    tally.exploredNanos.add(nanos);
    credit -= nanos;
  }

  private void watched(Window window, long now) {
    if (lesson == null || isOther(window)) {
      if (lesson == null || ++others >= PATIENCE) {
        enter(window, now);
      }
      return;
    }
    forgetShown();
    if (lesson.regrets(window)) {
      tally.changes.increment();
      tally.regrets.increment();
      tally.learned(lessons.all());
      choose(lesson.arm(), now);
      return;
    }
    boolean affordable = credit >= (lesson.measured() ? REPEATS : 0);
    if (lesson.due() && affordable) {
      double share = window.favoured() / (double) window.work();
      boolean mixed = share > NOTABLE && share < 1 - NOTABLE;
      Arm known = lesson.arm();
      if (known == Arm.MODEL) {
        known = share >= 0.5 ? Arm.DEVICE : Arm.CPU;
      }
      trial = new Trial(known, lesson.challenger(known, mixed), lesson.measured());
      tally.trials.increment();
      choose(trial.arm(), now);
    }
  }

  /** Whether the load is not what it was after the last change of the arm. */
  private boolean isOther(Window window) {
    if (callers == 0) {
      compareWith(window);
      return false;
    }
    return Window.differ(window.callers(), callers, Lessons.SAME)
        || Window.differ(window.meanWork(), work, Lessons.SAME)
        || Window.differ(window.meanWait(), wait, OTHER_WAIT);
  }

  private void compareWith(Window window) {
    callers = window.callers();
    wait = window.meanWait();
    work = window.meanWork();
  }

  /** Uses what is known of a load that is new or has come back. */
  private void enter(Window window, long now) {
    if (shown.count() > 0 && Window.differ(window.meanWork(), shown.meanWork(), Lessons.SAME)) {
      // a window in which the work changed is of no load
      forgetUnknown();
    }
    shown = shown.plus(window);
    Lesson entered = lessons.find(arm, shown);
    if (entered == null && ++unknown < CONVINCING && shown.nanos() < CONVINCING_TIME) {
      // a window scatters, more if there are more callers than processors
      return;
    }
    Window seen = shown;
    forgetShown();
    boolean otherWait = Window.differ(seen.meanWait(), wait, OTHER_WAIT);
    compareWith(seen);
    if (lesson != null && lesson == entered) {
      if (otherWait) {
        lesson.waitsChanged();
      }
      return;
    }
    if (entered == null) {
      lesson = lessons.add(arm, seen);
    } else {
      lesson = entered;
      // others may have been measured since it was added
      lesson.adopt(lessons.nearest(arm, seen));
    }
    trial = lesson.resume();
    if (trial != null && lesson.hasWaitedLong(now)) {
      giveUp(trial);
      trial = null;
    }
    choose(trial == null ? lesson.arm() : trial.arm(), now);
  }

  /** Goes on with too few answers to measure anything. */
  private void rest(Window window, long now) {
    Lesson known = window.count() == 0 ? null : lessons.find(arm, window);
    lesson = null;
    choose(known == null ? Arm.MODEL : known.arm(), now);
  }

  private boolean isOfTrial(Window window) {
    if (lesson.hasOtherWork(window)) {
      trial.disturb();
      return false;
    }
    return trial.add(window);
  }

  private void tried(Window window, long now) {
    if (isOfTrial(window) == false) {
      if (trial.disturbed()) {
        disturb(now);
      } else {
        suspend(now);
      }
      return;
    }
    Pairs.Verdict verdict = trial.verdict();
    if (verdict != Pairs.Verdict.OPEN) {
      boolean won = trial.isWon(verdict);
      if (won && lesson.doubts(trial)) {
        disturb(now);
        return;
      }
      Arm former = lesson.measured() ? lesson.arm() : null;
      pay(trial.lostNanos(won));
      lesson.learn(trial, won);
      lessons.learned(lesson);
      if (former != null && former != lesson.arm()) {
        tally.changes.increment();
      }
      trial = null;
      callers = 0;
      tally.learned(lessons.all());
    }
    choose(trial == null ? lesson.arm() : trial.arm(), now);
  }

  private void choose(Arm chosen, long now) {
    if (arm == chosen) {
      return;
    }
    arm = chosen;
    callers = 0;
    forgetShown();
    settling = true;
    schedule(now, settleLength());
  }

  private void begin(Window sums, long length) {
    before = sums;
    schedule(sums.nanos(), length);
  }

  private void schedule(long now, long length) {
    planned = length;
    end = now + length;
  }

  /** Notes how long an answer takes: within a trial, by the slower arm. */
  private void slow(Window window) {
    long mean = window.count() == 0 ? 0 : window.latency() / window.count();
    slowest = trial == null ? mean : Math.max(slowest, mean);
    pause = window.nanos() / Math.max(1, window.count());
    oneOf = Math.clamp(WINDOW / Math.max(1, pause) / CLOSELY, 1, MOST_OF_ONE);
  }

  private long windowLength() {
    long forAnswers = Math.min(SPARSE, ANSWERS * pause);
    return Math.clamp(Math.max(10 * slowest, forAnswers), WINDOW, LONGEST_WINDOW);
  }

  private long settleLength() {
    return Math.clamp(2 * slowest, SETTLE, LONGEST_SETTLE);
  }

  /** Returns counters by name, in groups. */
  public SortedMap<String, SortedMap<String, Long>> totals() {
    return tally.totals();
  }
}
