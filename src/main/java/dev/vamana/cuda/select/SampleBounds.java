package dev.vamana.cuda.select;

/**
 * How far from its expected place in a sorted sample the wanted pair is looked for, and room for
 * what lies between. Of a sample of s keys, the number below the wanted one is spread by at most
 * sqrt(r (1 - r / s)) around its mean r; with 4.5 times that, fewer than one row in 100,000 has to
 * be read again.
 *
 * @param margin places of the sample on each side
 * @param capacity pairs
 */
record SampleBounds(int margin, int capacity) {

  private static final double DEVIATIONS = 4.5;

  static SampleBounds of(int n, int k) {
    double s = SelectMethod.SAMPLE;
    double rank = (double) k / n * s;
    int margin = 4 + (int) Math.ceil(DEVIATIONS * Math.sqrt(1 + rank * (1 - rank / s)));
    double places = 2 * margin + 2;
    double pairs = (places + DEVIATIONS * Math.sqrt(places)) / s * n + 64;
    return new SampleBounds(margin, (int) Math.min(n, Math.ceil(pairs)));
  }
}
