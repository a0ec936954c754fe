package dev.vamana.elasticsearch;

import dev.vamana.cuda.driver.SimulatedDriver;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.elasticsearch.Build;

/**
 * The plugin as built, with a jar of test classes beside it and one of them as the plugin's class.
 */
final class TestPluginZip {
  private static final String DESCRIPTOR = "plugin-descriptor.properties";

  private TestPluginZip() {}

  /**
   * Writes a zip.
   *
   * @param name of the zip's folder
   * @param plugin the class that the node makes
   * @param classes patterns of the class files to add, without {@code .class}
   * @param files further files, by their name in the zip
   */
  static Path write(String name, Class<?> plugin, List<String> classes, Map<String, Path> files)
      throws IOException {
    Path zip = Path.of("target", name, "plugin.zip");
    Files.createDirectories(zip.getParent());
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(zip))) {
      copyBuilt(out, VamanaPlugin.class.getName(), plugin.getName());
      put(out, name + ".jar", jar(classes));
      for (Map.Entry<String, Path> file : files.entrySet()) {
        put(out, file.getKey(), Files.readAllBytes(file.getValue()));
      }
    }
    return zip;
  }

  /** Writes a zip of the plugin as built, for another release of Elasticsearch. */
  static Path forRelease(String release) throws IOException {
    Path zip = Path.of("target", "plugin-for-" + release, "plugin.zip");
    Files.createDirectories(zip.getParent());
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(zip))) {
      copyBuilt(out, Build.current().version(), release);
    }
    return zip;
  }

  /** Copies the plugin as built, with another text in its descriptor. */
  private static void copyBuilt(ZipOutputStream out, String text, String instead)
      throws IOException {
    try (ZipFile built = new ZipFile(PluginNode.zip().toFile())) {
      for (ZipEntry entry : Collections.list(built.entries())) {
        byte[] bytes;
        try (InputStream in = built.getInputStream(entry)) {
          bytes = in.readAllBytes();
        }
        if (entry.getName().equals(DESCRIPTOR)) {
          bytes =
              new String(bytes, StandardCharsets.UTF_8)
                  .replace(text, instead)
                  .getBytes(StandardCharsets.UTF_8);
        }
        put(out, entry.getName(), bytes);
      }
    }
  }

  /**
   * Writes a zip of a plugin of its own, to be installed beside ours.
   *
   * @param name of the plugin and of the zip's folder
   * @param plugin the class that the node makes
   * @param classes patterns of its class files, without {@code .class}
   */
  static Path alone(String name, Class<?> plugin, List<String> classes) throws IOException {
    Path zip = Path.of("target", name, "plugin.zip");
    Files.createDirectories(zip.getParent());
    try (ZipFile built = new ZipFile(PluginNode.zip().toFile());
        InputStream in = built.getInputStream(built.getEntry(DESCRIPTOR));
        ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(zip))) {
      String text =
          new String(in.readAllBytes(), StandardCharsets.UTF_8)
              .replace(VamanaPlugin.class.getName(), plugin.getName())
              .replace("name=vamana", "name=" + name);
      put(out, DESCRIPTOR, text.getBytes(StandardCharsets.UTF_8));
      put(out, name + ".jar", jar(classes));
    }
    return zip;
  }

  private static byte[] jar(List<String> patterns) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream jar = new ZipOutputStream(bytes)) {
      addClasses(jar, patterns, TestPluginZip.class);
      addClasses(jar, patterns, SimulatedDriver.class);
    }
    return bytes.toByteArray();
  }

  /** Adds classes from the folder or the jar of a class. */
  private static void addClasses(ZipOutputStream jar, List<String> patterns, Class<?> beside)
      throws IOException {
    Path place = placeOf(beside);
    if (Files.isDirectory(place)) {
      addClasses(jar, patterns, place);
      return;
    }
    try (FileSystem content = FileSystems.newFileSystem(place)) {
      addClasses(jar, patterns, content.getPath("/"));
    }
  }

  private static void addClasses(ZipOutputStream jar, List<String> patterns, Path root)
      throws IOException {
    try (Stream<Path> walk = Files.walk(root)) {
      for (Path file : walk.filter(Files::isRegularFile).sorted().toList()) {
        String name = root.relativize(file).toString();
        if (patterns.stream().anyMatch(pattern -> name.matches(pattern + "\\.class"))) {
          put(jar, name, Files.readAllBytes(file));
        }
      }
    }
  }

  private static Path placeOf(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }

  private static void put(ZipOutputStream zip, String name, byte[] bytes) throws IOException {
    zip.putNextEntry(new ZipEntry(name));
    zip.write(bytes);
    zip.closeEntry();
  }
}
