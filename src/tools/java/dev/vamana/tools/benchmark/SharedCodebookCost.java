package dev.vamana.tools.benchmark;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CodebookProvider;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.index.VectorCodec;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.MMapDirectory;
import org.elasticsearch.common.logging.LogConfigurator;

/**
 * Compares segments that train their own codebook with segments that use a shared one. Measures the
 * CPU time of two flushes and of merging them on one thread, and the recall of walks on codes with
 * exact re-ranking. Graphs do not depend on codes, so both kinds get the same graphs.
 */
public final class SharedCodebookCost {

  private static final int K = 10;
  private static final String FIELD = "vector";
  private static final String NAME = "shared";
  private static final List<Integer> BEAMS = List.of(20, 50, 100, 200);
  // differs from the segments' seed, so that both samples are drawn independently
  private static final long SEED = 7;

  private final VectorSet set;
  private final PrintStream out;
  private final Map<String, CodebookProvider> kinds = new LinkedHashMap<>();

  private SharedCodebookCost(VectorSet set, PrintStream out) throws IOException {
    this.set = set;
    this.out = out;
    SharedCodebook shared = train();
    kinds.put("own", CodebookProvider.NONE);
    kinds.put(NAME, CodebookProvider.of(Map.of(FIELD, NAME), name -> shared));
  }

  /**
   * Runs the comparison with the arguments of {@link Options#parse}; exits with status 2 if they
   * are wrong.
   */
  public static void main(String[] arguments) throws IOException {
    // Lucene instantiates every format on the class path, and Elasticsearch's formats need a
    // logger.
    LogConfigurator.configureESLogging();
    try {
      Options options = Options.parse(arguments);
      run(options, System.out);
    } catch (IllegalArgumentException e) {
      System.err.println("benchmark: " + e.getMessage());
      System.exit(2);
    }
  }

  static void run(Options options, PrintStream out) throws IOException {
    VectorSet set = VectorSet.load(options.set(), options.metric(), options.limit()).normalized();
    out.printf(Locale.ROOT, "load %.1f, %s%n", Machine.load(), Machine.describe());
    SharedCodebookCost cost = new SharedCodebookCost(set, out);
    cost.codesAlone(options.rounds());
    cost.whole();
    out.printf(Locale.ROOT, "load %.1f%n", Machine.load());
  }

  /** Trains a codebook on a sample of the whole set, as large as the sample of a segment. */
  private SharedCodebook train() throws IOException {
    int dimension = set.dimension();
    SubspaceLayout layout =
        new SubspaceLayout(dimension, SubspaceLayout.defaultSubspaces(dimension));
    float[][] rows = set.base().rows().clone();
    int size = PqTrainer.sampleSize(layout, rows.length);
    SplittableRandom random = new SplittableRandom(SEED);
    for (int i = 0; i < size; i++) {
      int other = random.nextInt(i, rows.length);
      float[] row = rows[i];
      rows[i] = rows[other];
      rows[other] = row;
    }
    TrainingSample sample = TrainingSample.of(dimension, Arrays.copyOf(rows, size));
    Codebook codebook =
        PqTrainer.train(
            sample,
            layout,
            CodebookId.random(),
            PqTrainer.Options.defaults(SEED),
            AbortCheck.NEVER);
    SharedCodebook shared =
        SharedCodebook.of(
            NAME,
            1,
            codebook,
            set.similarity(),
            sample,
            rows.length,
            set.name(),
            Workers.callingThread(),
            AbortCheck.NEVER);
    out.printf(
        Locale.ROOT,
        "shared codebook of %s: %d subspaces, trained on %d of %d vectors, error %.4g, %d bytes%n",
        set.name(),
        shared.subspaces(),
        size,
        rows.length,
        shared.training().quantizationError(),
        shared.toBytes().length);
    return shared;
  }

  /** Measures both kinds in turns, without graphs, and prints the medians over rounds. */
  private void codesAlone(int rounds) throws IOException {
    VamanaParameters parameters = parameters(Integer.MAX_VALUE);
    Map<String, double[][]> seconds = new LinkedHashMap<>();
    kinds.keySet().forEach(kind -> seconds.put(kind, new double[2][rounds]));
    // round -1 compiles the code of both kinds and is not counted
    for (int round = -1; round < rounds; round++) {
      for (String kind : kinds.keySet()) {
        Path folder = Files.createTempDirectory("vamana-codebook");
        try {
          Cost cost = write(kind, parameters, folder);
          if (round >= 0) {
            seconds.get(kind)[0][round] = cost.flushCodes;
            seconds.get(kind)[1][round] = cost.mergeCodes;
          }
        } finally {
          Benchmark.delete(folder);
        }
      }
    }
    seconds.forEach(
        (kind, spent) ->
            out.printf(
                Locale.ROOT,
                "codes alone, %s: flushes %.3f CPU s %s, merge %.3f CPU s %s%n",
                kind,
                median(spent[0]),
                Arrays.toString(spent[0]),
                median(spent[1]),
                Arrays.toString(spent[1])));
  }

