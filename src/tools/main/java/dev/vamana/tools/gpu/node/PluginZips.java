package dev.vamana.tools.gpu.node;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/**
 * Packs plugins on the measured machine, from parts that the suite has brought there for other
 * stages.
 */
public final class PluginZips {

  private static final String DESCRIPTOR = "plugin-descriptor.properties";

  private PluginZips() {}

  /**
   * Packs this project's plugin: a jar of its classes, the jars that it depends on, descriptor and
   * policy.
   *
   * @param zip file to write
   * @param classes folder of classes and resources
   * @param jars folder of jars, of which JCuda's and JNA's are used
   * @param metadata folder of descriptor and entitlement policy
   */
  public static void ours(Path zip, Path classes, Path jars, Path metadata) throws IOException {
    try (OutputStream file = Files.newOutputStream(zip);
        ZipOutputStream out = new ZipOutputStream(file)) {
      put(out, DESCRIPTOR, Files.readAllBytes(metadata.resolve(DESCRIPTOR)));
      String policy = "entitlement-policy.yaml";
      put(out, policy, Files.readAllBytes(metadata.resolve(policy)));
      put(out, "elasticsearch-vamana.jar", jar(classes));
      for (Path jar : filesOf(jars)) {
        if (jar.getFileName().toString().matches("(jcuda|jna)-.*\\.jar")) {
          put(out, jar.getFileName().toString(), Files.readAllBytes(jar));
        }
      }
    }
  }

  private static byte[] jar(Path classes) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream jar = new ZipOutputStream(bytes)) {
      for (Path file : filesOf(classes)) {
        String name = classes.relativize(file).toString().replace('\\', '/');
        put(jar, name, Files.readAllBytes(file));
      }
    }
    return bytes.toByteArray();
  }

  /** Returns the files below a folder. Homes of several suites may share a folder by a link. */
  private static List<Path> filesOf(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder, FileVisitOption.FOLLOW_LINKS)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static void put(ZipOutputStream zip, String name, byte[] bytes) throws IOException {
    zip.putNextEntry(new ZipEntry(name));
    zip.write(bytes);
    zip.closeEntry();
  }
}
