package dev.vamana.tools.node;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.module.ModuleFinder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/**
 * Lets a node run on a Java runtime made by {@code jlink}.
 *
 * <p>The server's entitlement module requires {@code jdk.jlink} but uses none of its classes. A JDK
 * without packaged modules cannot put that module into another runtime, and an empty module cannot
 * replace it, since {@code java.base} records its hash. Therefore this class rewrites the module
 * descriptor in the home to require another JDK module, whose name has the same length.
 */
final class JlinkedRuntime {

  private static final String MISSING = "jdk.jlink";
  private static final String PRESENT = "jdk.zipfs";
  private static final String DESCRIPTOR = "module-info.class";

  private JlinkedRuntime() {}

  /** Rewrites the entitlement jar in {@code lib} if the running Java runtime lacks the module. */
  static void adapt(Path lib) throws IOException {
    if (ModuleFinder.ofSystem().find(MISSING).isPresent()) {
      return;
    }
    List<Path> jars;
    try (Stream<Path> files = Files.list(lib)) {
      jars =
          files
              .filter(
                  file ->
                      file.getFileName()
                          .toString()
                          .matches("elasticsearch-entitlement-\\d.*\\.jar"))
              .toList();
    }
    for (Path jar : jars) {
      Files.write(jar, changed(jar));
    }
  }

  private static byte[] changed(Path jar) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipInputStream in = new ZipInputStream(Files.newInputStream(jar));
        ZipOutputStream out = new ZipOutputStream(bytes)) {
      for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
        byte[] content = in.readAllBytes();
        out.putNextEntry(new ZipEntry(entry.getName()));
        out.write(entry.getName().equals(DESCRIPTOR) ? renamed(content) : content);
        out.closeEntry();
      }
    }
    return bytes.toByteArray();
  }

  private static byte[] renamed(byte[] descriptor) {
    byte[] from = MISSING.getBytes(StandardCharsets.US_ASCII);
    byte[] to = PRESENT.getBytes(StandardCharsets.US_ASCII);
    byte[] changed = descriptor.clone();
    for (int i = 0; i + from.length <= changed.length; i++) {
      if (Arrays.equals(changed, i, i + from.length, from, 0, from.length)) {
        System.arraycopy(to, 0, changed, i, to.length);
      }
    }
    return changed;
  }
}
