package dev.vamana.cuda.regime;

/**
 * Ratios of pairs of windows, one of each arm. Says whether the second arm is better than the
 * first, as soon as the pairs agree well enough.
 */
final class Pairs {

  /** Most pairs of a trial. */
  static final int MOST = 10;

  /** Logarithm of the ratio above which an arm is better. */
  static final double MARGIN = Math.log(1.03);

  /** Logarithm of the ratio beyond which one arm is far worse than the other. */
  static final double FAR = Math.log(1.5);

  /** Standard errors that a mean has to be away from 0, by number of pairs: as Student's t. */
  private static final double[] ERRORS = {0, 0, 6, 4, 3, 2.7};

  /** Pairs that are needed to rule chance out: fewer may agree by chance. */
  private static final int LEAST_SURE = 6;

  /** Pairs that all have to point to one arm to rule chance out, however far they scatter. */
  private static final int LEAST_UNANIMOUS = 8;

  /** Least standard deviation of a pair: pairs may agree by chance. */
  private static final double LEAST_DEVIATION = 0.015;

  private int count;
  private int above;
  private double sum;
  private double squares;
  private double chances;

  /** How the second arm compares with the first. */
  enum Verdict {
    BETTER,
    WORSE,
    EQUAL,
    /** More pairs are needed. */
    OPEN
  }

  /**
   * Adds a pair.
   *
   * @param ratio result of the second arm divided by that of the first
   * @param chance standard deviation of the logarithm that the few answers of the windows cause
   */
  void add(double ratio, double chance) {
    double log = Math.log(ratio);
    count++;
    above += log > 0 ? 1 : 0;
    chances += chance;
    sum += log;
    squares += log * log;
  }

  int count() {
    return count;
  }

  double mean() {
    return sum / count;
  }

  /**
   * Whether chance is ruled out: the mean is so far from 0, or all pairs point to one arm. The
   * second counts where a few pairs are far from the others, since that makes the error large.
   */
  boolean sure() {
    boolean unanimous = above == 0 || above == count;
    return (count >= LEAST_SURE && Math.abs(mean()) > 1.5 * error())
        || (count >= LEAST_UNANIMOUS && unanimous);
  }

  private double error() {
    double variance = count < 2 ? 0 : (squares - sum * sum / count) / (count - 1);
    double least = Math.max(LEAST_DEVIATION, chances / count);
    double deviation = Math.max(least, Math.sqrt(Math.max(0, variance)));
    return ERRORS[Math.min(count, ERRORS.length - 1)] * deviation / Math.sqrt(count);
  }

  /**
   * Returns what the pairs say so far.
   *
   * @param known whether the first arm was better before: then one pair is enough to see that the
   *     second is still far worse
   */
  Verdict verdict(boolean known) {
    double mean = mean();
    if (count < 2) {
      return known && mean < -FAR ? Verdict.WORSE : Verdict.OPEN;
    }
    double error = error();
    if (mean > MARGIN && mean - error > 0) {
      return Verdict.BETTER;
    }
    if (mean < -MARGIN && mean + error < 0) {
      return Verdict.WORSE;
    }
    boolean equal = mean + error < MARGIN && mean - error > -MARGIN;
    return equal || count >= MOST ? Verdict.EQUAL : Verdict.OPEN;
  }
}
