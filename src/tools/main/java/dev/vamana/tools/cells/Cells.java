package dev.vamana.tools.cells;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.figures.Figures;
import dev.vamana.tools.figures.Machine;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * Compares our index with the stock ones at equal recall on a real node without a GPU, and adds the
 * ratios to CSV files.
 */
public final class Cells {

  private Cells() {}

  /**
   * Runs the comparison.
   *
   * @param arguments {@code --name=value}; docs/internals/benchmarking.md has the names
   */
  public static void main(String[] arguments) throws IOException {
    run(arguments, new PrintStream(System.out, true, StandardCharsets.UTF_8));
  }

  /**
   * As {@link #main}.
   *
   * @param out receives all lines
   */
  public static void run(String[] arguments, PrintStream out) throws IOException {
    CellsOptions options = CellsOptions.parse(arguments);
    NodeHome home = NodeHome.assemble(Path.of("target", "node", "cells"), options.plugin());
    out.println(
        home.installDistanceFunctions()
            ? "the stock index has native distance functions"
            : "no g++: the stock index scores in Java, which is slower than in the distribution");
    NodeOptions node =
        NodeOptions.defaults().withHeap(options.heap()).withSetting("vamana.gpu.enabled", "off");
    for (Map.Entry<String, String> setting : CellTrial.SETTINGS.entrySet()) {
      node = node.withSetting(setting.getKey(), setting.getValue());
    }
    Figures figures =
        new Figures(options.out(), Figures.commitOf(Path.of("")), Machine.processor());
    try {
      for (Path folder : options.sets()) {
        VectorSet set = VectorSet.load(folder, null, options.limit());
        new CellTrial(
                new CellTrial.Plan(
                    set,
                    false,
                    options.segments(),
                    options.clients(),
                    options.seconds(),
                    options.starts()),
                figures,
                out::println)
            .run(new OneHome(home, node));
        // the next set has indices of the same names
        dev.vamana.tools.node.FileTrees.delete(home.root().resolve("data"));
        Files.createDirectories(home.root().resolve("data"));
      }
    } finally {
      home.delete();
    }
  }

  /** A home that keeps its data from one start to the next. */
  private record OneHome(NodeHome home, NodeOptions options) implements CellTrial.Nodes {
    @Override
    public RunningNode filler() throws IOException {
      return RunningNode.start(home, options);
    }

    @Override
    public void filled() {}

    @Override
    public RunningNode start(boolean gpu) throws IOException {
      return RunningNode.start(home, options);
    }
  }
}
