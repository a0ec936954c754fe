package dev.vamana.tools.node;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The user of the operating system that runs a node.
 *
 * <p>Elasticsearch refuses to run as root. If this JVM runs as root, the node's process changes to
 * the unprivileged user and group {@value #NOBODY} before Java starts; otherwise the node runs as
 * the same user as this JVM.
 */
final class NodeUser {

  /** The usual number of {@code nobody}; it needs no entry in the user database. */
  static final int NOBODY = 65534;

  private final boolean root;

  private NodeUser(boolean root) {
    this.root = root;
  }

  static NodeUser current() throws IOException {
    Path self = Path.of("/proc/self");
    boolean root =
        Files.exists(self)
            ? Files.getAttribute(self, "unix:uid").equals(0)
            : ProcessHandle.current().info().user().equals(Optional.of("root"));
    return new NodeUser(root);
  }

  /** The words to put before a command so that it runs as this user; empty if none are needed. */
  List<String> commandPrefix() {
    if (root == false) {
      return List.of();
    }
    Path setpriv = findTool("setpriv");
    if (setpriv != null) {
      return List.of(
          setpriv.toString(), "--reuid=" + NOBODY, "--regid=" + NOBODY, "--clear-groups", "--");
    }
    throw new IllegalStateException(
        "Elasticsearch does not run as root, and setpriv (package util-linux) is"
            + " not on PATH to start it as another user: install util-linux, or run this command as"
            + " an ordinary user");
  }

  private static Path findTool(String name) {
    String path = System.getenv("PATH");
    for (String folder : (path == null ? "" : path).split(File.pathSeparator)) {
      Path tool = Path.of(folder, name);
      if (folder.isEmpty() == false && Files.isExecutable(tool)) {
        return tool;
      }
    }
    return null;
  }

  /** Throws an IllegalStateException if this user cannot run the {@code java} command. */
  void checkCanRun(Path java) throws IOException {
    if (root && FileTrees.othersCanEnter(java) == false) {
      throw new IllegalStateException(
          "Elasticsearch does not run as root, and user "
              + NOBODY
              + " may not run "
              + java.toRealPath()
              + ": install the JDK where every user can read it, or run this command as an"
              + " ordinary user");
    }
  }

  /**
   * Returns an absent or empty folder that this user can enter. This is {@code wanted}, emptied, or
   * a new temporary folder if a folder above {@code wanted} is closed to other users (as {@code
   * /root} is).
   */
  Path emptyFolder(Path wanted) throws IOException {
    Files.createDirectories(wanted.getParent());
    if (root == false || FileTrees.othersCanEnter(wanted.getParent())) {
      FileTrees.delete(wanted);
      return wanted;
    }
    Set<String> candidates = new LinkedHashSet<>();
    candidates.add(System.getProperty("java.io.tmpdir"));
    candidates.add("/tmp");
    for (String candidate : candidates) {
      Path parent = Path.of(candidate);
      if (Files.isDirectory(parent) && FileTrees.othersCanEnter(parent)) {
        return Files.createTempDirectory(parent, wanted.getFileName() + "-");
      }
    }
    throw new IllegalStateException(
        "the node would run as user "
            + NOBODY
            + ", who can enter neither "
            + wanted
            + " nor any of "
            + candidates
            + ": set -Djava.io.tmpdir to a folder that every user can enter");
  }

  /** Lets this user read {@code folder} and everything below it. */
  void letRead(Path folder) throws IOException {
    if (root) {
      FileTrees.makeReadable(folder);
    }
  }

  /** Lets this user write to {@code folder}; creates it if needed. */
  void letWrite(Path folder) throws IOException {
    Files.createDirectories(folder);
    if (root) {
      FileTrees.giveTo(folder, NOBODY);
    }
  }
}
