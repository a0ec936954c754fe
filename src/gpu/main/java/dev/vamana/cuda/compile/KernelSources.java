package dev.vamana.cuda.compile;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * The sources of the kernels: modules, one {@code .cu} file each, and the headers that they
 * include.
 *
 * <p>In the repository modules lie in {@code native-kernels/src}, modules that only measure in
 * {@code native-kernels/bench}, and headers in {@code src}, {@code include} and {@code nvrtc}; the
 * last stands in for the standard headers that NVRTC does not have. The jar has all of them in one
 * archive. A header is included by its path below its folder.
 */
public final class KernelSources {

  private static final String ARCHIVE = "/dev/vamana/cuda/kernel-sources.zip";
  private static final Pattern INCLUDE =
      Pattern.compile("^\\s*#\\s*include\\s+[<\"]([^>\"]+)[>\"]", Pattern.MULTILINE);
  private static final String MODULE = ".cu";

  private final SortedMap<String, String> modules = new TreeMap<>();
  private final SortedSet<String> measuring = new TreeSet<>();
  private final SortedMap<String, String> headers = new TreeMap<>();

  private KernelSources() {}

  /** The sources of a checkout, from its folder {@code native-kernels}. */
  public static KernelSources ofFolder(Path folder) throws IOException {
    KernelSources sources = new KernelSources();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        String path = folder.relativize(file).toString().replace('\\', '/');
        sources.add(path, Files.readString(file));
      }
    }
    return sources;
  }

  /**
   * The sources in this jar.
   *
   * @throws IOException if it has none
   */
  static KernelSources ofThisJar() throws IOException {
    KernelSources sources = new KernelSources();
    try (InputStream archive = KernelSources.class.getResourceAsStream(ARCHIVE)) {
      if (archive == null) {
        throw new IOException("the jar has no " + ARCHIVE);
      }
      ZipInputStream zip = new ZipInputStream(archive, StandardCharsets.UTF_8);
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        if (entry.isDirectory() == false) {
          sources.add(entry.getName(), new String(zip.readAllBytes(), StandardCharsets.UTF_8));
        }
      }
    }
    return sources;
  }

  private void add(String path, String text) {
    int slash = path.indexOf('/');
    if (slash < 0) {
      return;
    }
    String folder = path.substring(0, slash);
    String name = path.substring(slash + 1);
    switch (folder) {
      case "src", "bench" -> {
        if (name.endsWith(MODULE)) {
          String module = name.substring(0, name.length() - MODULE.length());
          modules.put(module, text);
          if (folder.equals("bench")) {
            measuring.add(module);
          }
        } else {
          headers.put(name, text);
        }
      }
      case "include", "nvrtc" -> headers.put(name, text);
      default -> {
        // code that runs on the host
      }
    }
  }

  /** Names of the modules that searches and trainings use. */
  public SortedSet<String> modules() {
    SortedSet<String> names = new TreeSet<>(modules.keySet());
    names.removeAll(measuring);
    return names;
  }

  /** Names of the modules that benchmarks use alone. */
  public SortedSet<String> measuringModules() {
    return new TreeSet<>(measuring);
  }

  String text(String module) {
    return modules.get(module);
  }

  /** The headers that a module includes, directly or through others, by name. */
  SortedMap<String, String> headersOf(String module) {
    SortedMap<String, String> found = new TreeMap<>();
    collect(text(module), found);
    return found;
  }

  private void collect(String text, Map<String, String> found) {
    Matcher include = INCLUDE.matcher(text);
    while (include.find()) {
      String header = headers.get(include.group(1));
      if (header != null && found.put(include.group(1), header) == null) {
        collect(header, found);
      }
    }
  }

  /** Digest of a module and of the headers it includes. */
  String digest(String module) {
    MessageDigest digest = sha256();
    add(digest, module, text(module));
    headersOf(module).forEach((name, text) -> add(digest, name, text));
    return HexFormat.of().formatHex(digest.digest());
  }

  /** Digest of all modules of a set. */
  String digest(Set<String> names) {
    MessageDigest digest = sha256();
    names.forEach(name -> add(digest, name, digest(name)));
    return HexFormat.of().formatHex(digest.digest());
  }

  private static void add(MessageDigest digest, String name, String text) {
    digest.update((name + '\n' + text.length() + '\n' + text).getBytes(StandardCharsets.UTF_8));
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java runtime has SHA-256", e);
    }
  }
}
