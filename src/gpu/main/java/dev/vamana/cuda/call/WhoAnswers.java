package dev.vamana.cuda.call;

import dev.vamana.cuda.plan.PlanChooser;
import dev.vamana.cuda.plan.Workload;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;

/**
 * Decides whether the CPU or the device answers single queries that both answer alike.
 *
 * <p>The rule: queries of one kind over one family of segments are decided together, for a window
 * of {@value #WINDOW_MILLIS} ms. The side with the shorter wait answers, and the CPU if the waits
 * differ by less than a tenth. A wait is the time that callers wait for the work that takes a
 * thread of an idle CPU one nanosecond. It is taken from a table of waits that were measured at
 * this load, by family, kind and side. Where nothing was measured, or not lately, the cost model
 * predicts the wait, and half of its prediction counts for the device: a device that is never tried
 * is never measured. A side that was tried and lost is not tried again for two seconds, and for
 * twice as long after each further loss.
 *
 * <p>The load is the number of callers that wait at the same time, by Little's law: the sum of all
 * waits in a window divided by the length of the window, up to the next power of two.
 *
 * <p>The first caller that finds a window over decides about the next. Thread-safe.
 */
public final class WhoAnswers {

  private static final long WINDOW_MILLIS = 50;
  private static final long WINDOW = WINDOW_MILLIS * 1_000_000;

  /** Fewer answers say nothing about a wait. */
  private static final int LEAST_ANSWERS = 32;

  /** Answers of a side that do not count: a fresh process has not compiled their code. */
  private static final int COLD = 2_000;

  /** Part of the CPU's wait below which the device's wait has to be. */
  private static final double CLEARLY = 0.9;

  /** Part of a prediction that counts for the device, and for the search of another format. */
  private static final double HOPE = 0.5;

  private static final long FIRST_REST = 2_000_000_000L;
  private static final long LONGEST_REST = 64_000_000_000L;

  /** Loads that are told apart: 1 caller, 2, up to 4, up to 8, and so on. */
  private static final int LOADS = 12;

  private final int processors;
  private final Map<Key, Kind> kinds = new ConcurrentHashMap<>();
  private final LongAdder otherWaits = new LongAdder();
  private final AtomicBoolean busy = new AtomicBoolean();
  private volatile long end;
  private volatile long window;
  private volatile double callers = 1;
  // the following are guarded by busy
  private long begun;
  private long waitedBefore;

  /**
   * Makes an instance that has measured nothing.
   *
   * @param processors of the node, at least 1
   */
  public WhoAnswers(int processors, long now) {
    this.processors = processors;
    this.begun = now;
    this.end = now + WINDOW;
  }

  private record Key(Object family, boolean exact, int work) {}

  /** Queries over one family of segments that take the CPU about as long. */
  public static final class Kind {
    private final LongAdder answers = new LongAdder();
    private final LongAdder waited = new LongAdder();
    private final LongAdder work = new LongAdder();
    private volatile boolean device;
    private volatile Workload task;
    private volatile PlanChooser costs;
    private double hope;
    // the following are guarded by busy
    private final Measured[] byCpu = new Measured[LOADS];
    private final Measured[] byDevice = new Measured[LOADS];
    private final int[] cold = {COLD, COLD};
    private int load;
    private long answersBefore;
    private long waitedBefore;
    private long workBefore;

    /** Whether the device answers now. */
    public boolean onDevice() {
      return device;
    }
  }

  /** A wait that was measured. */
  private static final class Measured {
    private double wait;
    private long at;
    private long rest = FIRST_REST;
  }

  /**
   * Returns the kind of a single query.
   *
   * @param family {@link dev.vamana.search.SegmentView#family} of the segments that it searches
   * @param task the query over all of them, on an idle node
   * @param format whether the CPU answers by another format, of whose cost the model knows nothing
   */
  Kind kind(Object family, Workload task, PlanChooser costs, boolean format) {
    int magnitude = Math.getExponent(costs.cpuNanos(task));
    Key key = new Key(family, task.cpu().scans(), magnitude);
    Kind kind =
        kinds.computeIfAbsent(
            key,
            unseen -> {
              Kind fresh = new Kind();
              fresh.hope = format ? HOPE : 1;
              fresh.task = task;
              fresh.costs = costs;
              fresh.load = load();
              fresh.device = deviceIsBetter(fresh, fresh.load, 0);
              return fresh;
            });
    kind.task = task;
    kind.costs = costs;
    return kind;
  }

