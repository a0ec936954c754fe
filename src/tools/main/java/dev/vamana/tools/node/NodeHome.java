package dev.vamana.tools.node;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.elasticsearch.io.ansi.AnsiConsoleLoader;

/**
 * The home folder of a modular Elasticsearch node, laid out as in the distribution:
 *
 * <pre>
 * config/log4j2.properties
 * data/  logs/  tmp/
 * lib/*.jar                      the server and its dependencies, all named or automatic modules
 * lib/entitlement-bridge/*.jar   patched into java.base
 * lib/entitlement-agent/*.jar    {@link EntitlementAgent}
 * lib/tools/ansi-console/*.jar   {@link AnsiConsoleLoader}
 * lib/platform/linux-x64/        libzstd.so, if the operating system has it; libvec.so if asked for
 * modules/transport-netty4/      the HTTP and transport module
 * plugins/NAME/                  installed plugins
 * </pre>
 *
 * <p>The jars come from the folder named by the system property {@value #PARTS_PROPERTY} (default
 * {@code target/node-parts}), which Maven fills before the integration tests.
 *
 * <p>Not included, because they are not on Maven Central: the vendor's {@code libvec} (the native
 * distance functions, see {@link #installDistanceFunctions}), the x-pack modules and the
 * command-line tools.
 */
public final class NodeHome {

  /** System property with the folder of the jars that a home is assembled from. */
  public static final String PARTS_PROPERTY = "vamana.node.parts";

  private static final String NETTY = "transport-netty4";
  private static final String DESCRIPTOR = "plugin-descriptor.properties";

  private final Path root;
  private final NodeUser user;

  private NodeHome(Path root, NodeUser user) {
    this.root = root;
    this.user = user;
  }

  /**
   * Assembles a home. Removes the previous content of the folder.
   *
   * @param wanted the folder; if this program runs as root and the node's unprivileged user cannot
   *     enter the folder, a new folder in {@code java.io.tmpdir} (or {@code /tmp}) is used, see
   *     {@link #root()}
   * @param pluginZip zip of a plugin to install, or null for none
   * @return the home, without data
   * @throws IllegalStateException if the jars are missing, or no folder is suitable
   * @throws IOException if files cannot be read or written
   */
  public static NodeHome assemble(Path wanted, Path pluginZip) throws IOException {
    return assemble(
        Path.of(System.getProperty(PARTS_PROPERTY, "target/node-parts")), wanted, pluginZip);
  }

  /**
   * Assembles a home from other jars than the jars of {@value #PARTS_PROPERTY}.
   *
   * @param parts folder of the jars
   * @see #assemble(Path, Path)
   */
  public static NodeHome assemble(Path parts, Path wanted, Path pluginZip) throws IOException {
    if (Files.isDirectory(parts.resolve("lib")) == false) {
      throw new IllegalStateException(
          "no jars to assemble a node from in "
              + parts.toAbsolutePath()
              + ": run 'mvn pre-integration-test -DskipTests' first, or set -D"
              + PARTS_PROPERTY);
    }
    NodeUser user = NodeUser.current();
    Path root = user.emptyFolder(wanted.toAbsolutePath().normalize());
    NodeHome home = new NodeHome(root, user);
    home.layOut(parts);
    if (pluginZip != null) {
      home.installPlugin(pluginZip);
    }
    return home;
  }

  /** Returns the home that was assembled at {@code root} before. */
  static NodeHome at(Path root) throws IOException {
    return new NodeHome(root, NodeUser.current());
  }

  private void layOut(Path parts) throws IOException {
    for (String folder : List.of("config", "data", "logs", "tmp", "plugins")) {
      Files.createDirectories(root.resolve(folder));
    }
    Path lib = root.resolve("lib");
    FileTrees.copyFiles(parts.resolve("lib"), lib);
    FileTrees.copyFiles(parts.resolve("bridge"), lib.resolve("entitlement-bridge"));
    Manifest agent = new Manifest();
    agent.getMainAttributes().putValue(Attributes.Name.MANIFEST_VERSION.toString(), "1.0");
    agent.getMainAttributes().putValue("Agent-Class", EntitlementAgent.class.getName());
    agent.getMainAttributes().putValue("Can-Retransform-Classes", "true");
    packClass(lib.resolve("entitlement-agent/agent.jar"), agent, EntitlementAgent.class);
    Manifest plain = new Manifest();
    plain.getMainAttributes().putValue(Attributes.Name.MANIFEST_VERSION.toString(), "1.0");
    packClass(lib.resolve("tools/ansi-console/console.jar"), plain, AnsiConsoleLoader.class);
    JlinkedRuntime.adapt(lib);
    NativeLibraries.installZstd(lib.resolve("platform"));
    layOutNetty(parts);
    Files.writeString(
        root.resolve("config/log4j2.properties"),
        """
        status = error
        appender.console.type = Console
        appender.console.name = console
        appender.console.layout.type = PatternLayout
        appender.console.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] [%node_name]%marker %m%n
        rootLogger.level = info
        rootLogger.appenderRef.console.ref = console
        """);
    user.letRead(root);
  }

