package dev.vamana.tools.text;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * A folder of Javadoc artefacts ({@code lucene-core-10.5.1-javadoc.jar} and others).
 *
 * @param folder holds at least one
 */
public record JavadocFolder(Path folder) {

  private static final String SUFFIX = "-javadoc.jar";

  /**
   * The passages of all artefacts, each text once, in the order of artefacts and pages.
   *
   * @throws IllegalArgumentException if the folder holds no artefact
   */
  public List<Passage> passages() throws IOException {
    List<Passage> passages = new ArrayList<>();
    Set<String> seen = new HashSet<>();
    for (Path jar : jars()) {
      for (Passage passage : passages(jar)) {
        if (seen.add(passage.text())) {
          passages.add(passage);
        }
      }
    }
    return passages;
  }

  /** Names of the artefacts, in order. */
  public List<String> names() throws IOException {
    return jars().stream().map(JavadocFolder::name).toList();
  }

  private List<Path> jars() throws IOException {
    List<Path> jars = List.of();
    if (Files.isDirectory(folder)) {
      try (Stream<Path> files = Files.list(folder)) {
        jars = files.filter(file -> file.toString().endsWith(SUFFIX)).sorted().toList();
      }
    }
    if (jars.isEmpty()) {
      throw new IllegalArgumentException("there are no *" + SUFFIX + " in " + folder);
    }
    return jars;
  }

  private static String name(Path jar) {
    String file = jar.getFileName().toString();
    return file.substring(0, file.length() - SUFFIX.length());
  }

  private static List<Passage> passages(Path jar) throws IOException {
    try (ZipFile open = new ZipFile(jar.toFile(), StandardCharsets.UTF_8)) {
      List<? extends ZipEntry> pages =
          open.stream()
              .filter(entry -> isDocumentation(entry.getName()))
              .sorted(Comparator.comparing(ZipEntry::getName))
              .toList();
      List<Passage> passages = new ArrayList<>();
      for (ZipEntry page : pages) {
        String html;
        try (InputStream in = open.getInputStream(page)) {
          html = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        passages.addAll(new JavadocPage(name(jar), page.getName(), html).passages());
      }
      return passages;
    }
  }

  private static boolean isDocumentation(String path) {
    return path.endsWith(".html")
        && path.contains("/")
        && path.contains("/class-use/") == false
        && path.contains("/src-html/") == false
        && path.contains("index-files/") == false
        && path.contains("legal/") == false;
  }

  /**
   * A file inside an artefact.
   *
   * @param artefact a name that {@link #names} has
   * @param path of the file, such as {@code org/apache/lucene/index/IndexWriter.html}
   * @return its content; empty if there is no such artefact or file
   */
  public Optional<byte[]> file(String artefact, String path) throws IOException {
    for (Path jar : jars()) {
      if (name(jar).equals(artefact)) {
        try (ZipFile open = new ZipFile(jar.toFile(), StandardCharsets.UTF_8)) {
          ZipEntry entry = open.getEntry(path);
          if (entry == null || entry.isDirectory()) {
            return Optional.empty();
          }
          try (InputStream in = open.getInputStream(entry)) {
            return Optional.of(in.readAllBytes());
          }
        }
      }
    }
    return Optional.empty();
  }
}
