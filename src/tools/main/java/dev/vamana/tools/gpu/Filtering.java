package dev.vamana.tools.gpu;

import dev.vamana.tools.datasets.VectorSet;
import java.util.Arrays;
import java.util.Comparator;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.util.FixedBitSet;

/**
 * A filter for each query of a set, and the nearest accepted vectors.
 *
 * @param accepted accepted ordinals of each query
 * @param nearest ordinals of the nearest accepted vectors of each query, nearest first
 */
record Filtering(FixedBitSet[] accepted, int[][] nearest) {

  /** How accepted vectors lie to their query. */
  enum Kind {
    /** Drawn by lot. */
    INDEPENDENT,
    /** The nearest ones of the set. */
    NEAR,
    /** The farthest ones of the set. */
    FAR
  }

  private static final long SEED = 17;

  // relative: scores of distant vectors are small, and differ by less than any constant
  private static final float ROUNDING = 1e-5f;

  /**
   * Returns how many hits of a query are as near as its nearest accepted vectors. Equal distances
   * are equally good.
   */
  int good(VectorSet set, int query, ScoreDoc[] hits) {
    int farthest = nearest[query][nearest[query].length - 1];
    float worst =
        set.similarity().compare(set.queries().rows()[query], set.base().rows()[farthest]);
    float least = worst * (1 - ROUNDING);
    return (int) Arrays.stream(hits).filter(hit -> hit.score >= least).count();
  }

  /** Orders all vectors of the set by their distance to each query, nearest first. */
  static int[][] orders(VectorSet set, int queries) {
    return IntStream.range(0, queries)
        .parallel()
        .mapToObj(q -> order(set, q))
        .toArray(int[][]::new);
  }

  private static int[] order(VectorSet set, int query) {
    float[] vector = set.queries().rows()[query];
    float[][] rows = set.base().rows();
    float[] scores = new float[rows.length];
    for (int i = 0; i < rows.length; i++) {
      scores[i] = set.similarity().compare(vector, rows[i]);
    }
    Integer[] order = IntStream.range(0, rows.length).boxed().toArray(Integer[]::new);
    Arrays.sort(
        order,
        Comparator.<Integer>comparingDouble(ordinal -> -scores[ordinal])
            .thenComparing(Comparator.naturalOrder()));
    return Arrays.stream(order).mapToInt(Integer::intValue).toArray();
  }

  /**
   * Makes filters that accept a share of the vectors, and at least {@code k} of them.
   *
   * @param orders what {@link #orders} returns
   * @param share 0 to 1
   */
  static Filtering of(int[][] orders, Kind kind, double share, int k) {
    FixedBitSet[] accepted = new FixedBitSet[orders.length];
    int[][] nearest = new int[orders.length][];
    SplittableRandom random = new SplittableRandom(SEED);
    for (int q = 0; q < orders.length; q++) {
      int size = orders[q].length;
      int count = (int) Math.max(k, Math.round(share * size));
      FixedBitSet bits = new FixedBitSet(size);
      switch (kind) {
        case NEAR -> Arrays.stream(orders[q], 0, count).forEach(bits::set);
        case FAR -> Arrays.stream(orders[q], size - count, size).forEach(bits::set);
        case INDEPENDENT -> {
          while (bits.cardinality() < count) {
            for (int missing = count - bits.cardinality(); missing > 0; missing--) {
              bits.set(random.nextInt(size));
            }
          }
        }
      }
      accepted[q] = bits;
      nearest[q] = Arrays.stream(orders[q]).filter(bits::get).limit(k).toArray();
    }
    return new Filtering(accepted, nearest);
  }
}
