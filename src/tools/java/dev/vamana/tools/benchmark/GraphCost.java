package dev.vamana.tools.benchmark;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.graph.Adjacency;
import dev.vamana.graph.BuildParameters;
import dev.vamana.graph.GraphEngine;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.graph.VisitedSet;
import dev.vamana.graph.Worklist;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.vectors.Medoid;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.codecs.hnsw.FlatVectorsScorer;
import org.apache.lucene.codecs.lucene95.OffHeapFloatVectorValues;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.store.MMapDirectory;
import org.elasticsearch.common.logging.LogConfigurator;

/**
 * Measures what it costs the CPU to build a graph over a mapped file of vectors, without codes and
 * without writing it, and how many distances a query of that graph computes at a recall. Searching
 * computes exact distances only, so its work does not depend on how walks are made faster.
 */
public final class GraphCost {

  private static final String FILE = "vectors";
  private static final double[] RECALLS = {0.95, 0.99};

  private GraphCost() {}

  /**
   * Runs the measurement; exits with status 2 if arguments are wrong.
   *
   * @param arguments what {@link Options#parse} takes; {@code rounds} is the number of builds. The
   *     system property {@code threads} (1) is the number of threads of a build
   */
  public static void main(String[] arguments) throws IOException {
    LogConfigurator.configureESLogging();
    try {
      run(Options.parse(arguments), Integer.getInteger("threads", 1), System.out);
    } catch (IllegalArgumentException e) {
      System.err.println("benchmark: " + e.getMessage());
      System.exit(2);
    }
  }

  static void run(Options options, int threads, PrintStream out) throws IOException {
    VectorSet set = VectorSet.load(options.set(), options.metric(), options.limit()).normalized();
    Path folder = Files.createTempDirectory("vamana-graph-cost");
    ExecutorService pool = Executors.newFixedThreadPool(Math.max(1, threads - 1));
    try (MMapDirectory directory = new MMapDirectory(folder)) {
      write(set, directory);
      try (IndexInput input = directory.openInput(FILE, IOContext.DEFAULT)) {
        for (int round = 0; round < options.rounds(); round++) {
          out.println(measure(set, input, new Workers(pool, threads), options.widths()));
        }
      }
    } finally {
      pool.shutdownNow();
      Benchmark.delete(folder);
    }
  }

  private static String measure(
      VectorSet set, IndexInput input, Workers workers, List<Integer> widths) throws IOException {
    FlatVectorsScorer scorer = FlatVectorScorerUtil.getLucene99FlatVectorsScorer();
    FloatVectorValues vectors =
        new OffHeapFloatVectorValues.DenseOffHeapVectorValues(
            set.dimension(),
            set.base().size(),
            input,
            set.dimension() * Float.BYTES,
            scorer,
            set.similarity());
    VamanaParameters defaults = VamanaParameters.DEFAULT;
    GraphTask task =
        new GraphTask(
            vectors,
            set.similarity(),
            scorer,
            new BuildParameters(defaults.maxDegree(), defaults.beamWidth(), defaults.alpha(), 0, 2),
            Medoid.find(vectors, set.similarity()),
            null,
            workers,
            new MemoryBudget(Long.MAX_VALUE),
            AbortCheck.NEVER);
    BuildMeter.Measured<VamanaGraph> built = BuildMeter.measure(() -> GraphEngine.CPU.build(task));
    try (VamanaGraph graph = built.result()) {
      List<Curve.Point> points = new ArrayList<>();
      for (int width : widths) {
        points.add(search(set, graph, width));
      }
      return describe(set, graph, workers.threads(), built.cost(), new Curve("graph", points));
    }
  }

  private static String describe(
      VectorSet set, VamanaGraph graph, int threads, BuildCost cost, Curve curve)
      throws IOException {
    long edges = 0;
    int[] row = new int[graph.rows().maxDegree()];
    for (int node = 0; node < graph.rows().size(); node++) {
      edges += graph.rows().neighbors(node, row);
    }
    StringBuilder line =
        new StringBuilder(
            String.format(
                Locale.ROOT,
                "%s, %d vectors, %d threads: CPU %.1f s, wall %.1f s, heap %.1f MB, degree %.1f",
                set.name(),
                set.base().size(),
                threads,
                cost.cpuSeconds(),
                cost.wallSeconds(),
                cost.peakHeapMb(),
                (double) edges / set.base().size()));
    for (double recall : RECALLS) {
      line.append(
          String.format(
              Locale.ROOT, "; distances at %.2f: %.0f", recall, 1 / curve.speedAt(recall).qps()));
    }
    for (Curve.Point point : curve.points()) {
      line.append(String.format(Locale.ROOT, ", %.4f @ %.0f", point.recall(), point.visited()));
    }
    return line.toString();
  }

  /** Walks for every query; the point's speed is one divided by the distances of a query. */
  private static Curve.Point search(VectorSet set, VamanaGraph graph, int width)
      throws IOException {
    Adjacency rows = graph.rows();
    int[] row = new int[rows.maxDegree()];
    float[][] queries = set.queries().rows();
    float[][] base = set.base().rows();
    int[][] results = new int[queries.length][SearchRounds.K];
    Worklist list = new Worklist(width);
    VisitedSet visited = new VisitedSet(rows.size(), width * 16);
    long distances = 0;
    for (int query = 0; query < queries.length; query++) {
      list.clear();
      visited.clear();
      visited.add(graph.entryPoint());
      list.insert(
          graph.entryPoint(), distance(set.similarity(), queries[query], base[graph.entryPoint()]));
      distances++;
      int next;
      while ((next = list.expandNext()) >= 0) {
        int degree = rows.neighbors(next, row);
        for (int i = 0; i < degree; i++) {
          if (visited.add(row[i])) {
            list.insert(row[i], distance(set.similarity(), queries[query], base[row[i]]));
            distances++;
          }
        }
      }
      for (int rank = 0; rank < SearchRounds.K; rank++) {
        results[query][rank] = list.ordinal(rank);
      }
    }
    double visits = (double) distances / queries.length;
    double recall = new Recall(set, SearchRounds.K).of(results);
    return new Curve.Point(width, recall, 1 / visits, 0, 0, visits);
  }

  private static float distance(VectorSimilarityFunction similarity, float[] one, float[] other) {
    return -similarity.compare(one, other);
  }

  private static void write(VectorSet set, MMapDirectory directory) throws IOException {
    ByteBuffer bytes =
        ByteBuffer.allocate(set.dimension() * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    try (IndexOutput output = directory.createOutput(FILE, IOContext.DEFAULT)) {
      for (float[] vector : set.base().rows()) {
        bytes.clear().asFloatBuffer().put(vector);
        output.writeBytes(bytes.array(), bytes.capacity());
      }
    }
  }
}
