package dev.vamana.tools.cells;

/**
 * Our throughput divided by the stock index's at one recall.
 *
 * @param wanted recall@10 that was asked for
 * @param recall recall at which both were compared: the wanted one, or the recall of the cheapest
 *     search of one index if that is higher
 * @param ours requests a second; NaN if our index did not reach the recall
 * @param stock requests a second; NaN if the stock index did not reach the recall
 */
public record Comparison(double wanted, double recall, double ours, double stock) {

  /** The rule: at equal recall no cell is below this share of the stock index. */
  public static final double RULE = 0.95;

  /** Recalls of two cheapest searches that differ by less are compared as equal. */
  static final double SAME_RECALL = 0.0025;

  /** Compares two curves. */
  public static Comparison of(Curve ours, Curve stock, double wanted) {
    double oursLeast = ours.cheapest().recall();
    double stockLeast = stock.cheapest().recall();
    double recall = Math.max(wanted, Math.max(oursLeast, stockLeast));
    if (wanted <= Math.min(oursLeast, stockLeast)
        && Math.abs(oursLeast - stockLeast) <= SAME_RECALL) {
      return new Comparison(
          wanted, recall, ours.cheapest().perSecond(), stock.cheapest().perSecond());
    }
    return new Comparison(wanted, recall, ours.perSecondAt(recall), stock.perSecondAt(recall));
  }

  /** Whether no search is so cheap that it has only the wanted recall. */
  boolean raised() {
    return recall > wanted;
  }

  /** Our throughput divided by the stock index's; NaN if one of them did not reach the recall. */
  public double ratio() {
    return ours / stock;
  }

  /** Whether the rule is broken. */
  boolean below() {
    return ratio() < RULE;
  }
}
