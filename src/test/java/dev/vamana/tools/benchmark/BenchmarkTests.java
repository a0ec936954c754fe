package dev.vamana.tools.benchmark;

import com.carrotsearch.randomizedtesting.annotations.TimeoutSuite;
import dev.vamana.tools.cells.Curve;
import dev.vamana.tools.datasets.ElementType;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.TexMexFile;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.datasets.VectorTable;
import dev.vamana.tools.demo.Progress;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TimeUnits;

@TimeoutSuite(millis = 10 * TimeUnits.MINUTE)
public class BenchmarkTests extends LuceneTestCase {

  private final PrintStream silent =
      new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8);

  public void testEveryContenderFindsNeighboursByEveryMetric() throws IOException {
    // all of them in nightly runs, otherwise one of them
    for (Metric metric : TEST_NIGHTLY ? Metric.values() : new Metric[] {any(Metric.values())}) {
      VectorSet set = VectorSet.of("random", metric, table(500, 8), table(20, 8)).normalized();
      for (Contender contender : Contenders.all()) {
        Set<String> names = Set.copyOf(contender.names());
        List<BuiltIndex> built = contender.build(set, names, createTempDir());
        assertEquals(names.size(), built.size());
        for (BuiltIndex index : built) {
          assertTrue(index.name(), names.contains(index.name()));
          assertTrue(index.cost().cpuSeconds() > 0);
          assertTrue(index.totalBytes() > 500 * 8 * Float.BYTES);
          Curve curve =
              new SearchRounds(set, List.of(200), 1, 0, new Progress(silent))
                  .run(List.of(index))
                  .get(0);
          // Lucene's similarity for inner products and jvector's order alike, but graphs built by
          // inner products of unscaled vectors miss more.
          double floor = metric == Metric.IP ? 0.9 : 0.99;
          assertTrue(metric + " " + curve, curve.points().get(0).recall() >= floor);
          index.searcher().close();
        }
      }
    }
  }

  private static Metric any(Metric[] metrics) {
    return metrics[random().nextInt(metrics.length)];
  }

  public void testRunWritesResults() throws IOException {
    Path folder = createTempDir();
    TexMexFile.writeFvecs(folder.resolve("base.fvecs"), table(300, 6).rows());
    TexMexFile.writeFvecs(folder.resolve("query.fvecs"), table(10, 6).rows());
    Path out = folder.resolve("results");
    Benchmark.run(
        new Options(
            folder,
            out,
            null,
            200,
            List.of("lucene-m16-b100", "jvector-exact"),
            List.of(10, 20, 40),
            2),
        0,
        silent);
    String name = folder.getFileName().toString();
    List<String> csv = Files.readAllLines(out.resolve(name + ".csv"));
    assertEquals("set,method,width,recall_at_10,qps_per_cpu_s,build_cpu_s,bytes", csv.get(0));
    assertTrue(csv.toString(), csv.size() > 2);
    for (String line : csv.subList(1, csv.size())) {
      assertEquals(line, 7, line.split(",").length);
    }
    assertTrue(Files.readString(out.resolve(name + ".md")).contains("200 vectors of dimension 6"));
    assertTrue(Files.readString(out.resolve(name + ".svg")).startsWith("<svg"));
  }

  private static BuiltIndex index(String name) {
    return new BuiltIndex(
        name, new BuildCost(2, 4), new TreeMap<>(Map.of("vec", 10L, "vex", 20L)), null);
  }

  private static Curve curve(double recall10, double qps10, double recall20, double qps20) {
    return new Curve(
        List.of(new Curve.Point(10, recall10, qps10), new Curve.Point(20, recall20, qps20)));
  }

  private static VectorTable table(int count, int dimension) {
    float[][] rows = new float[count][dimension];
    for (float[] row : rows) {
      for (int i = 0; i < dimension; i++) {
        row[i] = (float) random().nextGaussian();
      }
    }
    return new VectorTable(ElementType.FLOAT32, dimension, rows);
  }
}
