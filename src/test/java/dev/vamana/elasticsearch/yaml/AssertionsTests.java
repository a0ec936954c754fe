package dev.vamana.elasticsearch.yaml;

import static org.junit.Assert.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.elasticsearch.xcontent.XContentType;
import org.junit.Test;

/** Every assertion holds where it should and, what matters more, fails where it should not. */
public class AssertionsTests {
  private static final String ANSWER =
      """
      {"took": 3, "big": 30000000000, "score": 0.5, "whole": 1.0, "bad": false, "good": true,
       "none": null, "empty": "", "zero": 0, "text": "two words", "list": [1, 2, 2], "nothing": [],
       "object": {"a": 1, "b.c": {"d": 2.5}}, "hits": [{"id": "x", "n": 1}, {"id": "y", "n": 2}],
       "at": "2024-05-06T07:08:09Z"}
      """;

  private static Execution execution() throws IOException {
    Object body = Content.json(ANSWER).get(0);
    Execution execution = new Execution(null, null, null, InjectedSettings.NONE);
    execution.answered(new RestResponse(200, body, List.of()));
    return execution;
  }

  private static Step step(String yaml) throws IOException {
    Map<String, Object> step =
        Content.object(
            Content.documents(XContentType.YAML, yaml.getBytes(StandardCharsets.UTF_8)).get(0),
            "a step");
    String kind = step.keySet().iterator().next();
    return Step.parse(kind, step.get(kind));
  }

  private static void holds(String... steps) throws IOException {
    for (String yaml : steps) {
      step(yaml).run(execution());
    }
  }

  private static void fails(String... steps) throws IOException {
    for (String yaml : steps) {
      Step step = step(yaml);
      Execution execution = execution();
      assertThrows(yaml, AssertionError.class, () -> step.run(execution));
    }
  }

  /** It cannot even be evaluated, which fails the test, too. */
  private static void cannotBeEvaluated(String... steps) throws IOException {
    for (String yaml : steps) {
      Step step = step(yaml);
      Execution execution = execution();
      assertThrows(yaml, IllegalArgumentException.class, () -> step.run(execution));
    }
  }

  private static void isRefused(String... steps) {
    for (String yaml : steps) {
      assertThrows(yaml, IllegalArgumentException.class, () -> step(yaml));
    }
  }

  @Test
  public void testIsTrue() throws IOException {
    holds("is_true: took", "is_true: good", "is_true: object", "is_true: nothing", "is_true: ''");
    fails("is_true: bad", "is_true: none", "is_true: empty", "is_true: zero", "is_true: absent");
    isRefused("is_true: { took: 3 }", "is_true: [ took ]", "is_true: ~");
  }

  @Test
  public void testIsFalse() throws IOException {
    holds("is_false: bad", "is_false: none", "is_false: empty", "is_false: zero");
    holds("is_false: absent", "is_false: object.absent.further");
    fails("is_false: took", "is_false: good", "is_false: object", "is_false: list");
  }

  @Test
  public void testExists() throws IOException {
    holds("exists: zero", "exists: empty", "exists: object.a", "exists: nothing");
    fails("exists: absent", "exists: none", "exists: object.z");
    holds("not_exists: absent", "not_exists: object.z", "not_exists: none");
    fails("not_exists: zero", "not_exists: empty", "not_exists: object");
  }

  @Test
  public void testMatchOfScalars() throws IOException {
    holds("match: { took: 3 }", "match: { took: 3.0 }", "match: { whole: 1 }");
    holds("match: { big: 30000000000 }", "match: { score: 0.5 }", "match: { text: two words }");
    holds("match: { good: true }", "match: { none: null }", "match: { absent: null }");
    fails("match: { took: 4 }", "match: { took: '3' }", "match: { score: 0.50001 }");
    fails("match: { big: 30000000001 }", "match: { text: two }", "match: { good: 'true' }");
    fails("match: { good: false }", "match: { took: null }", "match: { absent: 1 }");
    fails("match: { empty: null }", "match: { none: '' }", "match: { zero: false }");
  }

  @Test
  public void testMatchOfPatterns() throws IOException {
    holds("match: { text: '/wor/' }", "match: { text: '/^ two \\s words $/' }");
    fails("match: { text: '/wor$/' }", "match: { text: '/two words/' }", "match: { took: '/3/' }");
    fails("match: { absent: '/.*/' }", "match: { object: '/a/' }");
  }

