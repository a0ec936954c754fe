package dev.vamana;

import static com.tngtech.archunit.lang.conditions.ArchConditions.be;
import static com.tngtech.archunit.lang.conditions.ArchConditions.not;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static org.junit.Assert.assertEquals;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.BeforeClass;
import org.junit.Test;

/** House rules of the code. */
public class ArchitectureTests {
  private static final String ROOT = "dev.vamana";
  private static final List<String> MODULES = List.of("lucene", "gpu", "elasticsearch");
  private static final int MAX_LINES = 500;

  private static JavaClasses shipped;

  @BeforeClass
  public static void importShippedClasses() {
    shipped =
        new ClassFileImporter()
            .importPaths(
                MODULES.stream().map(module -> Path.of("src", module, "target/classes")).toList());
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
    for (String module : MODULES) {
      for (Path file : javaFiles("src/" + module + "/main/java")) {
        Path page = file.resolveSibling("package-info.java");
        if (!Files.exists(page) && !missing.contains(page)) {
          missing.add(page);
        }
      }
    }
    assertEquals(List.of(), missing);
  }

  @Test
  public void filesStayReadable() throws IOException {
    Map<Path, Integer> tooLong = new LinkedHashMap<>();
    for (Path file : sources()) {
      int lines = Files.readAllLines(file).size();
      if (lines > MAX_LINES) {
        tooLong.put(file, lines);
      }
    }
    assertEquals("files above " + MAX_LINES + " lines", Map.of(), tooLong);
  }

  private static List<Path> sources() throws IOException {
    List<Path> sources = new ArrayList<>(files("native-kernels"));
    for (Path file : javaFiles("src")) {
      if (file.toString().contains("/target/") == false) {
        sources.add(file);
      }
    }
    return sources;
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
