package dev.vamana.cuda.compile;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The sources that the compiler gets, from a checkout and from the jar. */
public class KernelSourcesTests extends LuceneTestCase {

  private static final Pattern INCLUDE =
      Pattern.compile("^#include [<\"]([^>\"]+)[>\"]", Pattern.MULTILINE);

  public void testEveryIncludeIsAmongTheHeaders() throws IOException {
    KernelSources sources = KernelSources.ofFolder(Path.of("native-kernels"));
    List<String> missing = new ArrayList<>();
    List<String> modules = new ArrayList<>(sources.modules());
    modules.addAll(sources.measuringModules());
    assertTrue(modules.toString(), modules.size() > 15);
    for (String module : modules) {
      Map<String, String> headers = sources.headersOf(module);
      Map<String, String> texts = new TreeMap<>(headers);
      texts.put(module + ".cu", sources.text(module));
      texts.forEach(
          (name, text) -> {
            Matcher include = INCLUDE.matcher(text);
            while (include.find()) {
              if (headers.containsKey(include.group(1)) == false) {
                missing.add(name + " includes " + include.group(1));
              }
            }
          });
    }
    assertEquals(List.of(), missing);
  }

  public void testTheJarHasTheSourcesOfTheCheckout() throws IOException {
    KernelSources checkout = KernelSources.ofFolder(Path.of("native-kernels"));
    KernelSources jar = KernelSources.ofThisJar();
    assertEquals(checkout.modules(), jar.modules());
    assertEquals(checkout.digest(checkout.modules()), jar.digest(jar.modules()));
    assertTrue(jar.measuringModules().isEmpty());
  }

  public void testADigestChangesWithAModuleAndItsHeadersOnly() throws IOException {
    Path folder = createTempDir();
    write(folder, "src/one.cu", "#include \"a.cuh\"\n#include <cstdint>\nint one;");
    write(folder, "src/two.cu", "int two;");
    write(folder, "src/a.cuh", "#include \"b/c.h\"\nint a;");
    write(folder, "include/b/c.h", "#include \"a.cuh\"\nint c;");
    write(folder, "nvrtc/cstdint", "using int32_t = int;");
    write(folder, "bench/three.cu", "int three;");
    write(folder, "host/launch.cpp", "int main();");
    write(folder, "build-host", "exit 0");
    KernelSources before = KernelSources.ofFolder(folder);
    assertEquals("[one, two]", before.modules().toString());
    assertEquals("[three]", before.measuringModules().toString());
    assertEquals("[a.cuh, b/c.h, cstdint]", before.headersOf("one").keySet().toString());
    write(folder, "include/b/c.h", "int c2;");
    KernelSources after = KernelSources.ofFolder(folder);
    assertNotEquals(before.digest("one"), after.digest("one"));
    assertEquals(before.digest("two"), after.digest("two"));
    assertNotEquals(before.digest(before.modules()), after.digest(after.modules()));
  }

  private static void write(Path folder, String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
