package dev.vamana.graph;

import static java.util.stream.Collectors.toSet;
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import java.io.IOException;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;
import org.junit.Test;

public class RobustPruneTests extends RandomizedTest {

  /** A measure of two vectors. */
  private interface Measure {
    double of(int one, int other);
  }

  private static int[] byDistance(GraphTestVectors vectors, int node, Measure measure) {
    return IntStream.range(0, vectors.size())
        .boxed()
        .sorted(
            Comparator.comparingDouble((Integer other) -> measure.of(node, other))
                .thenComparingInt(Integer::intValue))
        .mapToInt(Integer::intValue)
        .toArray();
  }

  private static float[] distances(int node, int[] candidates, Measure measure) {
    float[] distances = new float[candidates.length];
    for (int i = 0; i < distances.length; i++) {
      distances[i] = (float) measure.of(node, candidates[i]);
    }
    return distances;
  }

  /** Prunes candidates of which none is settled. */
  private static int prune(RobustPrune prune, int node, int[] candidates, float[] distances)
      throws IOException {
    boolean[] settled = new boolean[candidates.length];
    return prune.prune(node, candidates, distances, settled, candidates.length);
  }

  /** Settled neighbours are chosen as if all candidates were compared again. */
  @Test
  public void settledNeighboursNeedNoComparison() throws IOException {
    for (int round = 0; round < 30; round++) {
      GraphTestVectors vectors =
          GraphTestVectors.gaussian(getRandom(), randomIntBetween(2, 200), randomIntBetween(1, 8));
      int node = randomIntBetween(0, vectors.size() - 1);
      RobustPrune prune =
          new RobustPrune(
              vectors.distances().create(),
              new BuildParameters(randomIntBetween(BuildParameters.MIN_DEGREE, 32), 64, 1.2f, 1));
      int[] all = byDistance(vectors, node, vectors::squaredDistance);
      int[] some = IntStream.of(all).filter(i -> randomBoolean()).toArray();
      int kept = prune(prune, node, some, distances(node, some, vectors::squaredDistance));
      Set<Integer> before = IntStream.of(prune.kept()).limit(kept).boxed().collect(toSet());
      int[] candidates =
          IntStream.of(all).filter(i -> before.contains(i) || randomBoolean()).toArray();
      float[] distances = distances(node, candidates, vectors::squaredDistance);
      int expected = prune(prune, node, candidates, distances);
      int[] chosen = Arrays.copyOf(prune.kept(), expected);
      boolean[] settled = new boolean[candidates.length];
      for (int i = 0; i < candidates.length; i++) {
        settled[i] = before.contains(candidates[i]);
      }
      assertEquals(expected, prune.prune(node, candidates, distances, settled, candidates.length));
      assertArrayEquals(chosen, Arrays.copyOf(prune.kept(), expected));
    }
  }

  @Test
  public void keepsDiverseNearNeighbours() throws IOException {
    for (int round = 0; round < 30; round++) {
      GraphTestVectors vectors =
          GraphTestVectors.gaussian(getRandom(), randomIntBetween(2, 120), randomIntBetween(1, 8));
      float alpha = 1 + randomIntBetween(0, 4) / 4f;
      int degree = randomIntBetween(BuildParameters.MIN_DEGREE, 32);
      RobustPrune prune =
          new RobustPrune(vectors.distances().create(), new BuildParameters(degree, 64, alpha, 1));
      int node = randomIntBetween(0, vectors.size() - 1);
      int[] candidates = byDistance(vectors, node, vectors::squaredDistance);
      float[] candidateDistances = distances(node, candidates, vectors::squaredDistance);
      int kept = prune(prune, node, candidates, candidateDistances);
      assertTrue(kept >= 1 && kept <= degree);
      Set<Integer> chosen = new HashSet<>();
      for (int i = 0; i < kept; i++) {
        assertTrue("twice", chosen.add(prune.kept()[i]));
        assertEquals(
            vectors.squaredDistance(node, prune.kept()[i]),
            prune.keptDistances()[i],
            1e-3f * (1 + prune.keptDistances()[i]));
        assertTrue(i == 0 || prune.keptDistances()[i - 1] <= prune.keptDistances()[i]);
      }
      assertTrue("the node itself", chosen.contains(node) == false);
      // candidates[0] is the node; the nearest other is always kept
      assertTrue(chosen.contains(candidates[1]));
      assertOcclusion(
          node,
          candidates,
          chosen,
          alpha,
          kept < degree,
          vectors::squaredDistance,
          vectors::squaredDistance);
    }
  }

  /** No kept neighbour occludes another; with room left, each dropped one is occluded by one. */
  private static void assertOcclusion(
      int node,
      int[] candidates,
      Set<Integer> chosen,
      float alpha,
      boolean roomLeft,
      Measure order,
      Measure spread) {
    for (int candidate : candidates) {
      if (candidate == node) {
        continue;
      }
      double own = spread.of(node, candidate);
      double nearest =
          chosen.stream()
              .filter(other -> other != candidate)
              .filter(other -> order.of(node, other) <= order.of(node, candidate))
              .mapToDouble(other -> spread.of(other, candidate))
              .min()
              .orElse(Double.POSITIVE_INFINITY);
      if (chosen.contains(candidate)) {
        assertTrue(alpha * nearest >= own * 0.999);
      } else if (roomLeft) {
        assertTrue(alpha * nearest <= own * 1.001);
      }
    }
  }

  @Test
  public void innerProductsOrderAndDirectionsOcclude() throws IOException {
    GraphTestVectors vectors = GraphTestVectors.gaussian(getRandom(), 60, 4);
    // nearest by inner product to most others
    vectors.vectors.set(9, new float[] {50, 50, 50, 50});
    int node = randomIntBetween(0, 59);
    float alpha = 1 + randomIntBetween(0, 4) / 4f;
    int degree = randomIntBetween(BuildParameters.MIN_DEGREE, 40);
    RobustPrune prune =
        new RobustPrune(
            vectors.distances(VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT).create(),
            new BuildParameters(degree, 64, alpha, 1));
    Measure product = (one, other) -> product(vectors, one, other);
    int[] candidates = byDistance(vectors, node, product);
    float[] distances = distances(node, candidates, product);
    int kept = prune(prune, node, candidates, distances);
    Set<Integer> chosen = IntStream.of(prune.kept()).limit(kept).boxed().collect(toSet());
    assertEquals("twice", kept, chosen.size());
    assertOcclusion(
        node,
        candidates,
        chosen,
        alpha,
        kept < degree,
        product,
        (one, other) -> direction(vectors, one, other));
    assertEquals(candidates[0] == node ? candidates[1] : candidates[0], prune.kept()[0]);
    assertTrue("one long vector hides all others", kept > 1);
  }

  /** The negated inner product. */
  private static double product(GraphTestVectors vectors, int one, int other) {
    return -VectorUtil.dotProduct(vectors.vectors.get(one), vectors.vectors.get(other));
  }

  /** Squared distance of two directions. */
  private static double direction(GraphTestVectors vectors, int one, int other) {
    double norms = Math.sqrt(product(vectors, one, one) * product(vectors, other, other));
    return 2 + 2 * product(vectors, one, other) / norms;
  }
}
