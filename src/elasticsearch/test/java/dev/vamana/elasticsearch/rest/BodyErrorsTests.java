package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.util.Collections;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.rest.RestStatus;
import org.junit.BeforeClass;

/** Every error of a body names what is wrong, its value, and what is allowed. */
public class BodyErrorsTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  public void testShapeOfTheBody() {
    assertRefused("", "body", "missing");
    assertRefused("[]", "the body is an array", "allowed is an object");
    assertRefused("{\"field\": \"v\", \"query_vectors\": [[1]]} {}", "after its object");
    assertRefused("{\"field\": \"v\", \"query_vectors\": [[1]]", "end");
    assertRefused("{\"field\": \"v\", \"fields\": [\"a\"", "end");
    assertRefused("{\"feild\": \"v\"}", "[feild]", "query_vectors", "num_candidates");
    assertRefused("{\"k\": 1, \"k\": 2}", "k");
    assertRefused("{\"query_vectors\": [[1]]}", "[field] is missing");
    assertRefused("{\"field\": \"v\"}", "[query_vectors] is missing", "1 to 10000");
  }

  public void testNumbers() {
    for (Map.Entry<String, Integer> key :
        Map.of("k", 10_000, "num_candidates", 10_000, "parents", 64).entrySet()) {
      for (String value :
          new String[] {
            "0",
            "-1",
            "1.5",
            "\"7\"",
            "null",
            "true",
            "{}",
            "[1]",
            "" + (key.getValue() + 1),
            "99999999999",
            "99999999999999999999999"
          }) {
        assertValueRefused(key.getKey(), value, "1 to " + key.getValue());
      }
    }
    for (String value : new String[] {"\"a\"", "null", "[]", "1e39", "true"}) {
      assertValueRefused("similarity", value, "number");
    }
    assertRefused(body("\"k\": 20, \"num_candidates\": 19"), "[20]", "num_candidates", "[19]");
    assertRefused(body("\"num_candidates\": 9"), "[k] is [10]", "num_candidates", "[9]");
  }

  public void testTexts() {
    for (String value : new String[] {"1", "null", "{}", "\"\"", "[\"v\"]"}) {
      assertRefused("{\"field\": " + value + ", \"query_vectors\": [[1]]}", "[field]");
    }
    assertValueRefused("format", "\"rows\"", "[hits] or [columns]");
    assertValueRefused("format", "1", "[hits] or [columns]");
    assertValueRefused("profile", "1", "[true] or [false]");
  }

  public void testFilters() {
    assertRefused(body("\"filter\": [{\"match_all\": {}}, null]"), "[filter[1]]", "null", "query");
    assertRefused(body("\"filter\": [[]]"), "[filter[0]]", "array", "query");
    assertValueRefused("filter", "null", "query");
    assertRefused(body("\"filter\": {}"), "query malformed");
    assertRefused(body("\"filter\": {\"termm\": {\"a\": 1}}"), "unknown query [termm]");
    assertValueRefused("filters", "{\"term\": {\"a\": 1}}", "array");
    assertRefused(body("\"filters\": [1]"), "filters[0]", "[1]", "query or null");
    assertRefused(body("\"filters\": []"), "[filters] has 0 entries", "2 vectors");
    assertRefused(body("\"filters\": [null]"), "[filters] has 1 entries", "2 vectors");
    assertRefused(
        body("\"filters\": [null, null], \"filter\": {\"match_all\": {}}"), "both [filter]");
    assertRefused(
        body("\"filters\": [" + String.join(",", Collections.nCopies(10_001, "null")) + "]"),
        "more than 10000 entries");
  }

  public void testWhatComesWithHits() {
    assertValueRefused("fields", "\"a\"", "array");
    assertRefused(body("\"fields\": [1]"), "fields[0]", "[1]", "name");
    assertRefused(body("\"fields\": [{\"fild\": \"a\"}]"), "fild");
    assertValueRefused("_source", "1", "boolean");
    assertValueRefused("_source", "null", "boolean");
    assertRefused(body("\"_source\": {\"excluded\": []}"), "excluded");
  }

  public void testVectorsOfNumbers() {
    assertVectorsRefused("1", "[1]", "array of arrays");
    assertVectorsRefused("null", "null", "array of arrays");
    assertVectorsRefused("{}", "an object", "array of arrays");
    assertVectorsRefused("[]", "empty", "1 to 10000");
    assertVectorsRefused("[1, 2]", "[query_vectors[0]] is [1]", "array of arrays");
    assertVectorsRefused("[[]]", "[query_vectors[0]] is empty", "1 to 4096");
    assertVectorsRefused("[[1], []]", "[query_vectors[1]] has 0", "[query_vectors[0]] has 1");
    assertVectorsRefused("[[1, 2], [3]]", "[query_vectors[1]] has 1", "[query_vectors[0]] has 2");
    assertVectorsRefused("[[1], [2, 3]]", "[query_vectors[1]] has more than 1 dimensions");
    assertVectorsRefused("[[1], \"AAAA\"]", "[query_vectors[1]] is [AAAA]", "array of numbers");
    assertVectorsRefused("[[1, \"2\"]]", "[query_vectors[0][1]] is [2]", "numbers");
    assertVectorsRefused("[[null]]", "[query_vectors[0][0]] is null", "numbers");
    assertVectorsRefused("[[[1]]]", "[query_vectors[0][0]] is an array", "numbers");
    assertVectorsRefused("[[true]]", "[query_vectors[0][0]] is [true]", "numbers");
    assertVectorsRefused("[[1e39]]", "[query_vectors[0][0]] is [1e39]", "finite");
    assertVectorsRefused("[[0, -1e400]]", "[query_vectors[0][1]] is [-1e400]", "finite");
    assertVectorsRefused("[[NaN]]", "NaN");
    assertVectorsRefused("[[Infinity]]", "Infinity");
    assertVectorsRefused(
        "[[" + String.join(",", Collections.nCopies(4097, "1")) + "]]", "more than 4096");
  }

  public void testVectorsOfBase64() {
    String one = Bodies.base64(1);
    String two = Bodies.base64(1, 2);
    assertVectorsRefused("[\"" + one + "\", [1]]", "[query_vectors[1]] is an array", "base64");
    assertVectorsRefused("[\"" + one + "\", 1]", "[query_vectors[1]] is [1]", "base64");
    assertVectorsRefused("[\"\"]", "[query_vectors[0]] is empty");
    assertVectorsRefused("[\"a_c=\"]", "[query_vectors[0]] is [a_c=]", "base64");
    assertVectorsRefused("[\"" + one + "\", \"A\"]", "[query_vectors[1]] is [A]", "base64");
    assertVectorsRefused("[\"" + "é".repeat(5000) + "\"]", "[query_vectors[0]]", "base64", "...");
    assertVectorsRefused(
        "[\"" + one + "\", \"" + two + "\"]", "[query_vectors[1]] has 8 bytes", "has 4");
    assertVectorsRefused("\"" + one + "\"", "[query_vectors] is [" + one, "array of base64");
  }

  private static String body(String more) {
    return "{\"field\": \"v\", \"query_vectors\": [[1], [2]], " + more + "}";
  }

  private static void assertVectorsRefused(String vectors, String... named) {
    assertRefused("{\"field\": \"v\", \"query_vectors\": " + vectors + "}", named);
  }

  private static void assertValueRefused(String key, String value, String allowed) {
    String shown = value.startsWith("\"") ? value.substring(1, value.length() - 1) : value;
    shown =
        switch (value.charAt(0)) {
          case '{' -> "an object";
          case '[' -> "an array";
          default -> shown;
        };
    assertRefused(body("\"" + key + "\": " + value), "[" + key + "] is", shown, allowed);
  }

  static void assertRefused(String body, String... named) {
    Exception refusal = null;
    try {
      Bodies.parse(body);
    } catch (IOException | RuntimeException e) {
      refusal = e;
    }
    assertNotNull("taken: " + body, refusal);
    assertEquals(refusal.toString(), RestStatus.BAD_REQUEST, ExceptionsHelper.status(refusal));
    for (String name : named) {
      assertTrue(
          "no '" + name + "' in: " + refusal.getMessage(), refusal.getMessage().contains(name));
    }
  }
}
