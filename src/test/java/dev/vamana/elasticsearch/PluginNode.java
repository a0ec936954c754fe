package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;

import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Node homes with the plugin that the build has packed. */
final class PluginNode {
  private PluginNode() {}

  /** Assertions on, so that those of the server about files and threads count too. */
  static NodeOptions options() {
    return NodeOptions.defaults().withAssertions(true).withSetting("node.name", "vamana");
  }

  /** A new home with the plugin installed. */
  static NodeHome home(String name) throws IOException {
    return NodeHome.assemble(Path.of("target", "node", name), zip());
  }

  /** The plugin's zip, as the build has made it. */
  static Path zip() throws IOException {
    try (Stream<Path> files = Files.list(Path.of("target", "releases"))) {
      List<Path> zips = files.filter(file -> file.toString().endsWith(".zip")).toList();
      assertEquals("plugin zips in target/releases: " + zips, 1, zips.size());
      return zips.get(0);
    }
  }
}
