package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.tools.demo.Demo;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.Test;

/** The demo from its arguments to its last line, on a small set and a simulated GPU. */
public class DemoIT {

  private static final Path OUT = Path.of("target/demo-it");

  private static List<String> demo(Path zip) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    String[] arguments = {
      "--plugin=" + zip,
      "--limit=1600",
      "--queries=12",
      "--seconds=0.1",
      "--gpu=required",
      "--plan=exact",
      "--out=" + OUT
    };
    int status = Demo.run(arguments, null, out);
    String text = bytes.toString(StandardCharsets.UTF_8);
    assertEquals(text, 0, status);
    return text.lines().toList();
  }

  private static String row(List<String> lines, String start) {
    List<String> rows = lines.stream().filter(line -> line.startsWith(start)).toList();
    assertEquals(String.join("\n", lines), 1, rows.size());
    return rows.get(0);
  }

  @Test
  public void testWithSimulatedGpu() throws IOException {
    List<String> lines = demo(SimulatedGpuNode.zip("demo-gpu"));
    assertTrue(row(lines, "CPU: ").endsWith(" GPU: simulated."));
    String on = row(lines, "demo-vamana (GPU on) ");
    assertTrue(row(lines, "demo-vamana (GPU off) ").endsWith("  CPU"));
    assertTrue(row(lines, "demo-hnsw (stock) ").endsWith("  CPU"));
    String answeredBy = on.replaceFirst(".* {2}(?=GPU|CPU)", "");
    assertTrue(on, answeredBy.startsWith("GPU ("));
    String last = lines.get(lines.size() - 1);
    assertTrue(last, last.startsWith("demo: ok ") && last.contains("(GPU off "));
    assertTrue(last, last.contains("; answered by " + answeredBy + ";"));
    String page = Files.readString(OUT.resolve("report.html"));
    assertTrue(page, page.contains("GPU: simulated.</figcaption>"));
  }
}