  /** Forgets a family whose last segment was closed. */
  public void forget(Object family) {
    kinds.keySet().removeIf(key -> key.family().equals(family));
  }

  /** Returns the number of the window. */
  public long window() {
    return window;
  }

  /** Returns about how many callers wait at the same time. */
  double callers() {
    return callers;
  }

  /**
   * Records an answer.
   *
   * @param kind kind of the query; null if only one side can answer it
   * @param work nanoseconds that an idle CPU is expected to take
   * @param waited nanoseconds that the caller waited
   * @param now time of the clock
   */
  public void answered(Kind kind, double work, long waited, long now) {
    if (kind == null) {
      otherWaits.add(waited);
    } else {
      kind.answers.increment();
      kind.waited.add(waited);
      kind.work.add((long) work);
    }
    if (now - end >= 0 && busy.compareAndSet(false, true)) {
      try {
        if (now - end >= 0) {
          windowEnded(now);
        }
      } finally {
        busy.set(false);
      }
    }
  }

  private void windowEnded(long now) {
    // a forgotten family takes its waits along
    long waits = otherWaits.sum() + kinds.values().stream().mapToLong(k -> k.waited.sum()).sum();
    double waiting = Math.max(0, waits - waitedBefore) / (double) (now - begun);
    double known = callers;
    callers = (known + Math.max(1, waiting)) / 2;
    kinds.values().forEach(kind -> measure(kind, now));
    kinds.values().forEach(kind -> decide(kind, now));
    waitedBefore = waits;
    begun = now;
    long next = window + 1;
    window = next;
    end = now + WINDOW;
  }

  private int load() {
    return Math.min(LOADS - 1, Math.getExponent(Math.max(1, callers) * 2 - 1));
  }

  /** Notes the wait of the side that has answered, if it has answered often enough. */
  private void measure(Kind kind, long now) {
    long answers = kind.answers.sum() - kind.answersBefore;
    long work = kind.work.sum() - kind.workBefore;
    if (answers < LEAST_ANSWERS || work <= 0) {
      return;
    }
    int side = kind.device ? 1 : 0;
    if (kind.cold[side] > 0) {
      kind.cold[side] -= (int) Math.min(answers, kind.cold[side]);
      begin(kind);
      return;
    }
    Measured[] measured = kind.device ? kind.byDevice : kind.byCpu;
    Measured known = measured[kind.load] == null ? new Measured() : measured[kind.load];
    double wait = (kind.waited.sum() - kind.waitedBefore) / (double) work;
    boolean lately = known.wait > 0 && now - known.at <= FIRST_REST;
    known.wait = lately ? (known.wait + wait) / 2 : wait;
    known.at = now;
    measured[kind.load] = known;
    begin(kind);
  }

  private void decide(Kind kind, long now) {
    int load = load();
    boolean device = deviceIsBetter(kind, load, now);
    Measured lost = kind.device ? kind.byDevice[load] : kind.byCpu[load];
    if (device != kind.device && load == kind.load && lost != null) {
      lost.rest = Math.min(2 * lost.rest, LONGEST_REST);
    }
    if (device != kind.device || load != kind.load) {
      kind.device = device;
      kind.load = load;
      begin(kind);
    }
  }

  private static void begin(Kind kind) {
    kind.answersBefore = kind.answers.sum();
    kind.waitedBefore = kind.waited.sum();
    kind.workBefore = kind.work.sum();
  }

  private boolean deviceIsBetter(Kind kind, int load, long now) {
    int asking = 1 << load;
    double busyCpu = Math.max(1, asking / (double) processors);
    double predicted = kind.costs.deviceNanos(kind.task, asking, busyCpu);
    double work = kind.task.segments() * kind.costs.cpuNanos(kind.task);
    double cpu = wait(kind.byCpu[load], kind.hope * busyCpu, now);
    double device = wait(kind.byDevice[load], HOPE * predicted / work, now);
    return device < CLEARLY * cpu;
  }

  /** Returns a measured wait, or the predicted one if the measured one is old. */
  private static double wait(Measured measured, double predicted, long now) {
    return measured == null || now - measured.at > measured.rest ? predicted : measured.wait;
  }
}
