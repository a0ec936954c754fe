package dev.vamana.tools.gpu.node;

import dev.vamana.tools.node.FileTrees;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The folders and jars of a measured node.
 *
 * @param folder folder for the node, accessible to every user
 * @param data name of its subfolder that keeps the indices for further runs
 * @param plugin zip of the plugin
 * @param heap heap of the node
 */
public record NodeParts(Path folder, String data, Path plugin, String heap) {

  /** The mode without a GPU. Other modes are placements. */
  public static final String OFF = "off";

  /**
   * Returns the same for a node that runs beside others, in a folder of its own with a copy of the
   * indices. No node may be running over them. All copies share the files of segments, which are
   * never written again: so nodes read them from the same pages of memory. From pages of their own
   * one node's searches can be some percent faster than another's.
   */
  public NodeParts copy(String subfolder) throws IOException {
    NodeParts copy = new NodeParts(folder.resolve(subfolder), data, plugin, heap);
    Path target = copy.folder.resolve(data);
    FileTrees.delete(target);
    FileTrees.copy(folder.resolve(data), target, NodeParts::isOfSegment);
    return copy;
  }

  private static boolean isOfSegment(Path file) {
    return file.getFileName().toString().startsWith("_") && file.getParent().endsWith("index");
  }

  /**
   * Assembles a node's home anew, and starts the node.
   *
   * @param mode {@link #OFF}, or the value of {@code vamana.gpu.placement}
   * @param settings further settings of the node
   */
  public RunningNode start(String mode, Map<String, String> settings) throws IOException {
    Files.createDirectories(folder);
    NodeHome home = NodeHome.assemble(folder.resolve("home"), plugin);
    home.installDistanceFunctions();
    NodeOptions options =
        NodeOptions.defaults()
            .withHeap(heap)
            .withSetting("path.data", folder.resolve(data).toString())
            .withSetting("http.max_content_length", "500mb");
    options =
        mode.equals(OFF)
            ? options.withSetting("vamana.gpu.enabled", OFF)
            : options
                .withSetting("vamana.gpu.enabled", "required")
                .withSetting("vamana.gpu.placement", mode)
                .withSetting("vamana.gpu.memory.limit", "90%");
    for (Map.Entry<String, String> setting : settings.entrySet()) {
      options = options.withSetting(setting.getKey(), setting.getValue());
    }
    return RunningNode.start(home, options);
  }
}