  private void layOutNetty(Path parts) throws IOException {
    Path module = root.resolve("modules").resolve(NETTY);
    FileTrees.copyFiles(parts.resolve(NETTY), module);
    String inside = "META-INF/es-plugins/" + NETTY + "/";
    try (Stream<Path> jars = Files.list(module)) {
      Path jar =
          jars.filter(path -> path.getFileName().toString().startsWith(NETTY))
              .findFirst()
              .orElseThrow(() -> new IllegalStateException("no " + NETTY + " jar in " + parts));
      try (JarFile open = new JarFile(jar.toFile())) {
        for (String file : List.of(DESCRIPTOR, "entitlement-policy.yaml")) {
          try (InputStream in = open.getInputStream(open.getJarEntry(inside + file))) {
            Files.copy(in, module.resolve(file));
          }
        }
      }
    }
  }

  private static void packClass(Path jar, Manifest manifest, Class<?> type) throws IOException {
    Files.createDirectories(jar.getParent());
    String name = type.getName().replace('.', '/') + ".class";
    try (InputStream in = type.getClassLoader().getResourceAsStream(name);
        OutputStream out = Files.newOutputStream(jar);
        JarOutputStream packed = new JarOutputStream(out, manifest)) {
      packed.putNextEntry(new JarEntry(name));
      in.transferTo(packed);
      packed.closeEntry();
    }
  }

  /**
   * Installs a plugin as the distribution's command does: unpacks its zip into {@code
   * plugins/NAME}. The node must not be running.
   *
   * @param zip the plugin's zip, with {@code plugin-descriptor.properties} at its root
   * @return the plugin's name in its descriptor
   * @throws IllegalArgumentException if the zip is not a plugin, or the plugin is already installed
   * @throws IOException if files cannot be read or written
   */
  public String installPlugin(Path zip) throws IOException {
    String name = pluginName(zip);
    Path folder = root.resolve("plugins").resolve(name);
    if (Files.exists(folder)) {
      throw new IllegalArgumentException("plugin [" + name + "] is already installed in " + root);
    }
    FileTrees.unzip(zip, folder);
    user.letRead(folder);
    return name;
  }

  private static String pluginName(Path zip) throws IOException {
    Properties descriptor = new Properties();
    try (ZipFile open = new ZipFile(zip.toFile(), StandardCharsets.UTF_8)) {
      ZipEntry entry = open.getEntry(DESCRIPTOR);
      if (entry == null) {
        throw new IllegalArgumentException(zip + " has no " + DESCRIPTOR + " at its root");
      }
      try (InputStream in = open.getInputStream(entry)) {
        descriptor.load(in);
      }
    }
    String name = descriptor.getProperty("name", "");
    if (name.matches("[A-Za-z0-9_-]+") == false) {
      throw new IllegalArgumentException(zip + " has no usable plugin name: [" + name + "]");
    }
    return name;
  }

  /**
   * Removes an installed plugin. The node must not be running.
   *
   * @param name the plugin's name
   * @throws IllegalArgumentException if no plugin with this name is installed
   * @throws IOException if files cannot be removed
   */
  public void removePlugin(String name) throws IOException {
    Path folder = root.resolve("plugins").resolve(name);
    if (Files.isDirectory(folder) == false) {
      throw new IllegalArgumentException("plugin [" + name + "] is not installed in " + root);
    }
    FileTrees.delete(folder);
  }

  /** The home folder, absolute. May differ from the requested folder, see {@link #assemble}. */
  public Path root() {
    return root;
  }

  /**
   * Gives the stock index native distance functions, as the distribution has them; our index does
   * not call them. The node must not be running.
   *
   * @return whether they could be built
   */
  public boolean installDistanceFunctions() throws IOException {
    Path platform = root.resolve("lib/platform");
    boolean installed = NativeLibraries.installVec(platform);
    if (installed) {
      user.letRead(platform);
    }
    return installed;
  }

  /** Whether the stock index has native distance functions. */
  public boolean hasDistanceFunctions() {
    return NativeLibraries.hasVec(root.resolve("lib/platform"));
  }

  /** Whether the node has {@code libzstd}, without which {@code best_compression} fails. */
  public boolean hasZstd() {
    return NativeLibraries.hasZstd(root.resolve("lib/platform"));
  }

  NodeUser user() {
    return user;
  }

  Path logs() {
    return root.resolve("logs");
  }

  /** Removes the home with its data. The node must not be running. */
  public void delete() throws IOException {
    FileTrees.delete(root);
  }
}
