package dev.vamana.tools.benchmark;

import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.ivf.CodeKind;
import dev.vamana.tools.datasets.VectorSet;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.InfoStream;
import org.elasticsearch.common.logging.LogConfigurator;

/**
 * Searches with filters: recall and latency by the share of accepted vectors and by how they lie to
 * the query, beside Lucene's HNSW with the parameters of Elasticsearch. One segment, one thread;
 * both indices answer the same queries in turns.
 */
public final class FilterBenchmark {

  private static final int K = 10;
  private static final int MOST_QUERIES = 200;
  private static final String FIELD = "vector";
  private static final double[] SHARES = {0.5, 0.1, 0.01, 0.001, 0.0001, 0.00001};
  private static final Map<String, Supplier<KnnVectorsFormat>> FORMATS = new LinkedHashMap<>();

  static {
    FORMATS.put("vamana", VamanaVectorsFormat::new);
    FORMATS.put(Contenders.IVF, () -> Contenders.lists(CodeKind.DEFAULT));
    FORMATS.put("lucene", () -> new Lucene99HnswVectorsFormat(16, 100));
  }

  private final VectorSet set;
  private final Options options;
  private final PrintStream out;
  private final String format;

  private FilterBenchmark(VectorSet set, Options options, PrintStream out) {
    this.set = set;
    this.options = options;
    this.out = out;
    this.format = options.contenders().isEmpty() ? "vamana" : options.contenders().get(0);
    if (FORMATS.containsKey(format) == false) {
      throw new IllegalArgumentException(
          "contenders has '" + format + "', allowed are " + String.join(", ", FORMATS.keySet()));
    }
  }

  /**
   * Runs the comparison with the arguments of {@link Options#parse}, of which {@code widths} are
   * the numbers of candidates, and {@code contenders} names the index that is compared with
   * Lucene's; exits with status 2 if they are wrong.
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
    new FilterBenchmark(set, options, out).run();
  }

  private void run() throws IOException {
    out.printf(Locale.ROOT, "load %.1f, %s%n%n", Machine.load(), Machine.describe());
    List<Path> folders = List.of(index(format), index("lucene"));
    try (MMapDirectory ours = new MMapDirectory(folders.get(0));
        MMapDirectory theirs = new MMapDirectory(folders.get(1));
        DirectoryReader first = DirectoryReader.open(ours);
        DirectoryReader second = DirectoryReader.open(theirs)) {
      int queries = Math.min(MOST_QUERIES, set.queries().size());
      int[][] orders = Filtering.orders(set, queries);
      List<Integer> widths =
          options.widths().equals(Options.STANDARD_WIDTHS) ? List.of(100) : options.widths();
      for (int width : widths) {
        table(width, orders, new IndexSearcher(first), new IndexSearcher(second));
      }
    } finally {
      for (Path folder : folders) {
        Benchmark.delete(folder);
      }
    }
    out.printf(Locale.ROOT, "load %.1f%n", Machine.load());
  }

  private Path index(String format) throws IOException {
    Path folder = Files.createTempDirectory("filters-" + format);
    LuceneContender.write(set, FORMATS.get(format).get(), folder, InfoStream.NO_OUTPUT);
    return folder;
  }

  private void table(int width, int[][] orders, IndexSearcher ours, IndexSearcher theirs)
      throws IOException {
    out.printf(
        Locale.ROOT,
        "%s, %d vectors, num_candidates %d, recall@%d of %d queries%n%n"
            + "| accepted | filter | recall, %s | recall, lucene | us, %s | us, lucene |"
            + " times lucene's throughput |%n| --- | --- | --- | --- | --- | --- | --- |%n",
        set.name(),
        set.base().size(),
        width,
        K,
        orders.length,
        format,
        format);
    ours.setQueryCache(null);
    theirs.setQueryCache(null);
    for (double share : SHARES) {
      for (Filtering.Kind kind : Filtering.Kind.values()) {
        Filtering filters = Filtering.of(orders, kind, share, K);
        Outcome[] outcomes = {new Outcome(filters, width), new Outcome(filters, width)};
        // round -1 warms caches and is not counted
        for (int round = -1; round < options.rounds(); round++) {
          outcomes[0].pass(ours, round >= 0);
          outcomes[1].pass(theirs, round >= 0);
        }
        out.printf(
            Locale.ROOT,
            "| %s %% | %s | %.3f | %.3f | %.0f | %.0f | %.2f |%n",
            Double.toString(100 * share).replaceAll("\\.0$", ""),
            kind.name().toLowerCase(Locale.ROOT),
            outcomes[0].recall(),
            outcomes[1].recall(),
            outcomes[0].micros(),
            outcomes[1].micros(),
            outcomes[1].micros() / outcomes[0].micros());
      }
    }
    out.println();
  }

  /** Answers of one index in a cell of the table. */
  private final class Outcome {
    private final Filtering filters;
    private final int width;
    private final double[] seconds = new double[options.rounds()];
    private int rounds;
    private int found;

    Outcome(Filtering filters, int width) {
      this.filters = filters;
      this.width = width;
    }

    void pass(IndexSearcher searcher, boolean counted) throws IOException {
      found = 0;
      long start = System.nanoTime();
      ScoreDoc[][] hits = new ScoreDoc[filters.nearest().length][];
      for (int q = 0; q < hits.length; q++) {
        float[] query = set.queries().rows()[q];
        AcceptQuery filter = new AcceptQuery(filters.accepted()[q]);
        hits[q] =
            searcher.search(new KnnFloatVectorQuery(FIELD, query, width, filter), K).scoreDocs;
      }
      if (counted) {
        seconds[rounds++] = (System.nanoTime() - start) / 1e9;
      }
      for (int q = 0; q < hits.length; q++) {
        found += filters.good(set, q, hits[q]);
      }
    }

    double recall() {
      return found / (double) (filters.nearest().length * K);
    }

    double micros() {
      double[] sorted = seconds.clone();
      Arrays.sort(sorted);
      return sorted[sorted.length / 2] / filters.nearest().length * 1e6;
    }
  }
}
