package dev.vamana.tools.gpu;

import dev.vamana.search.SegmentView;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import java.io.IOException;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.apache.lucene.util.VectorUtil;

/**
 * A set of different queries, as many as the largest batch has. If a batch repeated the set's own
 * queries, a query would find in the caches what its repetition has just read.
 *
 * <p>After the set's own queries come midpoints between a random base vector and a random one of
 * its neighbours in the graph, or of its list: new points near the data, about as far from their
 * nearest neighbours as the set's own queries.
 */
final class QueryPool {

  private static final long SEED = 20_261_121;

  private QueryPool() {}

  /**
   * Returns the queries, the set's own first.
   *
   * @param view a segment whose ordinals are the rows of the base
   * @param count number of queries; at least as many as the set has are returned
   */
  static float[][] of(VectorSet set, SegmentView view, int count) throws IOException {
    float[][] own = set.queries().rows();
    if (count <= own.length) {
      return own;
    }
    float[][] base = set.base().rows();
    float[][] queries = Arrays.copyOf(own, count);
    SplittableRandom random = new SplittableRandom(SEED);
    Neighbors neighbors = view.hasLists() ? ofLists(view) : ofGraph(view);
    for (int i = own.length; i < count; i++) {
      int node = random.nextInt(base.length);
      int other = neighbors.draw(node, random);
      queries[i] = midpoint(base[node], base[other], set.metric() == Metric.COSINE);
    }
    return queries;
  }

  /** Draws a vector near another. */
  private interface Neighbors {
    int draw(int ordinal, SplittableRandom random) throws IOException;
  }

  private static Neighbors ofGraph(SegmentView view) throws IOException {
    int[] row = new int[view.adjacency().maxDegree()];
    return (ordinal, random) -> {
      int degree = view.adjacency().neighbors(ordinal, row);
      return degree == 0 ? random.nextInt(view.size()) : row[random.nextInt(degree)];
    };
  }

  /** The first of the same list from a random ordinal on. */
  private static Neighbors ofLists(SegmentView view) throws IOException {
    int[] ordinals = IntStream.range(0, view.size()).toArray();
    int[] lists = new int[ordinals.length];
    view.lists().find(ordinals, ordinals.length, lists);
    return (ordinal, random) -> {
      int other = random.nextInt(view.size());
      while (lists[other] != lists[ordinal]) {
        other = (other + 1) % view.size();
      }
      return other;
    };
  }

  private static float[] midpoint(float[] a, float[] b, boolean unitLength) {
    float[] middle = new float[a.length];
    for (int d = 0; d < middle.length; d++) {
      middle[d] = (a[d] + b[d]) / 2;
    }
    return unitLength ? VectorUtil.l2normalize(middle, false) : middle;
  }
}
