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

/**
 * Links between the project's pages lead somewhere, and the Java code of the README and of
 * docs/lucene is tested code.
 */
public class DocumentationTests {
  private static final Path README = Path.of("README.md");
  private static final Path LUCENE_PAGES = Path.of("docs/lucene");
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

  /** The sources that the README and docs/lucene print pieces of; tests run all of them. */
  private static List<Path> examples() throws IOException {
    List<Path> examples = new ArrayList<>();
    examples.add(Path.of("src/lucene/test/java/dev/vamana/EmbeddingExampleTests.java"));
    try (Stream<Path> programs =
        Files.list(LUCENE_PAGES.resolve("example/src/main/java/dev/vamana/examples"))) {
      programs.forEach(examples::add);
    }
    return examples;
  }

  @Test
  public void javaOfTheReadmeAndTheLucenePagesIsTested() throws IOException {
    List<String> examples = new ArrayList<>();
    for (Path example : examples()) {
      examples.add(withoutBlanks(Files.readString(example)));
    }
    Set<Path> withJava = new TreeSet<>();
    for (Path page : pages()) {
      if (page.equals(README) == false && page.startsWith(LUCENE_PAGES) == false) {
        continue;
      }
      List<String> blocks =
          JAVA_BLOCK
              .matcher(Files.readString(page))
              .results()
              .map(match -> match.group(1))
              .toList();
      for (String block : blocks) {
        withJava.add(page);
        String code = withoutBlanks(block);
        assertTrue(
            page + " has code that no example has:\n" + block,
            examples.stream().anyMatch(example -> example.contains(code)));
      }
    }
    Set<Path> expected =
        Set.of(
            LUCENE_PAGES.resolve("README.md"),
            LUCENE_PAGES.resolve("tuning.md"),
            LUCENE_PAGES.resolve("gpu.md"));
    assertTrue("pages with Java: " + withJava, withJava.containsAll(expected));
  }

  /** Tests of the GPU module run the sources of this project. */
  @Test
  public void theExampleHasTheVersionOfTheJars() throws IOException {
    Pattern version = Pattern.compile("<version>([^<]*)</version>");
    String modules =
        version.matcher(Files.readString(Path.of("pom.xml"))).results().toList().get(0).group(1);
    String example = Files.readString(LUCENE_PAGES.resolve("example/pom.xml"));
    List<String> jars =
        Pattern.compile("<groupId>dev\\.vamana</groupId>.*")
            .matcher(example)
            .results()
            .map(MatchResult::group)
            .toList();
    assertEquals(2, jars.size());
    for (String jar : jars) {
      assertTrue(jar, jar.contains("<version>" + modules + "</version>"));
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
