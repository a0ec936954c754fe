package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.cells.Cells;
import dev.vamana.tools.datasets.TexMexFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.Test;

/** The comparison of cells from its arguments to its table, on a small set. */
public class CellsIT {

  private static final Path OUT = Path.of("target", "cells-it");

  private static float[][] vectors(Random random, int count) {
    float[][] vectors = new float[count][16];
    for (float[] vector : vectors) {
      for (int i = 0; i < vector.length; i++) {
        vector[i] = random.nextFloat();
      }
    }
    return vectors;
  }

  @Test
  public void testTwoCells() throws IOException {
    Path set = Files.createDirectories(OUT.resolve("small"));
    Random random = new Random(3);
    TexMexFile.writeFvecs(set.resolve("base.fvecs"), vectors(random, 1200));
    TexMexFile.writeFvecs(set.resolve("query.fvecs"), vectors(random, 20));
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    String[] arguments = {
      "--plugin=" + PluginNode.zip(),
      "--set=" + set,
      "--segments=3",
      "--clients=1,2",
      "--rounds=1",
      "--seconds=0.02",
      "--warm=0.05",
      "--heap=512m",
      "--out=" + OUT
    };
    Cells.run(arguments, new PrintStream(said, true, StandardCharsets.UTF_8));
    String table = Files.readString(OUT.resolve("rest.md"));
    assertTrue(table, table.contains("\n| small | 1,200 | 16 | 3 | 1 | "));
    assertTrue(table, table.contains("\n| small | 1,200 | 16 | 3 | 2 | "));
    List<String> csv = Files.readAllLines(OUT.resolve("rest.csv"));
    for (String start :
        List.of(
            "small,1200,16,3,1,vamana,10,",
            "small,1200,16,3,1,hnsw,10,",
            "small,1200,16,3,2,vamana,10,",
            "small,1200,16,3,2,hnsw,10,")) {
      assertEquals(
          start + " in " + csv, 1, csv.stream().filter(line -> line.startsWith(start)).count());
    }
  }
}
