package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.datasets.TexMexFile;
import dev.vamana.tools.figures.Figures;
import dev.vamana.tools.figures.Sheet;
import dev.vamana.tools.gpu.Suite;
import dev.vamana.tools.node.FileTrees;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.Test;

/** The comparison of cells from its arguments to its table, on a small set. */
public class CellsIT {

  private static final Path OUT = Path.of("target", "cells-it");

  private static float[][] vectors(Random random, int count) {
    float[][] vectors = new float[count][64];
    for (float[] vector : vectors) {
      for (int i = 0; i < vector.length; i++) {
        vector[i] = random.nextFloat();
      }
    }
    return vectors;
  }

  @Test
  public void testTwoCells() throws Exception {
    FileTrees.delete(OUT);
    Path set = Files.createDirectories(OUT.resolve("small"));
    Random random = new Random(3);
    TexMexFile.writeFvecs(set.resolve("base.fvecs"), vectors(random, 1200));
    TexMexFile.writeFvecs(set.resolve("query.fvecs"), vectors(random, 20));
    Suite.main(
        new String[] {
          "--stage=cells-given",
          "--home=" + OUT,
          "--plugin=" + PluginNode.zip(),
          "--set=" + set,
          "--device=-1",
          "--segments=3",
          "--clients=1,2",
          "--starts=1",
          "--seconds=0.02"
        });
    List<Map<String, String>> rows = Figures.read(OUT.resolve("report"), Sheet.CELLS);
    // two numbers of clients, two recalls
    assertEquals(rows.toString(), 4, rows.size());
    for (Map<String, String> row : rows) {
      assertEquals("small", row.get("set"));
      assertEquals("", row.get("gpu_over_hnsw"));
      assertTrue(row.toString(), Double.parseDouble(row.get("cpu_over_hnsw")) > 0);
    }
    List<Map<String, String>> sizes = Figures.read(OUT.resolve("report"), Sheet.SIZES);
    assertEquals(
        List.of("bbq_hnsw", "hnsw", "int8_hnsw", "vamana"),
        sizes.stream().map(row -> row.get("kind")).sorted().toList());
    for (Map<String, String> row : sizes) {
      assertTrue(row.toString(), Long.parseLong(row.get("disk_bytes")) > 0);
      assertTrue(row.toString(), Long.parseLong(row.get("off_heap_bytes")) > 0);
    }
  }
}
