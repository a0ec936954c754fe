package dev.vamana.tools.benchmark;

import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.tools.datasets.VectorSet;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.util.InfoStream;
import org.elasticsearch.common.logging.LogConfigurator;

/** Compares the CPU time that formats take to index a set's vectors into one flushed segment. */
public final class FlushCost {
  private FlushCost() {}

  /**
   * Runs the comparison with the arguments of {@link Options#parse}; exits with status 2 if they
   * are wrong.
   */
  public static void main(String[] arguments) throws IOException {
    // Lucene instantiates every format on the class path, and Elasticsearch's formats need a
    // logger.
    LogConfigurator.configureESLogging();
    try {
      run(Options.parse(arguments), System.out);
    } catch (IllegalArgumentException e) {
      System.err.println("benchmark: " + e.getMessage());
      System.exit(2);
    }
  }

  static void run(Options options, PrintStream out) throws IOException {
    VectorSet set = VectorSet.load(options.set(), options.metric(), options.limit()).normalized();
    Map<String, Supplier<KnnVectorsFormat>> formats = new LinkedHashMap<>();
    formats.put("lucene-m16-b100", Lucene99HnswVectorsFormat::new);
    formats.put("vamana", VamanaVectorsFormat::new);
    Map<String, double[]> seconds = new LinkedHashMap<>();
    formats.keySet().forEach(name -> seconds.put(name, new double[options.rounds()]));
    // round -1 compiles the code of both formats and is not counted
    for (int round = -1; round < options.rounds(); round++) {
      for (Map.Entry<String, Supplier<KnnVectorsFormat>> format : formats.entrySet()) {
        double spent = flush(set, format.getValue().get());
        if (round >= 0) {
          seconds.get(format.getKey())[round] = spent;
        }
      }
    }
    double stock = median(seconds.get("lucene-m16-b100"));
    for (Map.Entry<String, double[]> format : seconds.entrySet()) {
      double median = median(format.getValue());
      out.printf(
          Locale.ROOT,
          "flush of %d vectors of %s, %s: %.2f CPU s, %.2f of lucene-m16-b100 %s%n",
          set.base().size(),
          set.name(),
          format.getKey(),
          median,
          median / stock,
          Arrays.toString(format.getValue()));
    }
  }

  private static double flush(VectorSet set, KnnVectorsFormat format) throws IOException {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    Path folder = Files.createTempDirectory("vamana-flush");
    try {
      long before = threads.getCurrentThreadCpuTime();
      LuceneContender.write(set, format, folder, InfoStream.NO_OUTPUT);
      return (threads.getCurrentThreadCpuTime() - before) / 1e9;
    } finally {
      Benchmark.delete(folder);
    }
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    return sorted[sorted.length / 2];
  }
}
