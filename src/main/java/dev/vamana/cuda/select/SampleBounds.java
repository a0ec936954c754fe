package dev.vamana.cuda.select;

/**
 * Bounds of Sample Select: how many places around its expected rank in the sorted sample the wanted
 * pair is searched, and room for the pairs in between. In a sample of s keys, the number of keys
 * below the wanted one has mean r and standard deviation of at most sqrt(r (1 - r / s)). With 4.5
 * standard deviations fewer than one row in 100,000 has to be read again.
 *
 * @param margin places of the sample on each side
 * @param capacity number of pairs
 */
public record SampleBounds(int margin, int capacity) {

  private static final double DEVIATIONS = 4.5;

  /** Returns the bounds for k of n keys. */
  public static SampleBounds of(int n, int k) {
    double s = SelectMethod.SAMPLE;
    double rank = (double) k / n * s;
    int margin = 4 + (int) Math.ceil(DEVIATIONS * Math.sqrt(1 + rank * (1 - rank / s)));
    double places = 2 * margin + 2;
    double pairs = (places + DEVIATIONS * Math.sqrt(places)) / s * n + 64;
    return new SampleBounds(margin, (int) Math.min(n, Math.ceil(pairs)));
  }
}
