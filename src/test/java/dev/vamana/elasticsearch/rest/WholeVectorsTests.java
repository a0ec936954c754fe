package dev.vamana.elasticsearch.rest;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.search.BatchSearchRequest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.xcontent.XContentType;
import org.junit.BeforeClass;
import org.junit.Test;

public class WholeVectorsTests extends RandomizedTest {
  private static final int DIMS = 16;

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private final float[][] vectors = vectors(60 + getRandom().nextInt(100));

  private static float[][] vectors(int count) {
    float[][] vectors = new float[count][DIMS];
    for (float[] vector : vectors) {
      for (int i = 0; i < DIMS; i++) {
        vector[i] = getRandom().nextFloat() - 0.5f;
      }
    }
    return vectors;
  }

  private static WholeVectors apart(String body) {
    byte[] bytes = ("ab" + body + "cd").getBytes(StandardCharsets.UTF_8);
    return WholeVectors.of(bytes, 2, bytes.length - 4);
  }

  private String body(String before, String after) {
    return "{" + before + "\"query_vectors\" :\n\"" + Bodies.base64(vectors) + "\"" + after + "}";
  }

  private void assertVectors(String body) throws IOException {
    BatchSearchRequest request = Bodies.parse(XContentType.JSON, new BytesArray(body));
    assertEquals("f", request.field());
    assertTrue(Arrays.deepEquals(vectors, request.vectors().floats()));
  }

  @Test
  public void testTakenApart() throws IOException {
    String[] before = {
      "\"field\": \"f\", \"dims\": 16, ",
      "\"dims\": 16, \"filter\": {\"term\": {\"query_vectors\": \"x\\\"y\"}}, \"field\": \"f\", ",
      "\"field\": \"f\", \"dims\": 16, \"filter\": [{\"term\": {\"a\\\\\": \"query_vectors\"}}], "
    };
    for (String first : before) {
      String body = body(first, ", \"k\": 7");
      WholeVectors apart = apart(body);
      assertArrayEquals(Base64.getDecoder().decode(Bodies.base64(vectors)), apart.vectors());
      assertEquals(
          body.replace(Bodies.base64(vectors), ""),
          new String(apart.rest(), StandardCharsets.UTF_8));
      assertVectors(body);
      assertEquals(7, Bodies.parse(body).k());
    }
    assertVectors(body("", ", \"field\": \"f\", \"dims\": 16"));
  }

  @Test
  public void testLeftToTheParser() throws IOException {
    String comment = body("/* \"query_vectors\": \"x */ \"field\": \"f\", \"dims\": 16, ", "");
    assertNull(apart(comment));
    assertVectors(comment);
    String slashes =
        body("\"field\": \"f\", \"dims\": 16, ", "")
            .replace(Bodies.base64(vectors), Bodies.base64(vectors).replace("/", "\\/"));
    assertVectors(slashes);
    String key =
        body("\"field\": \"f\", \"dims\": 16, ", "")
            .replace("query_vectors", "query\\u005fvectors");
    assertNull(apart(key));
    assertVectors(key);
    assertNull(apart("{\"query_vectors\": \"" + " ".repeat(3000)));
    assertNull(apart("{\"query_vectors\": \"\"" + " ".repeat(3000) + "}"));
    assertNull(apart("{\"query_vectors\": [\"" + Bodies.base64(vectors) + "\"]}"));
    assertNull(apart("{\"query_vectors\": \"" + "%".repeat(3000) + "\"}"));
    assertNull(apart("{\"query_vectors\": \"AAAA\"}"));
  }

  @Test
  public void testMistakesAreNamed() {
    assertRefused(body("\"field\": \"f\", ", ""), "[dims] is missing");
    assertRefused(body("\"field\": \"f\", \"dims\": 16, ", ", \"oops\": 1"), "[oops]");
    assertRefused(
        body("\"field\": \"f\", \"dims\": 16, ", ", \"query_vectors\": \"AAAA\""), "query_vectors");
    assertRefused(body("\"field\": \"f\", \"dims\": 16, ", "").replace("}", "%}"), "");
    float[][] infinite = {vectors[0].clone()};
    infinite[0][3] = Float.POSITIVE_INFINITY;
    String one = Bodies.base64(new float[][] {vectors[0]});
    assertRefused(
        body("\"field\": \"f\", \"dims\": 16, ", "")
            .replace(one.substring(0, 80), Bodies.base64(infinite).substring(0, 80)),
        "[query_vectors[0][3]] is [Infinity]");
  }

  private static void assertRefused(String body, String named) {
    Exception e = assertThrows(Exception.class, () -> Bodies.parse(body));
    assertTrue(e.toString(), e.getMessage().contains(named));
  }
}
