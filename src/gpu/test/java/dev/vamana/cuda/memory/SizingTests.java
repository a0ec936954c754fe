package dev.vamana.cuda.memory;

import dev.vamana.pq.SubspaceLayout;
import dev.vamana.vectors.ScalarCodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/** Checks the figures of docs/operators/memory.md against the code. */
public class SizingTests extends MemoryTestCase {

  private static final int DEGREE = 64;
  private static final double GB = 1e9;

  private static SegmentShape shape(int size, int dims) {
    return new SegmentShape(
        size,
        dims,
        VectorEncoding.FLOAT32,
        DEGREE,
        SubspaceLayout.defaultSubspaces(dims),
        true,
        true,
        true,
        null,
        0);
  }

  private static String row(int millions, int dims) {
    SegmentShape shape = shape(millions * 1_000_000, dims);
    double disk =
        shape.rawBytes()
            + shape.graphBytes()
            + (double) shape.size() * shape.subspaces()
            + 1024.0 * dims;
    if (dims >= ScalarCodes.MIN_DIMENSION) {
      disk += ScalarCodes.length(shape.size(), dims);
    }
    StringBuilder row = new StringBuilder("| ");
    row.append(millions < 1000 ? millions + " M" : "1 B");
    row.append(" × ").append(dims).append(" | ").append(gigabytes(disk)).append(" |");
    for (Placement placement : Placement.values()) {
      row.append(' ').append(gigabytes(plan(shape, placement).deviceBytes())).append(" |");
    }
    PlacementPlan mapped = plan(shape, Placement.MAPPED_GRAPH);
    return row.append(' ').append(gigabytes(mapped.mappedBytes())).append(" |").toString();
  }

  private static PlacementPlan plan(SegmentShape shape, Placement placement) {
    RawVectors raw =
        switch (placement) {
          case EXACT -> RawVectors.DEVICE;
          case HOST_FETCH -> RawVectors.CALLER;
          default -> RawVectors.MAPPED;
        };
    return PlacementPlan.of(shape, placement, raw);
  }

  private static String gigabytes(double bytes) {
    double value = bytes / GB;
    return String.format(Locale.ROOT, value < 100 ? "%.2f" : "%,.0f", value);
  }

  public void testTableIsThatOfTheCode() throws IOException {
    List<String> expected = new ArrayList<>();
    for (int millions : new int[] {1, 10, 100, 1000}) {
      for (int dims : new int[] {128, 768}) {
        expected.add(row(millions, dims));
      }
    }
    List<String> found =
        Files.readAllLines(Path.of("docs/operators/memory.md")).stream()
            .filter(line -> line.matches("\\| \\d+ [MB] × .*"))
            .toList();
    assertEquals(String.join("\n", expected), String.join("\n", found));
  }

  /** The formulas for a vector, against what is laid out, whose arrays are rounded up. */
  public void testFormulas() throws IOException {
    for (int round = 0; round < 100; round++) {
      int dims = 1 + random().nextInt(2000);
      int size = 100_000 + random().nextInt(100_000);
      int degree = 4 * (1 + random().nextInt(32));
      int m = 1 + random().nextInt(Math.min(256, dims));
      SegmentShape shape =
          new SegmentShape(
              size, dims, VectorEncoding.FLOAT32, degree, m, true, true, true, null, 0);
      long graph = 4L * degree;
      long codes = up16(m);
      assertBytes(size, graph + up16(4 * dims), 0, plan(shape, Placement.EXACT));
      assertBytes(size, graph + up16(2 * dims), 0, plan(shape, Placement.EXACT_FLOAT16));
      assertBytes(size, graph + up16(dims) + 8, 4L * dims, plan(shape, Placement.EXACT_INT8));
      long codebook = 1024L * dims + 4L * m;
      assertBytes(size, graph + codes, codebook, plan(shape, Placement.IN_MEMORY));
      assertBytes(size, codes, codebook, plan(shape, Placement.MAPPED_GRAPH));
      assertBytes(size, codes, codebook, plan(shape, Placement.HOST_FETCH));
      long pinned = plan(shape, Placement.MAPPED_GRAPH).mappedBytes();
      long expected = size * (graph + 4L * dims);
      assertTrue(pinned >= expected && pinned <= expected + 4 * MappedRegistrations.PAGE);
    }
    // the disk's, from a segment that is there
    try (TestSegments segments =
        new TestSegments(
            true, false, parameters(8, 4), VectorSimilarityFunction.EUCLIDEAN, 24, 500)) {
      SegmentShape shape = SegmentShape.of(segments.view(0, FLOATS));
      assertEquals(500 * 4 * 8, shape.graphBytes());
      assertEquals(500 * 4 * 24, shape.rawBytes());
      assertEquals(4, shape.subspaces());
    }
  }

  private static int up16(int bytes) {
    return (bytes + 15) & -16;
  }

  private static void assertBytes(int size, long perVector, long more, PlacementPlan plan) {
    // a bit a vector for live documents, and one for a filter
    long expected = size * perVector + size / 4 + more;
    assertTrue(plan + ": " + expected, plan.deviceBytes() >= expected);
    assertTrue(plan + ": " + expected, plan.deviceBytes() <= expected + 8 * 256);
  }
}
