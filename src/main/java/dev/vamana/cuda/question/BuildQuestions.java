package dev.vamana.cuda.question;

import dev.vamana.cuda.build.BuildPhase;
import dev.vamana.cuda.build.DeviceBuilder;
import dev.vamana.cuda.build.RecentSearches;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.cuda.training.TrainingDevice;
import dev.vamana.graph.Adjacency;
import dev.vamana.graph.BuildParameters;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * A graph whose searches find all vectors, so that each node's nearest is among its candidates.
 * Robust prune never drops the nearest.
 */
final class BuildQuestions implements Questions {

  private static final int SIZE = 256;
  private static final int DIMENSION = 20;
  private static final int DEGREE = 16;
  private static final int BUFFERS = 2;
  private static final long ROUND_SEED = 1_000;
  private static final long SEED = 0x6_4A9L;

  // a search may miss a vector to which no edge leads yet; no more than that
  private static final int LEAST_FOUND = SIZE - 8;

  private final TrainingDevice transfers;
  private final DeviceBuilder builder;
  private final int round;
  private GpuException lost;

  /**
   * Allocates nothing yet.
   *
   * @param round number of the round, by which vectors differ
   */
  BuildQuestions(CudaDriver driver, SessionHostMemory account, int round) {
    this.round = round;
    this.transfers = new TrainingDevice(driver, account, DeviceBudget.UNLIMITED, BUFFERS);
    this.builder =
        new DeviceBuilder(
            driver,
            transfers,
            DeviceBudget.UNLIMITED,
            account,
            failure -> lost = failure,
            new RecentSearches(() -> 0));
  }

  @Override
  public List<Question> all() {
    return List.of(new Question("graph", this::build));
  }

  private void build() throws IOException {
    SplittableRandom random = new SplittableRandom(SEED + ROUND_SEED * round);
    int[][] vectors = new int[SIZE][];
    Arrays.setAll(vectors, i -> KnownVectors.vector(random, DIMENSION));
    GraphTask task =
        new GraphTask(
            FloatVectorValues.fromFloats(
                Arrays.stream(vectors).map(KnownVectors::toFloats).toList(), DIMENSION),
            VectorSimilarityFunction.EUCLIDEAN,
            FlatVectorScorerUtil.getLucene99FlatVectorsScorer(),
            // two passes share the beam
            new BuildParameters(DEGREE, 2 * SIZE, 1.2f, SEED),
            0,
            null,
            Workers.callingThread(),
            new MemoryBudget(Long.MAX_VALUE),
            AbortCheck.NEVER);
    Places places = new Places();
    try (VamanaGraph graph = builder.build(task, places)) {
      places.check();
      int found = 0;
      int[] row = new int[graph.maxDegree()];
      Adjacency rows = graph.rows();
      for (int node = 0; node < SIZE; node++) {
        found += hasNearest(vectors, node, row, rows.neighbors(node, row)) ? 1 : 0;
      }
      Question.check(
          found >= LEAST_FOUND ? null : found + " of " + SIZE + " nodes lead to their nearest");
    }
  }

  /** A device without room for a small graph has none for segments either. */
  private static final class Places implements BuildPhase.Clock {
    private boolean inHostMemory;

    @Override
    public void ended(BuildPhase phase, long nanos) {}

    @Override
    public void inHostMemory() {
      inHostMemory = true;
    }

    void check() {
      if (inHostMemory) {
        throw new GpuException(
            GpuException.Kind.OUT_OF_MEMORY, "no device memory for the graph of a known question");
      }
    }
  }

  private static boolean hasNearest(int[][] vectors, int node, int[] row, int degree) {
    long nearest = Long.MAX_VALUE;
    for (int other = 0; other < SIZE; other++) {
      nearest = other == node ? nearest : Math.min(nearest, distance(vectors, node, other));
    }
    for (int i = 0; i < degree; i++) {
      if (row[i] != node && distance(vectors, node, row[i]) == nearest) {
        return true;
      }
    }
    return false;
  }

  private static long distance(int[][] vectors, int a, int b) {
    long sum = 0;
    for (int d = 0; d < DIMENSION; d++) {
      long difference = (long) vectors[a][d] - vectors[b][d];
      sum += difference * difference;
    }
    return sum;
  }

  @Override
  public void close() {
    transfers.free();
    if (lost != null) {
      throw lost;
    }
  }
}
