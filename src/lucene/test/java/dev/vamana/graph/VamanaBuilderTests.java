package dev.vamana.graph;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import com.carrotsearch.randomizedtesting.annotations.ThreadLeakLingering;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.FixedBitSet;
import org.junit.Test;

/** Tests whole graphs: rows are well formed, every node is reachable, searches find neighbours. */
@ThreadLeakLingering(linger = 5_000)
public class VamanaBuilderTests extends RandomizedTest {

  private static BuildParameters parameters(int degree) {
    return new BuildParameters(degree, Math.max(degree, 32), 1.2f, randomLong());
  }

  private static VamanaGraph build(GraphTestVectors vectors, BuildParameters parameters)
      throws IOException {
    return build(vectors, parameters, Workers.callingThread(), null);
  }

  private static VamanaGraph build(
      GraphTestVectors vectors, BuildParameters parameters, Workers workers, ExistingGraph existing)
      throws IOException {
    int medoid = randomIntBetween(0, vectors.size() - 1);
    return new VamanaBuilder(
            vectors.distances(), parameters, workers, MemoryBudget.halfOfHeap(), AbortCheck.NEVER)
        .build(medoid, existing == null ? List.of() : List.of(existing));
  }

  private static int[] rowOf(VamanaGraph graph, int node) throws IOException {
    int[] row = new int[graph.rows().maxDegree()];
    int degree = graph.rows().neighbors(node, row);
    return Arrays.copyOf(row, degree);
  }

  private static void assertWellFormed(VamanaGraph graph, int size) throws IOException {
    FixedBitSet reached = new FixedBitSet(size);
    ArrayDeque<Integer> queue = new ArrayDeque<>();
    reached.set(graph.entryPoint());
    queue.add(graph.entryPoint());
    for (int node = 0; node < size; node++) {
      int[] row = rowOf(graph, node);
      assertTrue(row.length <= graph.maxDegree());
      assertEquals("repeated", row.length, Arrays.stream(row).distinct().count());
      for (int neighbor : row) {
        assertTrue("self or outside: " + neighbor, neighbor != node && neighbor < size);
        assertTrue(neighbor >= 0);
      }
    }
    while (queue.isEmpty() == false) {
      for (int neighbor : rowOf(graph, queue.poll())) {
        if (reached.getAndSet(neighbor) == false) {
          queue.add(neighbor);
        }
      }
    }
    assertEquals("unreachable nodes", size, reached.cardinality());
  }

  @Test
  public void everyNodeIsReachable() throws IOException {
    for (int round = 0; round < 25; round++) {
      int size = randomBoolean() ? randomIntBetween(1, 40) : randomIntBetween(1, 1_200);
      int dimension = randomIntBetween(1, 12);
      GraphTestVectors vectors =
          switch (randomIntBetween(0, 3)) {
            case 0 -> GraphTestVectors.gaussian(getRandom(), size, dimension);
            case 1 -> GraphTestVectors.repeated(getRandom(), size, dimension, 1);
            case 2 -> GraphTestVectors.repeated(getRandom(), size, dimension, 3);
            default -> GraphTestVectors.repeated(getRandom(), size, dimension, 1 + size / 2);
          };
      BuildParameters parameters = parameters(randomIntBetween(BuildParameters.MIN_DEGREE, 24));
      assertWellFormed(build(vectors, parameters), size);
    }
  }

  @Test
  public void everyNodeIsReachableAmongThousandsOfEqualVectors() throws IOException {
    GraphTestVectors vectors = GraphTestVectors.repeated(getRandom(), 5_000, 3, 1);
    assertWellFormed(build(vectors, parameters(BuildParameters.MIN_DEGREE)), 5_000);
  }

