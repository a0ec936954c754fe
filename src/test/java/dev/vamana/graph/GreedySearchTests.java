package dev.vamana.graph;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.Test;

/** Searches for nodes that have neighbours, in graphs on a line. */
public class GreedySearchTests extends RandomizedTest {

  private static final BuildParameters PARAMETERS = new BuildParameters(8, 32, 1.2f, 0);
  private static final int HALF = 60;

  private final GraphTestVectors vectors = new GraphTestVectors(1);
  private final int[][] graph = new int[2 * HALF][];

  /**
   * Two groups of nodes on a line, each linked with those beside it. They are linked with each
   * other only on request.
   */
  private GreedySearch search(boolean linked) throws IOException {
    for (int node = 0; node < graph.length; node++) {
      boolean second = node >= HALF;
      vectors.vectors.add(new float[] {node + (second ? 10 * HALF : 0)});
      graph[node] =
          IntStream.of(node - 2, node - 1, node + 1, node + 2)
              .filter(other -> other >= 0 && other < graph.length)
              .filter(other -> linked || other >= HALF == second)
              .toArray();
    }
    return new GreedySearch(
        new ListedAdjacency(graph),
        SearchWidths.second(PARAMETERS),
        0,
        vectors.distances().create());
  }

  private void searchAgain(GreedySearch search, int node) throws IOException {
    int[] row = new int[] {node - 1, node + 1, node - 2, node + 2};
    float[] distances = new float[row.length];
    for (int i = 0; i < row.length; i++) {
      distances[i] = vectors.squaredDistance(node, row[i]);
    }
    search.searchAgain(node, row, distances, row.length);
  }

  private static Set<Integer> found(GreedySearch search) {
    Set<Integer> found = new HashSet<>();
    for (int rank = 0; rank < search.worklist().size(); rank++) {
      assertTrue("repeated", found.add(search.worklist().ordinal(rank)));
    }
    return found;
  }

  @Test
  public void goesOnFromTheNeighbors() throws IOException {
    GreedySearch search = search(true);
    int node = randomIntBetween(HALF + 12, 2 * HALF - 13);
    searchAgain(search, node);
    assertEquals(-1, search.strayed());
    Set<Integer> found = found(search);
    assertFalse("the node itself", found.contains(node));
    for (int other = 1; other <= 8; other++) {
      assertTrue(found.contains(node - other));
      assertTrue(found.contains(node + other));
    }
  }

  @Test
  public void tellsWhereItStraysIfTheNodeCannotBeFound() throws IOException {
    GreedySearch search = search(false);
    searchAgain(search, randomIntBetween(HALF + 2, 2 * HALF - 3));
    assertEquals("the nearest node of the other group", HALF - 1, search.strayed());
    for (int found : found(search)) {
      assertTrue("a node of the entry point's group", found < HALF);
    }
    search.search(HALF - 1);
    assertEquals("another search", -1, search.strayed());
  }

  @Test
  public void theEntryPointNeedsNoWalk() throws IOException {
    GreedySearch search = search(false);
    search.searchAgain(0, new int[] {1, 2}, new float[] {1, 4}, 2);
    assertEquals(-1, search.strayed());
    Set<Integer> found = found(search);
    assertFalse(found.contains(0));
    assertTrue(found.contains(1) && found.contains(2) && found.contains(9));
  }
}
