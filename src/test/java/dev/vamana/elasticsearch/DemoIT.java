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
import java.util.ArrayList;
import java.util.List;
import org.junit.Test;

/** The demo from its arguments to its last line, on a small set. */
public class DemoIT {

  private static List<String> demo(Path zip, String... more) {
    List<String> arguments =
        new ArrayList<>(
            List.of(
                "--plugin=" + zip,
                "--limit=600",
                "--queries=25",
                "--side=8",
                "--seconds=0.2",
                "--out=target/demo-it"));
    arguments.addAll(List.of(more));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    int status = Demo.run(arguments.toArray(String[]::new), null, out);
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
  public void testWithoutGpu() throws IOException {
    List<String> lines = demo(PluginNode.zip(), "--gpu=off");
    assertTrue(row(lines, "demo-vamana (this plugin) ").endsWith("  CPU"));
    assertTrue(row(lines, "demo-hnsw (stock) ").endsWith("  CPU"));
    String machine = row(lines, "CPU: ");
    assertTrue(machine, machine.endsWith("No GPU was used: [vamana.gpu.enabled] is [off]."));
    String last = lines.get(lines.size() - 1);
    assertTrue(last, last.startsWith("demo: ok ") && last.contains("; answered by CPU;"));
    String page = Files.readString(Path.of("target/demo-it/report.html"));
    assertTrue(page, page.contains("No GPU was used: [vamana.gpu.enabled] is [off]."));
  }

  @Test
  public void testWithSimulatedGpu() throws IOException {
    List<String> lines = demo(SimulatedGpuNode.zip("demo-gpu"), "--gpu=required");
    assertTrue(row(lines, "CPU: ").endsWith(" GPU: simulated."));
    String on = row(lines, "demo-vamana (GPU on) ");
    assertTrue(row(lines, "demo-vamana (GPU off) ").endsWith("  CPU"));
    assertTrue(row(lines, "demo-hnsw (stock) ").endsWith("  CPU"));
    String last = lines.get(lines.size() - 1);
    String answeredBy = on.replaceFirst(".* {2}(?=GPU|CPU)", "");
    assertTrue(last, last.contains("; answered by " + answeredBy + ";"));
    assertTrue(last, last.contains("(GPU off "));
  }
}
