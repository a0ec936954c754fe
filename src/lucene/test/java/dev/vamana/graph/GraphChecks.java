package dev.vamana.graph;

import dev.vamana.vectors.Medoid;
import dev.vamana.vectors.PairDistances;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.FixedBitSet;
import org.junit.Assert;

/** Tasks for engines, and what has to be true of their graphs. */
public final class GraphChecks {

  private GraphChecks() {}

  /** Vectors around a few centres. */
  public static List<float[]> clustered(Random random, int size, int dimension, int clusters) {
    float[][] centres = new float[clusters][dimension];
    for (float[] centre : centres) {
      for (int d = 0; d < dimension; d++) {
        centre[d] = (float) random.nextGaussian();
      }
    }
    float[][] vectors = new float[size][dimension];
    for (float[] vector : vectors) {
      float[] centre = centres[random.nextInt(clusters)];
      for (int d = 0; d < dimension; d++) {
        vector[d] = centre[d] + 0.4f * (float) random.nextGaussian();
      }
    }
    return Arrays.asList(vectors);
  }

  /** Rounds components to bytes. */
  public static KnnVectorValues bytes(List<float[]> vectors) {
    int dimension = vectors.get(0).length;
    byte[][] rounded = new byte[vectors.size()][dimension];
    for (int i = 0; i < rounded.length; i++) {
      for (int d = 0; d < dimension; d++) {
        rounded[i][d] = (byte) Math.max(-128, Math.min(127, Math.round(40 * vectors.get(i)[d])));
      }
    }
    return ByteVectorValues.fromBytes(Arrays.asList(rounded), dimension);
  }

  /** The vectors as Lucene has them. */
  public static KnnVectorValues floats(List<float[]> vectors) {
    return FloatVectorValues.fromFloats(vectors, vectors.get(0).length);
  }

  /** A task without an existing graph, for the calling thread. */
  public static GraphTask task(
      KnnVectorValues vectors, VectorSimilarityFunction similarity, BuildParameters parameters)
      throws IOException {
    return task(vectors, similarity, parameters, null, Workers.callingThread(), AbortCheck.NEVER);
  }

  /** A task. */
  public static GraphTask task(
      KnnVectorValues vectors,
      VectorSimilarityFunction similarity,
      BuildParameters parameters,
      ExistingGraph existing,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    return new GraphTask(
        vectors,
        similarity,
        FlatVectorScorerUtil.getLucene99FlatVectorsScorer(),
        parameters,
        Medoid.find(vectors, similarity),
        existing == null ? List.of() : List.of(existing),
        workers,
        MemoryBudget.halfOfHeap(),
        abort);
  }

  /** Returns a row. */
  public static int[] row(VamanaGraph graph, int node) throws IOException {
    int[] row = new int[graph.rows().maxDegree()];
    int degree = graph.rows().neighbors(node, row);
    return Arrays.copyOf(row, degree);
  }

  /** Rows are within bounds, without repetition or own node, and all nodes can be reached. */
  public static void assertWellFormed(VamanaGraph graph, int size) throws IOException {
    Assert.assertEquals(size, graph.rows().size());
    for (int node = 0; node < size; node++) {
      int[] row = row(graph, node);
      Assert.assertTrue(row.length <= graph.maxDegree());
      Set<Integer> distinct = new HashSet<>();
      for (int neighbor : row) {
        Assert.assertTrue("repeated " + neighbor, distinct.add(neighbor));
        Assert.assertTrue(neighbor != node && neighbor >= 0 && neighbor < size);
      }
    }
    FixedBitSet reached = new FixedBitSet(size);
    ArrayDeque<Integer> queue = new ArrayDeque<>(List.of(graph.entryPoint()));
    reached.set(graph.entryPoint());
    while (queue.isEmpty() == false) {
      for (int neighbor : row(graph, queue.poll())) {
        if (reached.getAndSet(neighbor) == false) {
          queue.add(neighbor);
        }
      }
    }
    Assert.assertEquals("reachable nodes", size, reached.cardinality());
  }

  /** Asserts that two graphs have the same rows. */
  public static void assertSame(VamanaGraph expected, VamanaGraph actual) throws IOException {
    Assert.assertEquals(expected.entryPoint(), actual.entryPoint());
    for (int node = 0; node < expected.rows().size(); node++) {
      Assert.assertArrayEquals("row " + node, row(expected, node), row(actual, node));
    }
  }

  /** How well and at what cost searches of a graph find stored vectors' neighbours. */
  public record Found(double recall, double distances) {}

  /**
   * Searches with a beam for the ten vectors nearest to some stored ones.
   *
   * @param queries ordinals
   */
  public static Found search(GraphTask task, VamanaGraph graph, int[] queries, int beam)
      throws IOException {
    PairDistances pairs = task.distances().create();
    int size = task.size();
    int k = Math.min(10, size);
    int[] all = new int[size];
    Arrays.setAll(all, i -> i);
    float[] exact = new float[size];
    long found = 0;
    long distances = 0;
    for (int query : queries) {
      pairs.pivot(query);
      pairs.distances(all, exact, size);
      float[] sorted = exact.clone();
      Arrays.sort(sorted);
      Worklist list = new Worklist(beam);
      FixedBitSet seen = new FixedBitSet(size);
      seen.set(graph.entryPoint());
      list.insert(graph.entryPoint(), exact[graph.entryPoint()]);
      int next;
      while ((next = list.expandNext()) >= 0) {
        for (int neighbor : row(graph, next)) {
          if (seen.getAndSet(neighbor) == false) {
            list.insert(neighbor, exact[neighbor]);
          }
        }
      }
      distances += seen.cardinality();
      for (int rank = 0; rank < Math.min(k, list.size()); rank++) {
        found += list.distance(rank) <= sorted[k - 1] ? 1 : 0;
      }
    }
    return new Found(
        (double) found / (queries.length * (long) k), (double) distances / queries.length);
  }
}
