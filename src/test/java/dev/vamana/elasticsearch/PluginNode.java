package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;

import dev.vamana.elasticsearch.index.NodeBuilding;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import dev.vamana.tools.node.TestNodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.elasticsearch.Build;

/** Node homes with the plugin that the build has packed. */
final class PluginNode {
  private PluginNode() {}

  /**
   * Options for tests, with a node's name that assertions can expect.
   *
   * @param more further arguments of the JVM
   */
  static NodeOptions options(String... more) {
    return TestNodes.options(more).withSetting("node.name", "vamana");
  }

  /** A new home with the plugin installed. */
  static NodeHome home(String name) throws IOException {
    return NodeHome.assemble(Path.of("target", "node", name), zip());
  }

  /**
   * A new home of another release of Elasticsearch, which the build has fetched, with the plugin
   * for it.
   */
  static NodeHome homeOfOtherRelease(String name) throws IOException {
    Path parts = Path.of("target", "node-parts-other");
    return NodeHome.assemble(
        parts, Path.of("target", "node", name), TestPluginZip.forRelease(release(parts)));
  }

  private static String release(Path parts) throws IOException {
    try (Stream<Path> jars = Files.list(parts.resolve("lib"))) {
      return jars.map(jar -> jar.getFileName().toString())
          .filter(jar -> jar.matches("elasticsearch-[0-9.]+\\.jar"))
          .map(jar -> jar.replaceAll("elasticsearch-|\\.jar", ""))
          .findFirst()
          .orElseThrow();
    }
  }

  /**
   * The plugin's zip, as the build has made it. Builds for other releases of Elasticsearch may have
   * left theirs beside it.
   */
  static Path zip() throws IOException {
    String start = "elasticsearch-vamana-" + Build.current().version() + ".";
    try (Stream<Path> files = Files.list(Path.of("target", "releases"))) {
      List<Path> zips =
          files
              .filter(file -> file.toString().endsWith(".zip"))
              .filter(file -> file.getFileName().toString().startsWith(start))
              .toList();
      assertEquals("plugin zips in target/releases: " + zips, 1, zips.size());
      return zips.get(0);
    }
  }

  /** The pool's threads at work, the most that there have been, and its finished tasks. */
  record BuildPool(int active, int largest, long completed) {}

  /** How the pool that builds graphs is doing. */
  static BuildPool buildPool(RunningNode node) throws IOException {
    Map<String, Object> stats = node.client().get("/_nodes/_local/stats/thread_pool");
    Object only = ((Map<?, ?>) stats.get("nodes")).values().iterator().next();
    Object pool = NodeClient.at(only, "thread_pool", NodeBuilding.POOL);
    return new BuildPool(
        (Integer) NodeClient.at(pool, "active"),
        (Integer) NodeClient.at(pool, "largest"),
        ((Number) NodeClient.at(pool, "completed")).longValue());
  }
}
