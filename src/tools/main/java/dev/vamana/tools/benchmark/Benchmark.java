package dev.vamana.tools.benchmark;

import dev.vamana.tools.cells.Curve;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.Progress;
import dev.vamana.tools.figures.Machine;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.lucene.util.IOUtils;
import org.elasticsearch.common.logging.LogConfigurator;

/**
 * Compares vector indexes: builds every contender over one set, searches them in turns and writes a
 * table, a CSV file and a plot. Sets with the cosine metric are scaled to unit length and searched
 * by dot product, because Elasticsearch hands them to a format in that form.
 */
public final class Benchmark {
  private static final double WARM_UP_SECONDS = 3;

  private Benchmark() {}

  /**
   * Runs the benchmark with the arguments of {@link Options#parse}; exits with status 2 if they are
   * wrong.
   */
  public static void main(String[] arguments) throws IOException {
    // Lucene instantiates every format on the class path, and Elasticsearch's formats need a
    // logger.
    LogConfigurator.configureESLogging();
    try {
      run(Options.parse(arguments), WARM_UP_SECONDS, System.out);
    } catch (IllegalArgumentException e) {
      System.err.println("benchmark: " + e.getMessage());
      System.exit(2);
    }
  }

  /**
   * Runs the benchmark.
   *
   * @param warmUpSeconds CPU seconds of untimed searches before the first round, per index
   * @param out receives progress and tables
   */
  static void run(Options options, double warmUpSeconds, PrintStream out) throws IOException {
    Progress progress = new Progress(out);
    progress.say("read %s", options.set());
    VectorSet set = VectorSet.load(options.set(), options.metric(), options.limit()).normalized();
    Set<String> wanted =
        options.contenders().isEmpty()
            ? Contenders.standard(set.dimension())
            : Contenders.choose(options.contenders());
    double before = Machine.load();
    Path work = Files.createTempDirectory("vamana-benchmark");
    List<BuiltIndex> indexes = new ArrayList<>();
    try {
      build(set, wanted, work, indexes, progress);
      SearchRounds rounds =
          new SearchRounds(set, options.widths(), options.rounds(), warmUpSeconds, progress);
      List<Curve> curves = rounds.run(indexes);
      String conditions =
          String.format(
              Locale.ROOT,
              "Machine: %s.\nMedian of %d interleaved rounds; one-minute load %.1f before, %.1f at the"
                  + " end.",
              Machine.describe(),
              options.rounds(),
              before,
              Machine.load());
      Report report = new Report(set, indexes, curves, conditions);
      report.write(options.out());
      out.println(report.markdown());
      out.println("written to " + options.out());
    } finally {
      for (BuiltIndex index : indexes) {
        index.searcher().close();
      }
      IOUtils.rm(work);
    }
  }

  private static void build(
      VectorSet set, Set<String> wanted, Path work, List<BuiltIndex> indexes, Progress progress)
      throws IOException {
    for (Contender contender : Contenders.all()) {
      Set<String> names = new LinkedHashSet<>(contender.names());
      names.retainAll(wanted);
      if (!names.isEmpty()) {
        progress.say("build %s", String.join(", ", names));
        Path folder = Files.createDirectory(work.resolve(names.iterator().next()));
        indexes.addAll(contender.build(set, names, folder));
      }
    }
  }
}