  /** Runs each kind once with graphs, and prints the recall. */
  private void whole() throws IOException {
    VamanaParameters parameters = parameters(VamanaParameters.DEFAULT_GRAPH_THRESHOLD);
    Map<String, double[][]> recalls = new LinkedHashMap<>();
    for (String kind : kinds.keySet()) {
      Path folder = Files.createTempDirectory("vamana-codebook");
      try {
        Cost cost = write(kind, parameters, folder);
        out.printf(
            Locale.ROOT,
            "with graphs, %s: flushes %.2f CPU s (codes %.2f), merge %.2f CPU s (codes %.2f); %s%n",
            kind,
            cost.flush,
            cost.flushCodes,
            cost.merge,
            cost.mergeCodes,
            cost.counted);
        recalls.put(kind, recalls(folder));
      } finally {
        Benchmark.delete(folder);
      }
    }
    for (int mode = 0; mode < 2; mode++) {
      for (int b = 0; b < BEAMS.size(); b++) {
        double own = recalls.get("own")[mode][b];
        double shared = recalls.get(NAME)[mode][b];
        out.printf(
            Locale.ROOT,
            "recall@%d, walk on codes, beam %d, re-ranked %s: own %.4f, shared %.4f, difference"
                + " %.4f%n",
            K,
            BEAMS.get(b),
            mode == 0 ? "by default" : "all expanded",
            own,
            shared,
            shared - own);
      }
    }
  }

  /** Parameters that give both segments codes, even if the set is small. */
  private VamanaParameters parameters(int graphThreshold) {
    int half = set.base().size() / 2;
    return VamanaParameters.DEFAULT.withThresholds(
        graphThreshold, Math.min(half, VamanaParameters.DEFAULT_QUANTIZATION_THRESHOLD));
  }

  /** CPU seconds of flushes and merge. The seconds for codes are part of the other two. */
  private record Cost(
      double flush,
      double flushCodes,
      double merge,
      double mergeCodes,
      BuildStatistics.Snapshot counted) {}

  private Cost write(String kind, VamanaParameters parameters, Path folder) throws IOException {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    BuildStatistics statistics = new BuildStatistics();
    QuantizationClock flushClock = new QuantizationClock();
    QuantizationClock mergeClock = new QuantizationClock();
    float[][] rows = set.base().rows();
    double flush;
    double merge;
    try (MMapDirectory directory = new MMapDirectory(folder)) {
      long start = threads.getCurrentThreadCpuTime();
      try (IndexWriter writer =
          new IndexWriter(directory, config(kind, parameters, statistics, flushClock))) {
        for (int i = 0; i < rows.length; i++) {
          Document document = new Document();
          document.add(new KnnFloatVectorField(FIELD, rows[i], set.similarity()));
          writer.addDocument(document);
          if (i == rows.length / 2 - 1) {
            writer.flush();
          }
        }
        writer.commit();
      }
      flush = (threads.getCurrentThreadCpuTime() - start) / 1e9;
      start = threads.getCurrentThreadCpuTime();
      try (IndexWriter writer =
          new IndexWriter(directory, config(kind, parameters, statistics, mergeClock))) {
        writer.forceMerge(1);
      }
      merge = (threads.getCurrentThreadCpuTime() - start) / 1e9;
    }
    return new Cost(
        flush,
        flushClock.split(new BuildCost(flush, 0, 0))[1].cpuSeconds(),
        merge,
        mergeClock.split(new BuildCost(merge, 0, 0))[1].cpuSeconds(),
        statistics.snapshot());
  }

  private IndexWriterConfig config(
      String kind,
      VamanaParameters parameters,
      BuildStatistics statistics,
      QuantizationClock clock) {
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(parameters, Workers.callingThread(), kinds.get(kind), statistics);
    return new IndexWriterConfig()
        .setCodec(new VectorCodec(format))
        .setInfoStream(clock)
        .setMergePolicy(new LogDocMergePolicy())
        .setMergeScheduler(new SerialMergeScheduler())
        .setUseCompoundFile(false)
        .setRAMBufferSizeMB(1_900);
  }

  /**
   * Recall at each beam, first with the default re-ranking, then with re-ranking of all expanded
   * nodes.
   */
  private double[][] recalls(Path folder) throws IOException {
    Recall recall = new Recall(set, K);
    double[][] recalls = new double[2][BEAMS.size()];
    try (MMapDirectory directory = new MMapDirectory(folder);
        DirectoryReader reader = DirectoryReader.open(directory)) {
      IndexSearcher searcher = new IndexSearcher(reader);
      for (int mode = 0; mode < 2; mode++) {
        int rerank = mode == 0 ? WalkParameters.RERANK_DEFAULT : WalkParameters.RERANK_EXPANDED;
        for (int b = 0; b < BEAMS.size(); b++) {
          VamanaSearchStrategy strategy =
              new VamanaSearchStrategy(WalkParameters.quantized(BEAMS.get(b), rerank));
          int[][] results = new int[set.queries().size()][];
          for (int q = 0; q < results.length; q++) {
            float[] query = set.queries().rows()[q];
            ScoreDoc[] hits =
                searcher.search(new KnnFloatVectorQuery(FIELD, query, K, null, strategy), K)
                    .scoreDocs;
            results[q] = Arrays.stream(hits).mapToInt(hit -> hit.doc).toArray();
          }
          recalls[mode][b] = recall.of(results);
        }
      }
    }
    return recalls;
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
