package dev.vamana.tools.figures;

import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.figures.Figures.Subject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.lucene.tests.util.LuceneTestCase;

/** CSV files of figures: how they are written, and the published files. */
public class FiguresTests extends LuceneTestCase {

  private static final Path PUBLISHED = Path.of("docs/benchmarks");
  private static final Subject SET = new Subject("small", 100, 8);

  public void testRowsOfTheSameKeysAreReplaced() throws Exception {
    Path folder = createTempDir();
    Figures figures = new Figures(folder, "one", "device");
    figures.add(Sheet.BUILDS, SET, "graph", 4, 1.234567);
    figures.add(Sheet.BUILDS, SET, "graph", 4, 2.0);
    figures.add(Sheet.BUILDS, SET, "lists; both", 4, Double.NaN);
    assertEquals(
        List.of(
            "commit,device,set,n,dims,method,threads,seconds",
            "one,device,small,100,8,graph,4,2",
            "one,device,small,100,8,lists; both,4,"),
        Files.readAllLines(folder.resolve("builds.csv")));
    figures.add(Sheet.BUILDS, SET, "graph", 4, 1.234567);
    assertEquals("1.2346", Figures.read(folder, Sheet.BUILDS).get(1).get("seconds"));
  }

  public void testOtherCommitsGoUnlessTheyAreMarked() throws Exception {
    Path folder = createTempDir();
    new Figures(folder, "earlier:0123", "device").add(Sheet.BUILDS, SET, "graph", 4, 3.0);
    new Figures(folder, "one", "device").add(Sheet.BUILDS, SET, "graph", 4, 2.0);
    new Figures(folder, "two", "device").add(Sheet.BUILDS, SET, "graph", 4, 1.0);
    assertEquals(
        List.of("earlier:0123", "two"),
        Figures.read(folder, Sheet.BUILDS).stream().map(row -> row.get("commit")).toList());
  }

  public void testThreadsAddRowsSideBySide() throws Exception {
    Path folder = createTempDir();
    Callers.together(
        4,
        id -> {
          new Figures(folder, "one", "device").add(Sheet.BUILDS, SET, "graph " + id, 4, 1.0);
          return null;
        });
    assertEquals(4, Figures.read(folder, Sheet.BUILDS).size());
  }

  public void testMalformedFiles() throws Exception {
    Path folder = createTempDir();
    Files.writeString(folder.resolve("nrt.csv"), "commit,device\n");
    IllegalArgumentException failure =
        expectThrows(IllegalArgumentException.class, () -> Figures.read(folder, Sheet.NRT));
    assertTrue(
        failure.getMessage(), failure.getMessage().contains("allowed is 'commit,device,set"));
    Files.writeString(folder.resolve("nrt.csv"), Sheet.NRT.header() + "\na,b\n");
    failure = expectThrows(IllegalArgumentException.class, () -> Figures.read(folder, Sheet.NRT));
    assertTrue(failure.getMessage(), failure.getMessage().contains("has 2 values of 13"));
  }

  /** Earlier rows may stay beside rows of a commit only where a run takes hours. */
  public void testPublishedFiguresAreOfOneCommit() throws Exception {
    Set<String> published = new TreeSet<>();
    for (Sheet sheet : Sheet.values()) {
      List<Map<String, String>> rows = Figures.read(PUBLISHED, sheet);
      Set<String> commits =
          rows.stream()
              .map(row -> row.get("commit"))
              .filter(commit -> commit.startsWith(Figures.EARLIER) == false)
              .collect(Collectors.toSet());
      assertTrue(sheet.file() + " is of " + commits, commits.size() <= 1);
      rows.forEach(row -> published.add(row.get("commit")));
      for (Map<String, String> row : rows) {
        assertTrue(
            sheet.file() + ": " + row,
            commits.isEmpty()
                || commits.contains(row.get("commit"))
                || row.get("set").startsWith("generated-"));
      }
    }
    // for whoever has changed a kernel: nobody has to have a GPU for a build
    System.out.printf(
        Locale.ROOT,
        "figures: this build is of %s, docs/benchmarks of %d earlier states%n",
        Figures.commitOf(Path.of("")),
        published.size());
  }

  public void testPublishedPageIsThatOfTheFigures() throws Exception {
    Map<String, String> made = Page.make(PUBLISHED);
    for (Map.Entry<String, String> file : made.entrySet()) {
      assertEquals(
          file.getKey(), file.getValue(), Files.readString(PUBLISHED.resolve(file.getKey())));
    }
    long lines = made.get(Page.FILE).lines().count();
    assertTrue(lines + " lines", lines <= Page.MOST_LINES);
    try (Stream<Path> plots = Files.list(PUBLISHED)) {
      for (Path plot : plots.filter(path -> path.toString().matches(".*/gpu-.*svg")).toList()) {
        assertTrue(plot.toString(), made.containsKey(plot.getFileName().toString()));
      }
    }
  }
}
