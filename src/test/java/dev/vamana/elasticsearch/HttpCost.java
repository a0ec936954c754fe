package dev.vamana.elasticsearch;

import dev.vamana.tools.batch.BatchBenchmark;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Prints what a vector of a batched search costs besides the search: the batch benchmark on a node
 * whose executor answers at once. docs/internals/benchmarking.md has the command.
 */
public final class HttpCost {
  private HttpCost() {}

  /**
   * Measures.
   *
   * @param arguments as for {@link BatchBenchmark}, without the plugin
   */
  public static void main(String[] arguments) throws IOException {
    List<String> all = new ArrayList<>(List.of(arguments));
    all.add(
        "--plugin="
            + TestPluginZip.write(
                "canned-hits",
                CannedHitsPlugin.class,
                List.of("dev/vamana/elasticsearch/(ForwardingPlugin|CannedHitsPlugin).*"),
                Map.of()));
    all.add("--settings=vamana.gpu.enabled=required");
    // a graph would not be searched
    all.add("--index=index.vamana.graph_threshold=" + Integer.MAX_VALUE);
    BatchBenchmark.main(all.toArray(String[]::new));
  }
}
