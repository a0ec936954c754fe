package dev.vamana.cuda.driver;

import java.nio.file.Path;
import java.util.List;
import org.apache.lucene.tests.mockfile.FilterPath;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Runs {@link JcudaDriverTests} in a process with {@link StubLibraries}. */
public class StubbedDriverTests extends LuceneTestCase {

  public void testAgainstADriverLibraryWithoutADevice() throws Exception {
    Path folder = FilterPath.unwrap(createTempDir());
    StubLibraries libraries = StubLibraries.compile(folder);
    ProcessBuilder java =
        new ProcessBuilder(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-ea",
                "-Xmx512m",
                "--add-modules=jdk.incubator.vector",
                "--enable-native-access=ALL-UNNAMED",
                "-D" + JcudaDriverTests.REQUIRED + "=true",
                "-Djava.io.tmpdir=" + folder,
                "-Dtests.seed=" + Long.toHexString(random().nextLong()),
                "-cp",
                System.getProperty("java.class.path"),
                "org.junit.runner.JUnitCore",
                JcudaDriverTests.class.getName()));
    java.environment().putAll(libraries.environment());
    String output = StubLibraries.run(java, folder.resolve("output.txt"));
    assertTrue(output, output.contains("OK ("));
  }
}