  @Test
  public void testMatchOfWholes() throws IOException {
    holds("match: { list: [ 1, 2, 2 ] }", "match: { nothing: [] }", "match: { object.a: 1 }");
    holds("match: { object: { b.c: { d: 2.5 }, a: 1 } }");
    fails("match: { list: [ 1, 2 ] }", "match: { list: [ 2, 1, 2 ] }", "match: { list: 1 }");
    fails("match: { list: [ 1.0, 2, 2 ] }", "match: { nothing: {} }", "match: { object: {} }");
    fails("match: { object: { a: 1 } }", "match: { object: { a: 1, b.c: { d: 2 } } }");
    isRefused("match: { took: 3, zero: 0 }", "match: took", "match: {}", "match: [ took ]");
  }

  @Test
  public void testPaths() throws IOException {
    holds("match: { object.b\\.c.d: 2.5 }", "match: { hits.1.id: y }");
    holds("match: { object._arbitrary_key_: a }");
    fails("match: { object.b.c.d: 2.5 }");
    cannotBeEvaluated("match: { hits.2.id: z }", "is_false: hits.-1", "not_exists: hits.id");
    cannotBeEvaluated("not_exists: took.further", "is_false: text.length");
  }

  @Test
  public void testMatchesInAnyOrder() throws IOException {
    holds("matches_in_any_order: { list: [ 2, 1, 2 ] }", "matches_in_any_order: { took: 3 }");
    holds("matches_in_any_order: { hits: [ { id: y, n: 2 }, { id: x, n: 1 } ] }");
    fails("matches_in_any_order: { list: [ 2, 1 ] }", "matches_in_any_order: { took: 4 }");
    fails("matches_in_any_order: { list: [ 2, 1, 1 ] }", "matches_in_any_order: { list: 1 }");
    fails("matches_in_any_order: { list: [ 2, 1, 2, 2 ] }", "matches_in_any_order: { took: [] }");
  }

  @Test
  public void testOrder() throws IOException {
    holds("lt: { took: 4 }", "lte: { took: 3 }", "gt: { took: 2 }", "gte: { took: 3 }");
    holds("gt: { score: 0 }", "gt: { big: 3 }", "lt: { text: twp }", "gte: { whole: 1 }");
    fails("lt: { took: 3 }", "lte: { took: 2 }", "gt: { took: 3 }", "gte: { took: 4 }");
    fails("gt: { absent: 0 }", "lt: { absent: 0 }", "gt: { text: 0 }", "lt: { took: a }");
    fails("gte: { object: 0 }", "lte: { list: 9 }");
    isRefused("lt: took", "gt: { took: 1, zero: 0 }");
  }

  @Test
  public void testLength() throws IOException {
    holds("length: { list: 3 }", "length: { object: 2 }", "length: { text: 9 }");
    holds("length: { nothing: 0 }", "length: { empty: '0' }");
    fails("length: { list: 2 }", "length: { object: 3 }", "length: { text: 8 }");
    fails("length: { absent: 0 }", "length: { took: 1 }", "length: { none: 0 }");
    cannotBeEvaluated("length: { list: some }", "length: { list: 2.5 }");
  }

  @Test
  public void testCloseTo() throws IOException {
    holds("close_to: { score: { value: 0.4, error: 0.11 } }");
    holds("close_to: { took: { value: 3, error: 0 } }");
    fails("close_to: { score: { value: 0.4, error: 0.09 } }");
    fails("close_to: { absent: { value: 0, error: 1 } }");
    fails("close_to: { text: { value: 0, error: 1 } }");
    fails("close_to: { score: { value: '0.5', error: 1 } }");
    isRefused("close_to: { score: 0.5 }", "close_to: { score: { value: 0.5 } }");
    isRefused("close_to: { score: { value: 0.5, error: x } }");
    isRefused("close_to: { score: { value: 0.5, error: 1, more: 1 } }");
  }

  @Test
  public void testContains() throws IOException {
    holds("contains: { hits: { id: y } }", "contains: { hits: { id: x, n: 1 } }");
    holds("contains: { text: o w }", "contains: { text: '' }");
    fails("contains: { hits: { id: z } }", "contains: { hits: { id: x, n: 2 } }");
    fails("contains: { text: words two }", "contains: { list: 1 }", "contains: { absent: a }");
    fails("contains: { object: { a: 1 } }");
  }

  @Test
  public void testIsAfter() throws IOException {
    holds("is_after: { at: '2024-05-06T07:08:08Z' }");
    fails("is_after: { at: '2024-05-06T07:08:09Z' }", "is_after: { at: '2025-01-01T00:00:00Z' }");
    fails("is_after: { text: '2024-05-06T07:08:08Z' }", "is_after: { at: yesterday }");
  }

  @Test
  public void testUnknownSteps() {
    isRefused("matches: { took: 3 }", "is_trve: took", "eventually: []", "equals: { took: 3 }");
  }
}
