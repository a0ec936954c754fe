package dev.vamana.cuda.kernel;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.Assume;
import org.junit.Before;
import org.junit.Test;

/** Checks the compiler's report on registers and local memory of the kernels. */
public class ResourcesTests {

  /** The architecture that the GPU suite runs on. */
  private static final String MEASURED = "sm_90";

  /**
   * Walks on bytes by few warps, which request many rows at once. They are faster so, in spite of
   * what they spill (docs/internals/gpu-kernels.md).
   */
  private static final Set<String> MANY_ROWS =
      Set.of("walk_exact_byte_w1", "walk_exact_byte_w2", "walk_exact_byte_w4");

  private static final Path FOLDER = Path.of("target", "kernels");

  /** A line of the report that {@code dev.vamana.tools.kernels.BuildKernels} writes. */
  private record Line(
      String module,
      String architecture,
      String kernel,
      int registers,
      int stackBytes,
      int spillStores,
      int spillLoads) {

    static Line of(String line) {
      String[] word = line.split(" ");
      assertEquals(line, 7, word.length);
      return new Line(
          word[0],
          word[1],
          word[2],
          Integer.parseInt(word[3]),
          Integer.parseInt(word[4]),
          Integer.parseInt(word[5]),
          Integer.parseInt(word[6]));
    }

    /**
     * The compiler may spill a few registers where that costs nothing that could be measured, or
     * where walks are faster in spite of it. What other architectures spill has not been measured;
     * {@code target/kernels/resources.txt} has it.
     */
    void assertInRegisters() {
      if (measured() == false) {
        return;
      }
      int stack = 16;
      int spills = 72;
      if (manyRows()) {
        stack = 48;
        spills = 160;
      } else if (ofManyWarps() || ofManyQueries()) {
        stack = 32;
        spills = 112;
      }
      assertTrue(toString(), stackBytes <= stack);
      assertTrue(toString(), spillStores + spillLoads <= spills);
    }

    boolean measured() {
      return architecture.equals(MEASURED);
    }

    boolean manyRows() {
      return MANY_ROWS.contains(kernel);
    }

    /**
     * Walks by blocks of eight and sixteen warps. Their warps hold the worklist and new keys in
     * registers when they merge, which is faster in spite of what it spills
     * (docs/internals/gpu-kernels.md).
     */
    boolean ofManyWarps() {
      return kernel.startsWith("walk_") && (kernel.endsWith("_w8") || kernel.endsWith("_w16"));
    }

    /**
     * Scans for sixteen queries have 64 sums in each thread, and read rows half as often as scans
     * for eight (docs/internals/exact-search.md).
     */
    boolean ofManyQueries() {
      return kernel.startsWith("exact_few_") && kernel.endsWith("_q16");
    }

    boolean spills() {
      return stackBytes + spillStores + spillLoads > 0;
    }
  }

  @Before
  public void kernelsWereCompiled() {
    Assume.assumeTrue(
        "this build compiled no kernels", Files.exists(FOLDER.resolve("resources.txt")));
  }

  private static List<Line> report() throws IOException {
    Path report = FOLDER.resolve("resources.txt");
    List<Line> lines = new ArrayList<>();
    for (String line : Files.readAllLines(report)) {
      if (line.startsWith("#") == false) {
        lines.add(Line.of(line));
      }
    }
    return lines;
  }

  @Test
  public void everyWalkIsCompiledForEveryArchitecture() throws IOException {
    Set<String> architectures = new TreeSet<>();
    Set<String> actual = new TreeSet<>();
    for (Line line : report()) {
      architectures.add(line.architecture());
      actual.add(line.kernel() + " " + line.architecture());
    }
    assertTrue(architectures.size() >= 1);
    List<String> missing = new ArrayList<>();
    for (String architecture : architectures) {
      for (Policy policy : Policy.values()) {
        for (int warps : Tuning.WARPS) {
          String kernel = policy.kernelName(warps) + " " + architecture;
          if (actual.contains(kernel) == false) {
            missing.add(kernel);
          }
        }
      }
    }
    assertEquals(List.of(), missing);
  }

  @Test
  public void searchesAndTrainingsKeepToRegisters() throws IOException {
    List<Line> bad = new ArrayList<>();
    for (Line line : report()) {
      if (line.kernel().matches("(walk|exact|select|kmeans)_.*")
          || line.module().equals("host_fetch")) {
        line.assertInRegisters();
        boolean maySpill = line.manyRows() || line.ofManyWarps();
        if (line.kernel().startsWith("walk_")
            && line.measured()
            && line.spills()
            && maySpill == false) {
          bad.add(line);
        }
      }
    }
    assertEquals(List.of(), bad);
  }
}
