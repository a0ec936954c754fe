package dev.vamana.elasticsearch;

import static org.junit.Assert.assertFalse;
import static org.junit.Assert.fail;

import dev.vamana.elasticsearch.yaml.InjectedSettings;
import dev.vamana.elasticsearch.yaml.Suite;
import dev.vamana.elasticsearch.yaml.SuiteRunner;
import dev.vamana.elasticsearch.yaml.Suites;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.AfterClass;
import org.junit.AssumptionViolatedException;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;
import org.junit.rules.ExternalResource;
import org.junit.runner.RunWith;
import org.junit.runners.Parameterized.Parameters;

/**
 * REST tests in YAML, all against one node: tests of our endpoints, and Elasticsearch's tests of
 * its own endpoints, for which every index is opted in.
 *
 * <p>System properties choose others; docs/internals/testing.md has them.
 */
@RunWith(OneByOne.class)
public class YamlRestIT {
  static final Path OURS = Path.of("rest-api-spec/src/yamlRestTest/resources/rest-api-spec/test");
  private static final Path OPTED_IN = Path.of("src/test/resources/rest-api-spec/test");
  private static final String SETTINGS = "index.vamana.enabled=true";

  private static final String FOLDER = System.getProperty("tests.yaml.suites", "");
  private static final String CLUSTER = System.getProperty("tests.yaml.cluster", "");
  private static final String WANTED = System.getProperty("tests.yaml.include", "");

  /** Nothing is started where the tests go to a cluster that runs. */
  @ClassRule
  public static final ExternalResource NODES =
      CLUSTER.isEmpty() ? SharedCluster.ONE_NODE : new ExternalResource() {};

  private static SuiteRunner runner;

  private final Case test;

  /** One parameter of the class: a test, or why a file could not be read. */
  public YamlRestIT(Case test) {
    this.test = test;
  }

  /**
   * A test.
   *
   * @param suite its file, or null if that could not be read
   * @param section the test
   * @param injected settings of its indices
   * @param maySkip whether it may be skipped
   * @param unreadable why the file could not be read, or null
   * @param name file and title
   */
  record Case(
      Suite suite,
      Suite.Section section,
      InjectedSettings injected,
      boolean maySkip,
      Exception unreadable,
      String name) {
    @Override
    public String toString() {
      return name;
    }
  }

  /** All tests. */
  @Parameters(name = "{0}")
  public static List<Case> cases() throws IOException {
    List<Case> cases = new ArrayList<>();
    if (FOLDER.isEmpty()) {
      add(cases, OURS, InjectedSettings.NONE, false);
      add(cases, OPTED_IN, InjectedSettings.of(SETTINGS), false);
    } else {
      String settings = System.getProperty("tests.yaml.index_settings", SETTINGS);
      add(cases, Path.of(FOLDER), InjectedSettings.of(settings), true);
    }
    cases.removeIf(candidate -> !candidate.name().contains(WANTED));
    assertFalse("no tests", cases.isEmpty());
    return cases;
  }

  private static void add(List<Case> cases, Path folder, InjectedSettings injected, boolean maySkip)
      throws IOException {
    for (Suites.File file : Suites.files(folder)) {
      try {
        Suite suite = file.read();
        for (Suite.Section test : suite.tests()) {
          String name = file.name() + "/" + test.title();
          cases.add(new Case(suite, test, injected, maySkip, null, name));
        }
      } catch (IOException | RuntimeException e) {
        cases.add(new Case(null, null, injected, maySkip, e, file.name()));
      }
    }
  }

  @BeforeClass
  public static void start() throws IOException {
    URI cluster =
        CLUSTER.isEmpty()
            ? SharedCluster.ONE_NODE.first().httpUri()
            : URI.create("http://" + CLUSTER);
    runner = new SuiteRunner(cluster);
  }

  @AfterClass
  public static void stop() throws IOException {
    if (runner != null) {
      runner.close();
    }
  }

  @Test
  public void test() throws IOException {
    if (test.unreadable() != null) {
      throw new AssertionError(test.unreadable().getMessage(), test.unreadable());
    }
    try {
      runner.run(test.suite(), test.section(), test.injected());
    } catch (AssumptionViolatedException e) {
      if (!test.maySkip()) {
        fail("a test of the repository may not be skipped: " + e.getMessage());
      }
      throw e;
    }
  }
}
