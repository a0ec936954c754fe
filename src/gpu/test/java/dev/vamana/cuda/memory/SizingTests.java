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
}
