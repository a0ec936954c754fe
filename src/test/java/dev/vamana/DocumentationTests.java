package dev.vamana;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.Test;

/** Links between the project's pages lead somewhere, and the README's Java code compiles. */
public class DocumentationTests {
  private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
  private static final Pattern PAGE = Pattern.compile("docs/[\\w/-]+\\.md");
  private static final Pattern HEADING = Pattern.compile("^#+ (.*)$", Pattern.MULTILINE);
  private static final Pattern FENCED =
      Pattern.compile("^```.*?^```$", Pattern.MULTILINE | Pattern.DOTALL);
  private static final Pattern JAVA_BLOCK =
      Pattern.compile("^```java\\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL);

  @Test
  public void linksLeadToFilesAndHeadings() throws IOException {
    Set<String> broken = new TreeSet<>();
    for (Path page : pages()) {
      String text = FENCED.matcher(Files.readString(page)).replaceAll("");
      LINK.matcher(text)
          .results()
          .map(match -> match.group(1))
          .filter(link -> !link.contains("://"))
          .filter(link -> !leadsSomewhere(page, link))
          .forEach(link -> broken.add(page + ": " + link));
    }
    assertEquals(Set.of(), broken);
  }

  @Test
  public void pagesThatSourcesNameExist() throws IOException {
    Set<String> missing = new TreeSet<>();
    try (Stream<Path> files = Files.walk(Path.of("src"))) {
      for (Path file : files.filter(path -> path.toString().endsWith(".java")).toList()) {
        PAGE.matcher(Files.readString(file))
            .results()
            .map(MatchResult::group)
            .filter(page -> !Files.exists(Path.of(page)))
            .forEach(page -> missing.add(file + ": " + page));
      }
    }
    assertEquals(Set.of(), missing);
  }

  @Test
  public void javaInTheReadmeIsThatOfTheEmbeddingExample() throws IOException {
    String example =
        withoutBlanks(
            Files.readString(Path.of("src/test/java/dev/vamana/EmbeddingExampleTests.java")));
    List<String> blocks =
        JAVA_BLOCK
            .matcher(Files.readString(Path.of("README.md")))
            .results()
            .map(match -> match.group(1))
            .toList();
    assertTrue("no Java in README.md", blocks.size() >= 2);
    for (String block : blocks) {
      assertTrue("not in EmbeddingExampleTests:\n" + block, example.contains(withoutBlanks(block)));
    }
  }

  private static boolean leadsSomewhere(Path page, String link) {
    String[] parts = link.split("#", 2);
    Path target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]);
    if (!Files.exists(target)) {
      return false;
    }
    return parts.length == 1 || anchors(target).contains(parts[1]);
  }

  /** The anchors that common renderers of Markdown give headings. */
  private static Set<String> anchors(Path page) {
    String text;
    try {
      text = FENCED.matcher(Files.readString(page)).replaceAll("");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return HEADING
        .matcher(text)
        .results()
        .map(MatchResult::group)
        .map(
            heading ->
                heading
                    .toLowerCase(Locale.ROOT)
                    .replaceFirst("^#+ ", "")
                    .replaceAll("[^\\p{Alnum} _-]", "")
                    .replace(' ', '-'))
        .collect(Collectors.toSet());
  }

  private static String withoutBlanks(String code) {
    return code.replaceAll("\\s+", "");
  }

  private static List<Path> pages() throws IOException {
    List<Path> pages = new ArrayList<>();
    try (Stream<Path> top = Files.list(Path.of("."))) {
      top.map(Path::normalize).filter(path -> path.toString().endsWith(".md")).forEach(pages::add);
    }
    try (Stream<Path> docs = Files.walk(Path.of("docs"))) {
      docs.filter(path -> path.toString().endsWith(".md")).forEach(pages::add);
    }
    return pages;
  }
}
