package dev.vamana.tools.cells;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.Processor;
import dev.vamana.tools.demo.Progress;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * Compares the throughput of our index with the stock one at equal recall on a real node without a
 * GPU: for each set, number of segments and number of clients. Writes {@code rest.md} and {@code
 * rest.csv} after each set.
 */
public final class Cells {

  /** A shard flushes before its share of the heap is full; a segment has to fit into it. */
  private static final String BUFFER = "40%";

  private final CellsOptions options;
  private final PrintStream out;
  private final Progress progress;
  private final List<Cell> cells = new ArrayList<>();

  private Cells(CellsOptions options, PrintStream out) {
    this.options = options;
    this.out = out;
    progress = new Progress(out);
  }

  /**
   * Runs the comparison.
   *
   * @param arguments {@code --name=value}; docs/benchmarks/rest.md has the names
   */
  public static void main(String[] arguments) throws IOException {
    run(arguments, new PrintStream(System.out, true, StandardCharsets.UTF_8));
  }

  /**
   * Runs the comparison.
   *
   * @param arguments {@code --name=value}; docs/benchmarks/rest.md has the names
   * @param out receives all lines
   */
  public static void run(String[] arguments, PrintStream out) throws IOException {
    new Cells(CellsOptions.parse(arguments), out).run();
  }

  private void run() throws IOException {
    KeptConnections.keep(Collections.max(options.clients()));
    Files.createDirectories(options.out());
    NodeHome home = NodeHome.assemble(Path.of("target", "node", "cells"), options.plugin());
    NodeOptions node =
        NodeOptions.defaults()
            .withHeap(options.heap())
            .withSetting("vamana.gpu.enabled", "off")
            .withSetting("indices.memory.index_buffer_size", BUFFER);
    try {
      for (Path folder : options.sets()) {
        measure(home, node, VectorSet.load(folder, null, options.limit()));
        write();
      }
    } finally {
      home.delete();
    }
  }

  /**
   * A node that has built graphs searches the stock index more slowly, so a fresh one is measured.
   */
  private void measure(NodeHome home, NodeOptions node, VectorSet set) throws IOException {
    List<Integer> segments =
        options.segments().stream().distinct().sorted(Comparator.reverseOrder()).toList();
    List<Cell> measured = new ArrayList<>();
    for (int count : segments) {
      try (RunningNode running = RunningNode.start(home, node)) {
        SegmentedIndices indices = indices(running, set);
        if (count == 1 && segments.size() > 1) {
          indices.merge();
        } else {
          indices.fill(count);
        }
      }
      try (RunningNode running = RunningNode.start(home, node)) {
        SegmentedIndices indices = indices(running, set);
        indices.check(count);
        measured.addAll(0, new CellRun(set, indices, options, progress).run(count));
      }
    }
    cells.addAll(measured);
  }

  private SegmentedIndices indices(RunningNode node, VectorSet set) throws IOException {
    return SegmentedIndices.of(node, set, options.stock(), progress);
  }

  private void write() throws IOException {
    String table = CellTable.markdown(cells, options.stock(), Processor.describe(options.heap()));
    Files.writeString(options.out().resolve("rest.md"), table);
    Files.write(options.out().resolve("rest.csv"), CellTable.csv(cells, options.stock()));
    out.println();
    out.println(table);
  }
}
