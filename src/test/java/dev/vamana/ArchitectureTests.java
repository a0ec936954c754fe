package dev.vamana;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.conditions.ArchConditions.not;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.BeforeClass;
import org.junit.Test;

/**
 * Holds the code to the package table of {@code docs/internals/architecture.md} and to the house
 * rules.
 */
public class ArchitectureTests {
  private static final String ROOT = "dev.vamana";
  private static final int MAX_LINES = 500;
  private static final Pattern TABLE_ROW =
      Pattern.compile("^\\| `([\\w.]+)` \\|[^|]*\\|([^|]*)\\|\\s*$");
  private static final Pattern CODE = Pattern.compile("`([\\w.]+)`");

  private static JavaClasses shipped;

  @BeforeClass
  public static void importShippedClasses() {
    shipped =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_JARS)
            .importPackages(ROOT);
  }

  @Test
  public void packagesDependOnlyOnThoseThatTheDocumentNames() throws IOException {
    Map<String, Set<String>> allowed = documentedDependencies();
    assertTrue("no package table in docs/internals/architecture.md", allowed.size() >= 6);
    for (Map.Entry<String, Set<String>> row : allowed.entrySet()) {
      String[] packages =
          Stream.concat(Stream.of(row.getKey()), row.getValue().stream())
              .map(name -> ROOT + "." + name + "..")
              .toArray(String[]::new);
      DescribedPredicate<JavaClass> other =
          resideInAPackage(ROOT + "..").and(DescribedPredicate.not(resideInAnyPackage(packages)));
      noClasses()
          .that()
          .resideInAPackage(ROOT + "." + row.getKey() + "..")
          .should()
          .dependOnClassesThat(other)
          .because(
              "docs/internals/architecture.md lets " + row.getKey() + " use only " + row.getValue())
          .allowEmptyShould(true)
          .check(shipped);
    }
  }

  @Test
  public void everyPackageIsInTheDocument() throws IOException {
    Set<String> known = documentedDependencies().keySet();
    Set<String> unknown = new TreeSet<>();
    for (JavaClass c : shipped) {
      String name = c.getPackageName();
      if (!name.equals(ROOT)
          && !known.contains(name.substring(ROOT.length() + 1).split("\\.")[0])) {
        unknown.add(name);
      }
    }
    assertEquals("packages missing in docs/internals/architecture.md", Set.of(), unknown);
  }

  @Test
  public void onlyThePluginPackageKnowsElasticsearch() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".elasticsearch..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("org.elasticsearch..")
        .because("the format must work in plain Lucene")
        .check(shipped);
  }

  @Test
  public void onlyTheExecutorRegistryHoldsProcessWideState() {
    fields()
        .that()
        .areDeclaredInClassesThat()
        .doNotHaveFullyQualifiedName(ROOT + ".search.ExecutorRegistry")
        .should(not(be(mutableStatic())))
        .allowEmptyShould(true)
        .check(shipped);
  }

  private static DescribedPredicate<JavaField> mutableStatic() {
    return DescribedPredicate.describe(
        "mutable static state",
        field ->
            field.getModifiers().contains(JavaModifier.STATIC)
                && !field.getModifiers().contains(JavaModifier.SYNTHETIC)
                && (!field.getModifiers().contains(JavaModifier.FINAL)
                    || field.getRawType().getPackageName().startsWith("java.util.concurrent")
                    || field.getRawType().isEquivalentTo(ThreadLocal.class)));
  }

  @Test
  public void everyPackageHasAPageOfItsOwn() throws IOException {
    List<Path> missing = new ArrayList<>();
    for (Path file : javaFiles("src/main/java")) {
      Path page = file.resolveSibling("package-info.java");
      if (!Files.exists(page) && !missing.contains(page)) {
        missing.add(page);
      }
    }
    assertEquals(List.of(), missing);
  }

  @Test
  public void filesStayReadable() throws IOException {
    Map<Path, Integer> tooLong = new LinkedHashMap<>();
    for (String folder :
        List.of("src/main/java", "src/test/java", "src/tools/java", "native-kernels")) {
      for (Path file : files(folder)) {
        int lines = Files.readAllLines(file).size();
        if (lines > MAX_LINES) {
          tooLong.put(file, lines);
        }
      }
    }
    assertEquals("files above " + MAX_LINES + " lines", Map.of(), tooLong);
  }

  /** Rows of the table, top first; a package may name others or "everything below". */
  private static Map<String, Set<String>> documentedDependencies() throws IOException {
    Map<String, String> rows = new LinkedHashMap<>();
    for (String line : Files.readAllLines(Path.of("docs/internals/architecture.md"))) {
      TABLE_ROW.matcher(line).results().forEach(row -> rows.put(row.group(1), row.group(2)));
    }
    List<String> names = List.copyOf(rows.keySet());
    Map<String, Set<String>> allowed = new LinkedHashMap<>();
    for (int i = 0; i < names.size(); i++) {
      List<String> below = names.subList(i + 1, names.size());
      String cell = rows.get(names.get(i));
      Set<String> uses =
          cell.contains("everything below")
              ? Set.copyOf(below)
              : CODE.matcher(cell)
                  .results()
                  .map(match -> match.group(1))
                  .collect(Collectors.toSet());
      allowed.put(names.get(i), uses);
    }
    return allowed;
  }

  private static List<Path> javaFiles(String folder) throws IOException {
    return files(folder).stream().filter(file -> file.toString().endsWith(".java")).toList();
  }

  private static List<Path> files(String folder) throws IOException {
    Path root = Path.of(folder);
    if (!Files.exists(root)) {
      return List.of();
    }
    try (Stream<Path> files = Files.walk(root)) {
      return files.filter(Files::isRegularFile).sorted().toList();
    }
  }
}
