package dev.vamana.tools.groundtruth;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakScope;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.TexMexFile;
import dev.vamana.tools.gpu.Gpu;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.stream.IntStream;
import org.apache.lucene.tests.util.LuceneTestCase;

/**
 * Files made on the CPU and on the device, if there is one and otherwise with the kernels'
 * counterparts on the CPU, against distances of all pairs.
 */
@ThreadLeakScope(ThreadLeakScope.Scope.NONE) // native libraries keep threads of their own
public class GroundTruthToolTests extends LuceneTestCase {

  private static final long SIMULATED_BYTES = 2L << 30;

  private static CudaDriver open(int ordinal) {
    return Gpu.missing() == null
        ? Gpu.openDriver()
        : new SimulatedDriver(SimtKernels.load(), SIMULATED_BYTES, random().nextBoolean());
  }

  private static String run(String... arguments) throws IOException {
    ByteArrayOutputStream told = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(told, true, StandardCharsets.UTF_8);
    new GroundTruthTool(GroundTruthToolTests::open, out).run(GroundTruthOptions.parse(arguments));
    return told.toString(StandardCharsets.UTF_8);
  }

  private static float[][] vectors(int size, int dimension, boolean bytes, float unit) {
    float[][] rows = new float[size][dimension];
    for (int i = 0; i < size; i++) {
      for (int d = 0; d < dimension; d++) {
        rows[i][d] =
            bytes
                ? random().nextInt(256)
                : unit * (float) (random().nextGaussian() + Math.sin(i % 9 + d));
      }
      if (i > 0 && random().nextInt(10) == 0) {
        rows[i] = rows[random().nextInt(i)];
      }
    }
    return rows;
  }

  private static Path write(Path folder, String name, float[][] rows, boolean bytes)
      throws IOException {
    Path file = folder.resolve(name + (bytes ? ".bvecs" : ".fvecs"));
    if (bytes) {
      TexMexFile.writeBvecs(file, rows);
    } else {
      TexMexFile.writeFvecs(file, rows);
    }
    return file;
  }

  private static void check(Path out, Metric metric, float[][] base, float[][] queries, int depth)
      throws IOException {
    int[][] ordinals = TexMexFile.readIvecs(Path.of(out + ".ivecs"), Integer.MAX_VALUE);
    float[][] distances = TexMexFile.readFvecs(Path.of(out + "_dist.fvecs"), 1 << 20).rows();
    assertEquals(queries.length, ordinals.length);
    assertEquals(queries.length, distances.length);
    for (int q = 0; q < queries.length; q++) {
      float[] query = queries[q];
      double[] all = new double[base.length];
      Arrays.setAll(all, i -> metric.distance(query, base[i]));
      int[] expected =
          IntStream.range(0, base.length)
              .boxed()
              .sorted(Comparator.<Integer>comparingDouble(i -> all[i]).thenComparing(i -> i))
              .mapToInt(i -> i)
              .limit(depth)
              .toArray();
      assertArrayEquals(metric + ", query " + q, expected, ordinals[q]);
      for (int i = 0; i < depth; i++) {
        assertEquals((float) all[expected[i]], distances[q][i], 0);
      }
    }
  }

  public void testSameFilesFromBothAndAllPairs() throws IOException {
    for (Metric metric : Metric.values()) {
      for (float unit : new float[] {1, 1e-6f, 1e6f}) {
        Path folder = createTempDir();
        boolean bytes = unit == 1 && random().nextBoolean();
        // directions of few dimensions are the same to single precision too often
        int dimension = (metric == Metric.COSINE ? 4 : 1) + random().nextInt(70);
        float[][] base = vectors(200 + random().nextInt(3_000), dimension, bytes, unit);
        float[][] queries = vectors(1 + random().nextInt(40), dimension, bytes, unit);
        if (bytes == false && random().nextBoolean()) {
          Arrays.fill(base[random().nextInt(base.length)], 0);
          Arrays.fill(queries[0], 0);
        }
        int depth = 1 + random().nextInt(150);
        String[] arguments = {
          "--base=" + write(folder, "base", base, bytes),
          "--queries=" + write(folder, "query", queries, bytes),
          "--metric=" + metric.label(),
          "--k=" + depth,
          "",
          ""
        };
        for (int device : new int[] {-1, 0}) {
          Path out = folder.resolve("truth" + device);
          arguments[4] = "--out=" + out;
          arguments[5] = "--device=" + device;
          String told = run(arguments);
          assertTrue(told, told.contains(depth + " neighbours of " + queries.length + " queries"));
          check(out, metric, base, queries, depth);
        }
      }
    }
  }

  private static void refused(String expected, String... arguments) {
    IllegalArgumentException e = expectThrows(IllegalArgumentException.class, () -> run(arguments));
    assertTrue(e.getMessage(), e.getMessage().contains(expected));
  }

  public void testRefusals() throws IOException {
    Path folder = createTempDir();
    float[][] rows = vectors(20, 4, false, 1);
    String base = "--base=" + write(folder, "base", rows, false);
    String queries = "--queries=" + write(folder, "query", vectors(3, 4, false, 1), false);
    String out = "--out=" + folder.resolve("truth");
    refused("base is missing", queries, out);
    refused("queries is missing", base, out);
    refused("out is missing", base, queries);
    refused("k is 0, allowed is a whole number in [1, 9968]", base, queries, out, "--k=0");
    refused("k is 21, allowed is [1, 20]", base, queries, out, "--k=21");
    refused("metric is 'l1'", base, queries, out, "--metric=l1");
    refused("unknown argument '--depth=3'", base, queries, out, "--depth=3");
    refused("no such file", "--base=" + folder.resolve("none.fvecs"), queries, out, "--k=3");
    refused("no such folder", base, queries, "--out=" + folder.resolve("none/truth"), "--k=3");
    String other = "--queries=" + write(folder, "other", vectors(3, 5, false, 1), false);
    refused("has dimension 4", base, other, out, "--k=3");
    // not by changing its array, which other rows may share
    rows[7] = new float[] {1, 2, Float.NaN, 4};
    String odd = "--base=" + write(folder, "odd", rows, false);
    refused("row 7 has the component NaN", odd, queries, out, "--k=3");
    try (var files = Files.list(folder)) {
      assertEquals("nothing was written", 0, files.filter(f -> f.endsWith("truth.ivecs")).count());
    }
    if (Gpu.missing() != null) {
      GroundTruthTool real =
          new GroundTruthTool(
              ordinal -> {
                throw new GpuException(GpuException.Kind.UNAVAILABLE, "no usable GPU");
              },
              System.out);
      expectThrows(
          GpuException.class,
          () -> real.run(GroundTruthOptions.parse(base, queries, out, "--k=3")));
    }
  }
}