  @Test
  public void vectorsOfZeroWithEverySimilarity() throws IOException {
    GraphTestVectors vectors = new GraphTestVectors(4);
    for (int i = 0; i < 300; i++) {
      vectors.vectors.add(new float[4]);
    }
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      VamanaGraph graph =
          new VamanaBuilder(
                  vectors.distances(similarity),
                  parameters(8),
                  Workers.callingThread(),
                  MemoryBudget.halfOfHeap(),
                  AbortCheck.NEVER)
              .build(randomIntBetween(0, 299), List.of());
      assertWellFormed(graph, 300);
    }
  }

  @Test
  public void oneThreadBuildsTheSameGraphEachTime() throws IOException {
    GraphTestVectors vectors = GraphTestVectors.gaussian(getRandom(), 1_000, 8);
    BuildParameters parameters = parameters(12);
    int medoid = randomIntBetween(0, 999);
    VamanaGraph[] graphs = new VamanaGraph[2];
    for (int i = 0; i < 2; i++) {
      graphs[i] =
          new VamanaBuilder(
                  vectors.distances(),
                  parameters,
                  Workers.callingThread(),
                  MemoryBudget.halfOfHeap(),
                  AbortCheck.NEVER)
              .build(medoid, List.of());
    }
    for (int node = 0; node < 1_000; node++) {
      assertArrayEquals(rowOf(graphs[0], node), rowOf(graphs[1], node));
    }
  }

  private static double recall(GraphTestVectors vectors, VamanaGraph graph) throws IOException {
    int beam = 40;
    int k = 10;
    double sum = 0;
    int queries = 50;
    for (int q = 0; q < queries; q++) {
      int query = randomIntBetween(0, vectors.size() - 1);
      Worklist list = new Worklist(beam);
      Set<Integer> seen = new HashSet<>();
      seen.add(graph.entryPoint());
      list.insert(graph.entryPoint(), vectors.squaredDistance(query, graph.entryPoint()));
      int next;
      while ((next = list.expandNext()) >= 0) {
        for (int neighbor : rowOf(graph, next)) {
          if (seen.add(neighbor)) {
            list.insert(neighbor, vectors.squaredDistance(query, neighbor));
          }
        }
      }
      float[] distances = new float[vectors.size()];
      PriorityQueue<Float> nearest = new PriorityQueue<>();
      for (int other = 0; other < distances.length; other++) {
        nearest.add(vectors.squaredDistance(query, other));
      }
      float last = 0;
      for (int i = 0; i < k; i++) {
        last = nearest.poll();
      }
      for (int rank = 0; rank < k; rank++) {
        sum += list.distance(rank) <= last ? 1 : 0;
      }
    }
    return sum / (queries * k);
  }

  @Test
  public void manyThreadsBuildAsGoodAGraph() throws Exception {
    GraphTestVectors vectors = GraphTestVectors.gaussian(getRandom(), 3_000, 10);
    BuildParameters parameters = parameters(20);
    ExecutorService pool = Executors.newFixedThreadPool(3);
    try {
      VamanaGraph several = build(vectors, parameters, new Workers(pool, 4), null);
      assertWellFormed(several, vectors.size());
      double recall = recall(vectors, several);
      assertTrue("recall " + recall, recall >= 0.9);
    } finally {
      pool.shutdown();
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    }
    double single = recall(vectors, build(vectors, parameters));
    assertTrue("recall " + single, single >= 0.9);
  }

  @Test
  public void buildsOnAnExistingGraph() throws IOException {
    for (double deletedShare : new double[] {0, 0.1, 0.45}) {
      GraphTestVectors old = GraphTestVectors.gaussian(getRandom(), 1_200, 8);
      BuildParameters parameters = parameters(16);
      VamanaGraph oldGraph = build(old, parameters);
      GraphTestVectors merged = new GraphTestVectors(8);
      int[] newOrdinals = new int[old.size()];
      for (int node = 0; node < newOrdinals.length; node++) {
        if (randomDouble() < deletedShare) {
          newOrdinals[node] = -1;
        } else {
          while (randomBoolean()) {
            merged.vectors.add(GraphTestVectors.gaussian(getRandom(), 1, 8).vectors.get(0));
          }
          newOrdinals[node] = merged.size();
          merged.vectors.add(old.vectors.get(node));
        }
      }
      VamanaGraph graph =
          build(
              merged,
              parameters,
              Workers.callingThread(),
              new ExistingGraph(oldGraph.rows(), oldGraph.entryPoint(), 2, newOrdinals));
      assertEquals(
          IntStream.of(newOrdinals).filter(node -> node >= 0).count(), graph.reusedNodes());
      assertWellFormed(graph, merged.size());
      double recall = recall(merged, graph);
      assertTrue("recall " + recall + " after deletes of " + deletedShare, recall >= 0.85);
    }
  }

  @Test
  public void abortEndsTheBuild() throws IOException {
    GraphTestVectors vectors = GraphTestVectors.gaussian(getRandom(), 2_000, 4);
    AtomicInteger checks = new AtomicInteger();
    int limit = randomIntBetween(1, 20);
    IOException failure =
        assertThrows(
            IOException.class,
            () ->
                new VamanaBuilder(
                        vectors.distances(),
                        parameters(8),
                        Workers.callingThread(),
                        MemoryBudget.halfOfHeap(),
                        () -> {
                          if (checks.incrementAndGet() >= limit) {
                            throw new IOException("aborted");
                          }
                        })
                    .build(0, List.of()));
    assertEquals("aborted", failure.getMessage());
    assertEquals(limit, checks.get());
  }
}
