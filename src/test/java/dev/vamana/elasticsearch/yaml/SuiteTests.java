package dev.vamana.elasticsearch.yaml;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.junit.Test;

/** Reading files: what stands where, and that nothing unknown gets by. */
public class SuiteTests {

  private static void isRefused(String message, String yaml) {
    IllegalArgumentException failure =
        assertThrows(yaml, IllegalArgumentException.class, () -> Suite.parse("file", yaml));
    assertTrue(failure.getMessage(), failure.getMessage().contains(message));
    assertTrue(failure.getMessage(), failure.getMessage().startsWith("file"));
  }

  @Test
  public void testSections() throws IOException {
    Suite suite =
        Suite.parse(
            "file",
            """
            # about the file
            setup:
              - requires: { cluster_features: [ a ], reason: because }
              - do: { cluster.health: {} }
            ---
            teardown:
              - do: { indices.delete: { index: a } }
            ---
            "one test":
              - skip: { features: headers }
              - do:
                  search: {}
              - match: { a: 1 }
            ---
            "another":
              - is_true: a
            """);
    assertEquals(1, suite.setup().prerequisites().size());
    assertEquals(1, suite.setup().steps().size());
    assertEquals(1, suite.teardown().steps().size());
    assertEquals(
        List.of("one test", "another"), suite.tests().stream().map(Suite.Section::title).toList());
    List<Suite.PlacedStep> steps = suite.tests().get(0).steps();
    assertEquals(List.of("do", "match"), steps.stream().map(Suite.PlacedStep::kind).toList());
    assertEquals(11, steps.get(0).line());
    assertEquals(Set.of("cluster.health", "indices.delete", "search"), suite.apis());
  }

  @Test
  public void testWhatIsUnknownOrMalformed() {
    isRefused("file:3: unknown step [matches]", "test:\n  - is_true: a\n  - matches: { a: 1 }\n");
    isRefused("there are no tests", "setup:\n  - do: { search: {} }\n");
    isRefused("two [test]", "test:\n  - is_true: a\n---\ntest:\n  - is_true: b\n");
    isRefused("[do] has to be an object", "test:\n  - do:\n    search: {}\n");
    isRefused("indentation", "test:\n  - is_true: a\n    is_false: b\n");
    isRefused("expected START_ARRAY", "test: { is_true: a }\n");
    isRefused("expected START_OBJECT", "test:\n  - is_true\n");
    isRefused("expected START_OBJECT", "- is_true: a\n");
    isRefused("before all steps", "test:\n  - is_true: a\n  - skip: { features: yaml }\n");
  }

  @Test
  public void testPrerequisitesThatAreUnknownOrMalformed() {
    isRefused("does not know [telepathy]", "t:\n  - skip: { features: telepathy }\n");
    isRefused("does not know [x]", "t:\n  - requires: { test_runner_features: [ yaml, x ] }\n");
    isRefused("unknown [versions]", "t:\n  - skip: { versions: ' - 8.0.0', reason: old }\n");
    isRefused("unknown [os]", "t:\n  - requires: { os: debian, reason: old }\n");
    isRefused("without a [reason]", "t:\n  - requires: { cluster_features: a }\n");
    isRefused("without a [reason]", "t:\n  - skip: { cluster_features: a, reason: '' }\n");
    isRefused("without a condition", "t:\n  - skip: { reason: because }\n");
    isRefused("[fixed_by]", "t:\n  - skip: { known_issues: [ { a: b } ], reason: c }\n");
    isRefused("a list", "t:\n  - requires: { capabilities: { path: / }, reason: c }\n");
    isRefused(
        "unknown member",
        "t:\n  - requires: { capabilities: [ { path: /, verb: GET } ], reason: c }\n");
  }
}
