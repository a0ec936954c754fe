package dev.vamana.cuda.regime;

/**
 * What happened in a stretch of time, or in all the time before a moment.
 *
 * @param nanos its length
 * @param count answers that ended in it
 * @param work predicted nanoseconds of the CPU for these items
 * @param favoured the part of {@code work} that is expected to be cheaper on an idle device
 * @param latency nanoseconds that their callers waited, in sum
 */
record Window(long nanos, long count, long work, long favoured, long latency) {

  static final Window NONE = new Window(0, 0, 0, 0, 0);

  Window plus(Window other) {
    return new Window(
        nanos + other.nanos,
        count + other.count,
        work + other.work,
        favoured + other.favoured,
        latency + other.latency);
  }

  /** Returns what happened since a moment. Sums of {@link OwnTimes} may have been overwritten. */
  Window minus(Window before) {
    return new Window(
        nanos - before.nanos,
        Math.max(0, count - before.count),
        Math.max(0, work - before.work),
        Math.max(0, favoured - before.favoured),
        Math.max(0, latency - before.latency));
  }

  /** Returns this window, or if nothing was answered one with an answer of hardly any work. */
  Window orStill() {
    return count > 0 && work > 0 ? this : new Window(nanos, 1, 1, 0, nanos);
  }

  /** Returns the work done in a nanosecond. */
  double rate() {
    return work / (double) nanos;
  }

  /** Returns the nanoseconds waited for a nanosecond of work. */
  double meanWait() {
    return latency / (double) work;
  }

  /** Returns the mean number of callers that waited at the same time, by Little's law. */
  double inFlight() {
    return latency / (double) nanos;
  }

  /**
   * Returns the callers in flight and one more, by which loads are compared: a fourth of a caller
   * is no other load than half a caller.
   */
  double callers() {
    return 1 + inFlight();
  }

  /** Whether one of two values is more than so many times the other. */
  static boolean differ(double a, double b, double factor) {
    return a > b * factor || b > a * factor;
  }

  /** Returns the mean work of an answer. */
  double meanWork() {
    return work / (double) count;
  }
}
