package dev.vamana.tools.cells;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.Test;

public class CellTableTests {

  private static final Curve OURS =
      new Curve(
          List.of(
              new Curve.Point(10, 0.92, 900),
              new Curve.Point(20, 0.95, 600),
              new Curve.Point(40, 0.99, 300)));
  private static final Curve STOCK =
      new Curve(List.of(new Curve.Point(10, 0.90, 1000), new Curve.Point(20, 0.95, 500)));

  private static final List<Cell> CELLS = List.of(new Cell("small", 12345, 96, 8, 32, OURS, STOCK));

  private static String line(String text, String start) {
    List<String> lines = text.lines().filter(line -> line.startsWith(start)).toList();
    assertEquals(text, 1, lines.size());
    return lines.get(0);
  }

  @Test
  public void testMarkdown() {
    String page = CellTable.markdown(CELLS, "hnsw", "CPU: none.");
    assertTrue(page, page.startsWith("CPU: none.\n\n| set |"));
    double stock = 1000 * Math.pow(0.5, 0.4);
    assertEquals(
        String.format(
            Locale.ROOT,
            "| small | 12,345 | 96 | 8 | 32 | %.2f (at 0.920) | 1.20 | only ours"
                + " | 0.90 (0.920, 0.900) |",
            900 / stock),
        line(page, "| small"));
    assertEquals(
        "Ours divided by `hnsw`: geometric mean 1.19, 0 of 2 figures below 0.95.",
        line(page, "Ours divided"));
  }

  @Test
  public void testMarksFiguresBelowTheRule() {
    Cell slow = new Cell("small", 10, 96, 1, 1, STOCK, OURS);
    String page = CellTable.markdown(List.of(slow), "hnsw", "CPU: none.");
    assertTrue(page, line(page, "| small").contains("| **0.83** | only stock |"));
    assertTrue(page, page.contains("2 of 2 figures below 0.95"));
  }

  @Test
  public void testCsv() {
    List<String> lines = CellTable.csv(CELLS, "int8_hnsw");
    assertEquals(6, lines.size());
    assertEquals("small,12345,96,8,32,vamana,10,0.9200,900.0", lines.get(1));
    assertEquals("small,12345,96,8,32,int8_hnsw,20,0.9500,500.0", lines.get(5));
    assertEquals(lines.get(0).split(",").length, lines.get(1).split(",").length);
  }

  @Test
  public void testOptions() {
    CellsOptions options =
        CellsOptions.parse("--plugin=p.zip", "--set=a,b", "--segments=1,8", "--clients=");
    assertEquals(List.of(Path.of("a"), Path.of("b")), options.sets());
    assertEquals(List.of(1, 8), options.segments());
    assertEquals(List.of(1, 8, 32, 64), options.clients());
    IllegalArgumentException wrong =
        assertThrows(
            IllegalArgumentException.class,
            () -> CellsOptions.parse("--plugin=p.zip", "--set=a", "--stock=flat"));
    assertEquals("stock is 'flat', allowed are hnsw and int8_hnsw", wrong.getMessage());
    assertThrows(IllegalArgumentException.class, () -> CellsOptions.parse("--plugin=p.zip"));
  }
}
