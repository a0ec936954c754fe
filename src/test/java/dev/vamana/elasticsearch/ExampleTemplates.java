package dev.vamana.elasticsearch;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The index templates that the pages for operators offer as files. */
final class ExampleTemplates {
  /** Switches the plugin on for every index that no other template matches. */
  static final Path FOR_ALL = Path.of("docs/operators/examples/vamana-for-all.json");

  /** The same, and maps arrays in fields of certain names to vectors with a graph. */
  static final Path FOR_DYNAMIC = Path.of("docs/operators/examples/vamana-for-dynamic.json");

  /** Wins over the template of Rally's track {@code random_vector}. */
  static final Path FOR_RALLY = Path.of("docs/operators/examples/vamana-for-rally.json");

  private ExampleTemplates() {}

  /** Stores a template under the name of its file. */
  static void put(NodeClient client, Path template) throws IOException {
    String name = template.getFileName().toString().replace(".json", "");
    client.put("/_index_template/" + name, Files.readString(template));
  }
}
